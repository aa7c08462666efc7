//! Servers that require a sign-in.

use std::sync::Arc;

use deft_model::{Failure, FailureClass};
use deft_testkit::GuardedServer;
use deft_tools::{
    CredentialVault, Grant, MemoryVault, OAuthOptions, Reference, Router, Secret, SecretSource,
    ServerOptions,
};
use serde_json::json;

use crate::support::{World, call, value};

const REDIRECT: &str = "http://127.0.0.1:7/callback";

fn world(server: &GuardedServer) -> (World, Arc<MemoryVault>) {
    let mut world = World::new();
    let options = ServerOptions::url(&server.url);
    world.options.servers.insert("web".to_owned(), options);
    let vault = Arc::new(MemoryVault::default());
    world.environment.vault = vault.clone();
    (world, vault)
}

/// Signs in like a person, with additional scopes.
async fn sign_in(router: &Router, scopes: &[&str]) -> Result<(), Failure> {
    let scopes: Vec<String> = scopes.iter().map(|&scope| scope.to_owned()).collect();
    let pending = router.sign_in("web", REDIRECT, &scopes).await?;
    let none = reqwest::redirect::Policy::none();
    let browser = reqwest::Client::builder().redirect(none).build().unwrap();
    let page = browser.get(pending.url()).send().await.unwrap();
    let place = page.headers()["location"].to_str().unwrap().to_owned();
    pending.complete(&place).await.map(drop)
}

#[tokio::test]
async fn a_call_without_a_sign_in_fails_at_once_with_a_hint() {
    let server = GuardedServer::start();
    let (world, _) = world(&server);
    let router = world.router();
    // More often than a server may fail: a missing sign-in must not open the circuit.
    for _ in 0..8 {
        let failure = call(&router, "web.whoami", json!({})).await.unwrap_err();
        assert_eq!(
            (failure.class, failure.blocked, failure.in_doubt),
            (FailureClass::Auth, true, false),
            "{failure}"
        );
        let hint = failure.hint.unwrap();
        assert!(
            hint.starts_with("sign in with: deft mcp login web"),
            "{hint}"
        );
    }
    sign_in(&router, &[]).await.unwrap();
    assert_eq!(
        value(&router, "whoami", json!({})).await,
        json!("you sent Bearer ***")
    );
}

#[tokio::test]
async fn a_sign_in_is_bound_to_the_server_and_uses_pkce() {
    let server = GuardedServer::start();
    let (world, vault) = world(&server);
    let router = world.router();
    sign_in(&router, &[]).await.unwrap();
    let asked = server.requests_to("/authorize").remove(0);
    for part in [
        "response_type=code",
        "code_challenge_method=S256",
        "code_challenge=",
        "state=",
        "resource=http%3A%2F%2F127.0.0.1",
        "scope=tools%3Aread",
        "client_id=registered",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    let form = server.requests_to("/token").remove(0);
    assert!(
        form.contains("code_verifier=") && form.contains("resource=http"),
        "{form}"
    );
    let stored = vault.load("web").unwrap().unwrap();
    assert_eq!(stored.url, server.url);
    assert!(format!("{stored:?}").find("canary").is_none());

    // The same name for another server, which must not receive the tokens.
    let other = GuardedServer::start();
    let mut moved = world;
    let options = ServerOptions::url(&other.url);
    moved.options.servers.insert("web".to_owned(), options);
    let failure = call(&moved.router(), "web.whoami", json!({}))
        .await
        .unwrap_err();
    assert_eq!(failure.class, FailureClass::Auth);
}

#[tokio::test]
async fn an_expired_token_is_renewed_once_for_all_calls() {
    let server = GuardedServer::start();
    let (world, vault) = world(&server);
    let router = world.router();
    sign_in(&router, &[]).await.unwrap();
    value(&router, "whoami", json!({})).await;
    server.end_access();
    let calls = (0..5).map(|_| call(&router, "whoami", json!({})));
    let replies = futures_util::future::join_all(calls).await;
    assert!(replies.iter().all(Result::is_ok), "{replies:?}");
    assert_eq!(server.granted_tokens(), 2);
    let refreshed = server.requests_to("/token").remove(1);
    assert!(refreshed.contains("grant_type=refresh_token") && refreshed.contains("resource="));

    // A token that expires soon is renewed before it is sent.
    server.set_lifetime(30);
    server.end_access();
    value(&router, "whoami", json!({})).await;
    server.set_lifetime(3600);
    value(&router, "whoami", json!({})).await;
    assert_eq!(server.granted_tokens(), 4);

    // Another process signed out.
    vault.remove("web").unwrap();
    let failure = call(&router, "whoami", json!({})).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Auth);
}

