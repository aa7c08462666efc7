//! Where every HTTP client of deft begins: with a TLS provider, a name and no redirects.
//!
//! What a client may reach, and how its answers are read, is decided by its user.

use std::sync::Once;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};

/// A client that follows no redirect: an address in the configuration is the address, and a key or
/// token must not travel on.
pub fn client() -> ClientBuilder {
    install_provider();
    Client::builder()
        .redirect(Policy::none())
        .connect_timeout(Duration::from_secs(10))
        .user_agent(concat!("deft/", env!("CARGO_PKG_VERSION")))
}

/// TLS by ring: it compiles in a fraction of the time of reqwest's own choice and needs no C++.
fn install_provider() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // Fails only if a provider is installed already, which then serves as well.
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
