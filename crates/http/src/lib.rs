//! The base of every HTTP client of deft: a TLS provider, a user agent, no redirects, and the delay that a
//! server asks for.
//!
//! Not here: which hosts a client may reach and how responses are read; each crate that uses it decides
//! that.

mod retry_after;

use std::sync::Once;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};

pub use retry_after::retry_after;

/// Returns a builder for a client that follows no redirects: a redirect could carry a key or token to a
/// host that is not in the configuration.
pub fn client() -> ClientBuilder {
    install_provider();
    Client::builder()
        .redirect(Policy::none())
        .connect_timeout(Duration::from_secs(10))
        .user_agent(concat!("deft/", env!("CARGO_PKG_VERSION")))
}

/// Installs ring as the TLS provider: it compiles much faster than the default of reqwest and needs no
/// C++.
fn install_provider() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // Fails only if a provider is already installed; that provider works as well.
        drop(rustls::crypto::ring::default_provider().install_default());
    });
}

#[cfg(test)]
mod tests {
    #[test]
    fn clients_can_be_built_more_than_once() {
        for _ in 0..2 {
            super::client().build().unwrap();
        }
    }
}