#[tokio::test]
async fn a_failed_renewal_asks_for_a_new_sign_in() {
    let server = GuardedServer::start();
    let (world, vault) = world(&server);
    let router = world.router();
    sign_in(&router, &[]).await.unwrap();
    server.end_all();
    for _ in 0..2 {
        let failure = call(&router, "web.whoami", json!({})).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Auth);
        assert!(failure.hint.unwrap().contains("deft mcp login web"));
    }
    // The refresh token was used once and is not used again.
    assert_eq!(server.requests_to("/token").len(), 2);
    assert_eq!(vault.load("web").unwrap().unwrap().refresh_token, None);
    sign_in(&router, &[]).await.unwrap();
    value(&router, "whoami", json!({})).await;
}

#[tokio::test]
async fn a_call_with_insufficient_scope_names_the_scope() {
    let server = GuardedServer::start();
    let (world, _) = world(&server);
    let router = world.router();
    server.want("files:write");
    sign_in(&router, &[]).await.unwrap();
    let failure = call(&router, "whoami", json!({})).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Auth);
    let hint = failure.hint.unwrap();
    assert_eq!(
        hint,
        "sign in again with: deft mcp login web --scope 'files:write'"
    );
    sign_in(&router, &["files:write"]).await.unwrap();
    let asked = server.requests_to("/authorize").remove(1);
    assert!(
        asked.contains("scope=tools%3Aread+files%3Awrite"),
        "{asked}"
    );
    value(&router, "whoami", json!({})).await;
}

#[tokio::test]
async fn an_answer_of_another_issuer_or_sign_in_is_refused() {
    let server = GuardedServer::start();
    let (world, vault) = world(&server);
    let router = world.router();
    let pending = router.sign_in("web", REDIRECT, &[]).await.unwrap();
    let strange = format!("{REDIRECT}?code=code-1&state=other");
    let failure = pending.complete(&strange).await.unwrap_err();
    assert!(failure.message.contains("another sign-in"), "{failure}");
    let pending = router.sign_in("web", REDIRECT, &[]).await.unwrap();
    let denied = format!("{REDIRECT}?error=access_denied&state={}", pending.state());
    let failure = pending.complete(&denied).await.unwrap_err();
    assert!(failure.message.contains("access_denied"), "{failure}");
    server.forge_issuer();
    let failure = sign_in(&router, &[]).await.unwrap_err();
    assert!(failure.message.contains("issuer mismatch"), "{failure}");
    assert_eq!(server.requests_to("/token").len(), 0);
    assert_eq!(vault.load("web").unwrap(), None);
}

struct OwnSecret;

impl SecretSource for OwnSecret {
    fn secret(&self, _: &str) -> Result<Secret, String> {
        Ok(Secret::new("own-secret"))
    }
}

#[tokio::test]
async fn a_client_with_a_secret_signs_in_without_a_person() {
    let server = GuardedServer::start();
    server.without_refresh();
    let (mut world, _) = world(&server);
    world.environment.secrets = Arc::new(OwnSecret);
    let options = world.options.servers.get_mut("web").unwrap();
    options.oauth = OAuthOptions {
        client_id: Some("robot".to_owned()),
        client_secret: Some(Reference::new("env:OWN")),
        grant: Grant::ClientCredentials,
        ..OAuthOptions::default()
    };
    let router = world.router();
    assert_eq!(
        value(&router, "whoami", json!({})).await,
        json!("you sent Bearer ***")
    );
    server.end_access();
    value(&router, "whoami", json!({})).await;
    assert_eq!(
        (
            server.granted_tokens(),
            server.requests_to("/authorize").len()
        ),
        (2, 0)
    );
}

#[tokio::test]
async fn servers_with_a_configured_token_need_no_sign_in() {
    let server = GuardedServer::start();
    let (mut world, _) = world(&server);
    let options = world.options.servers.get_mut("web").unwrap();
    let token = Reference::new("Bearer x");
    options.headers.insert("Authorization".to_owned(), token);
    let failure = sign_in(&world.router(), &[]).await.unwrap_err();
    assert!(
        failure.message.contains("does not use sign-ins"),
        "{failure}"
    );
}
