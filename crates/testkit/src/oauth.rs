//! An MCP server that requires a sign-in, with its authorization server at the same address. Tests can revoke
//! its tokens.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::double::{HttpDouble, Reaction, lock};
use crate::gate::Gate;
use crate::wire::Request;

/// The state of the authorization server.
#[derive(Default)]
struct State {
    /// The number of tokens granted.
    granted: usize,
    /// The valid access tokens.
    access: BTreeSet<String>,
    /// The valid refresh tokens; each can be used once.
    refresh: BTreeSet<String>,
    /// Whether the next tokens come with a refresh token.
    offline: bool,
    /// The lifetime of tokens, in seconds.
    lasts: u64,
    /// A scope that calls require and that is granted only if a sign-in requests it.
    wanted: Option<String>,
    /// The scopes of the last grant.
    scopes: String,
    /// Whether the authorization server names another issuer in its responses.
    forged: bool,
    /// The gate at which token requests wait.
    gate: Option<Gate>,
    /// The number of token requests that reached the gate.
    held: usize,
}

impl State {
    /// Returns the gate at which a request must wait, or `None`.
    fn hold(&mut self, request: &Request) -> Option<Gate> {
        let gate = self.gate.clone().filter(|_| path_of(request) == "/token")?;
        self.held += 1;
        Some(gate)
    }
}

/// The server. Dropping it stops it.
pub struct GuardedServer {
    /// The URL of the MCP server.
    pub url: String,
    state: Arc<Mutex<State>>,
    server: HttpDouble,
}

impl GuardedServer {
    /// Starts a server that refuses requests without a token.
    pub fn start() -> Self {
        let state = Arc::new(Mutex::new(State {
            offline: true,
            lasts: 3600,
            ..State::default()
        }));
        let inner = state.clone();
        let server = HttpDouble::start(move |request| {
            let gate = lock(&inner).hold(request);
            if let Some(gate) = gate {
                gate.wait();
            }
            react(&mut lock(&inner), request)
        });
        Self {
            url: format!("{}/mcp", server.url),
            state,
            server,
        }
    }

    /// Revokes the access tokens granted so far.
    pub fn end_access(&self) {
        lock(&self.state).access.clear();
    }

    /// Revokes all tokens granted so far.
    pub fn end_all(&self) {
        let mut state = lock(&self.state);
        state.access.clear();
        state.refresh.clear();
    }

    /// Sets the lifetime of tokens granted from now on, in seconds.
    pub fn set_lifetime(&self, seconds: u64) {
        lock(&self.state).lasts = seconds;
    }

    /// Grants no refresh tokens from now on.
    pub fn without_refresh(&self) {
        lock(&self.state).offline = false;
    }

    /// Refuses tool calls whose token does not have this scope.
    pub fn want(&self, scope: &str) {
        lock(&self.state).wanted = Some(scope.to_owned());
    }

    /// Names another issuer in the redirect after a sign-in.
    pub fn forge_issuer(&self) {
        lock(&self.state).forged = true;
    }

    /// Holds token requests at a gate.
    pub fn hold(&self, gate: &Gate) {
        lock(&self.state).gate = Some(gate.clone());
    }

    /// Returns the number of token requests that reached the gate.
    pub fn held_requests(&self) -> usize {
        lock(&self.state).held
    }

    /// Returns the number of tokens granted.
    pub fn granted_tokens(&self) -> usize {
        lock(&self.state).granted
    }

    /// Returns all currently valid tokens.
    pub fn tokens(&self) -> Vec<String> {
        let state = lock(&self.state);
        state.access.iter().chain(&state.refresh).cloned().collect()
    }

    /// Returns the query or body of each request to a path so far.
    pub fn requests_to(&self, path: &str) -> Vec<String> {
        let requests = self.server.requests().into_iter();
        let at = requests.filter(|request| path_of(request) == path);
        let text = |request: Request| match request.path.split_once('?') {
            Some((_, query)) => query.to_owned(),
            None => String::from_utf8_lossy(&request.body).into_owned(),
        };
        at.map(text).collect()
    }
}

fn path_of(request: &Request) -> &str {
    request.path.split('?').next().unwrap_or_default()
}

/// Returns the value of a field in a form or a query, without decoding.
fn field<'a>(form: &'a str, name: &str) -> Option<&'a str> {
    let pairs = form.split('&').filter_map(|pair| pair.split_once('='));
    let mut found = pairs.filter(|(key, _)| *key == name);
    found.next().map(|(_, value)| value)
}

fn answer(body: &Value) -> Reaction {
    Reaction::Answer(200, Vec::new(), body.to_string())
}

