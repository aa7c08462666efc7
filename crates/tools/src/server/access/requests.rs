//! HTTP requests to authorization servers, for the protocol library.
//!
//! A server's metadata determines the URLs of these requests, so they are restricted: a private address
//! only if the MCP server itself is in a private network, a link-local address never. Responses are
//! limited in size, and no redirect is followed: the library follows redirects of metadata itself,
//! within one origin, and a token or secret must not be forwarded.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Url};
use rmcp::transport::auth::{
    AuthError, OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest,
};

use crate::address::{is_link_local, is_private};

/// The timeout of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// The largest response, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// The HTTP client for the sign-in to one MCP server.
pub(super) struct AuthorizationClient {
    client: Client,
    server: Arc<Neighbourhood>,
}

impl AuthorizationClient {
    pub(super) fn new(url: &Url) -> Result<Self, AuthError> {
        let server = Arc::new(Neighbourhood::new(url));
        let client = deft_http::client()
            .timeout(REQUEST_TIMEOUT)
            .dns_resolver(server.clone())
            .build()?;
        Ok(Self { client, server })
    }

    async fn send(
        &self,
        request: OAuthHttpRequest,
    ) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let request = reqwest::Request::try_from(request.request)?;
        self.server.admit(request.url()).await?;
        let mut answer = self.client.execute(request).await?;
        let mut reply = http::Response::builder().status(answer.status());
        for (name, value) in answer.headers() {
            reply = reply.header(name, value);
        }
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await? {
            if body.len() + chunk.len() > MAX_BYTES {
                return Err(format!("the answer is larger than {MAX_BYTES} bytes").into());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(reply.body(body)?)
    }
}

impl OAuthHttpClient for AuthorizationClient {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(self.send(request))
    }
}

/// Decides which hosts an MCP server may name, from its own location.
struct Neighbourhood {
    host: String,
}

impl Neighbourhood {
    fn new(url: &Url) -> Self {
        Self { host: host_of(url) }
    }

    /// Rejects an unencrypted connection to another machine, and a private address that is not allowed.
    async fn admit(&self, url: &Url) -> Result<(), String> {
        let host = host_of(url);
        if !is_protected(url) {
            return Err(format!("`{host}` is not contacted without TLS"));
        }
        match host.parse::<IpAddr>() {
            Ok(address) if !self.allows(&host, address).await => Err(out_of_bounds(&host)),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    async fn allows(&self, host: &str, address: IpAddr) -> bool {
        if host == self.host || !is_private(address) {
            return true;
        }
        !is_link_local(address) && is_inside(&self.host).await
    }
}

/// Whether a host is in a private network, or on this machine.
async fn is_inside(host: &str) -> bool {
    match tokio::net::lookup_host((host, 0)).await {
        Ok(found) => found.into_iter().any(|found| is_private(found.ip())),
        Err(_) => false,
    }
}

fn out_of_bounds(host: &str) -> String {
    format!("`{host}` is a private address, and the server is not in a private network")
}

/// Returns the host in lower case, without brackets or a trailing dot.
fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_matches(['[', ']']).trim_end_matches('.');
    host.to_lowercase()
}

/// Whether requests to a URL are protected from eavesdropping: it has TLS, or is on this machine.
pub(super) fn is_protected(url: &Url) -> bool {
    let host = host_of(url);
    let is_here = host == "localhost"
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback());
    match url.scheme() {
        "https" => true,
        "http" => is_here,
        _ => false,
    }
}

impl Resolve for Neighbourhood {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().trim_end_matches('.').to_lowercase();
        let own = Self {
            host: self.host.clone(),
        };
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            let mut usable: Vec<SocketAddr> = Vec::new();
            for address in found {
                if own.allows(&host, address.ip()).await {
                    usable.push(address);
                }
            }
            if usable.is_empty() {
                return Err(out_of_bounds(&host).into());
            }
            Ok(Box::new(usable.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn admits(server: &str, url: &str) -> bool {
        let server = Neighbourhood::new(&Url::parse(server).unwrap());
        server.admit(&Url::parse(url).unwrap()).await.is_ok()
    }

    #[tokio::test]
    async fn a_public_server_cannot_name_private_addresses() {
        let public = "https://203.1.113.7/mcp";
        for (url, fine) in [
            ("https://203.1.113.7/token", true),
            ("https://8.8.8.8/token", true),
            ("http://8.8.8.8/token", false),
            ("https://10.0.0.9/token", false),
            ("http://127.0.0.1:9/token", false),
            ("http://169.254.169.254/latest", false),
            ("https://[::ffff:10.0.0.1]/token", false),
        ] {
            assert_eq!(admits(public, url).await, fine, "{url}");
        }
    }

    #[tokio::test]
    async fn a_local_server_can_name_private_but_not_link_local_addresses() {
        let here = "http://127.0.0.1:8080/mcp";
        assert!(admits(here, "http://localhost:9/token").await);
        assert!(admits(here, "https://10.0.0.9/token").await);
        assert!(!admits(here, "http://10.0.0.9/token").await);
        assert!(!admits(here, "https://169.254.169.254/latest").await);
    }
}