fn react(state: &mut State, request: &Request) -> Reaction {
    let origin = format!("http://{}", request.header("host").unwrap_or_default());
    let body = String::from_utf8_lossy(&request.body).into_owned();
    match path_of(request) {
        "/mcp" => mcp(state, request, &origin),
        "/.well-known/oauth-protected-resource/mcp" => answer(&json!({
            "resource": format!("{origin}/mcp"),
            "authorization_servers": [origin],
            "scopes_supported": ["tools:read"],
        })),
        "/.well-known/oauth-authorization-server" => answer(&json!({
            "issuer": origin,
            "authorization_endpoint": format!("{origin}/authorize"),
            "token_endpoint": format!("{origin}/token"),
            "registration_endpoint": format!("{origin}/register"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_post"],
            "authorization_response_iss_parameter_supported": true,
        })),
        "/register" => answer(&json!({
            "client_id": "registered", "redirect_uris": ["http://127.0.0.1/callback"],
        })),
        "/authorize" => authorize(state, request, &origin),
        "/token" => token(state, &body),
        _ => Reaction::Answer(404, Vec::new(), "{}".to_owned()),
    }
}

/// Responds to an authorization request as if a person consented.
fn authorize(state: &mut State, request: &Request, origin: &str) -> Reaction {
    let query = request.path.split_once('?').map_or("", |(_, query)| query);
    let redirect = field(query, "redirect_uri").unwrap_or_default();
    let redirect = redirect.replace("%3A", ":").replace("%2F", "/");
    let given = field(query, "state").unwrap_or_default();
    let scopes = field(query, "scope").unwrap_or_default();
    state.scopes = scopes.replace('+', " ").replace("%3A", ":");
    let issuer = if state.forged {
        "http%3A%2F%2Felsewhere.example".to_owned()
    } else {
        origin.replace(':', "%3A").replace('/', "%2F")
    };
    let place = format!("Location: {redirect}?code=code-1&state={given}&iss={issuer}");
    Reaction::Answer(302, vec![place], String::new())
}

fn token(state: &mut State, form: &str) -> Reaction {
    let refused = || {
        Reaction::Answer(
            400,
            Vec::new(),
            json!({"error": "invalid_grant"}).to_string(),
        )
    };
    let fine = match field(form, "grant_type") {
        Some("authorization_code") => {
            field(form, "code") == Some("code-1") && field(form, "code_verifier").is_some()
        }
        Some("refresh_token") => {
            let given = field(form, "refresh_token").unwrap_or_default();
            state.refresh.remove(given)
        }
        Some("client_credentials") => field(form, "client_secret") == Some("own-secret"),
        _ => false,
    };
    if !fine {
        return refused();
    }
    state.granted += 1;
    let access = format!("access-canary-{}", state.granted);
    let refresh = format!("refresh-canary-{}", state.granted);
    state.access.insert(access.clone());
    let mut granted = json!({
        "access_token": access, "token_type": "Bearer", "expires_in": state.lasts,
    });
    if state.offline {
        state.refresh.insert(refresh.clone());
        granted["refresh_token"] = refresh.into();
    }
    answer(&granted)
}

fn mcp(state: &State, request: &Request, origin: &str) -> Reaction {
    let given = request.header("authorization").unwrap_or_default();
    let token = given.strip_prefix("Bearer ").unwrap_or_default();
    if !state.access.contains(token) {
        let challenge = format!(
            "WWW-Authenticate: Bearer resource_metadata=\"{origin}/.well-known/oauth-protected-resource/mcp\""
        );
        return Reaction::Answer(401, vec![challenge], String::new());
    }
    let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "guarded", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{"name": "whoami", "inputSchema": {"type": "object"}}]}),
        "tools/call" => match missing_scope(state) {
            Some(refused) => return refused,
            // A server that leaks the token: tests check that deft masks it.
            None => json!({"content": [{"type": "text", "text": format!("you sent {given}")}]}),
        },
        _ => {
            let error = json!({"code": -32601, "message": "unknown method"});
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "error": error});
            return Reaction::Answer(200, Vec::new(), answer.to_string());
        }
    };
    answer(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
}

/// Returns the refusal of a call whose token lacks the required scope, or `None`.
fn missing_scope(state: &State) -> Option<Reaction> {
    let wanted = state.wanted.as_ref()?;
    let granted = state.scopes.split_whitespace().any(|scope| scope == wanted);
    let challenge =
        format!("WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"{wanted}\"");
    (!granted).then(|| Reaction::Answer(403, vec![challenge], String::new()))
}
