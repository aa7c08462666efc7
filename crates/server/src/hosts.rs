//! Host and origin checks. They refuse pages of foreign sites whose host name resolves to this machine (DNS
//! rebinding), and pages of other origins.

use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};
use deft_service::daemon::ServerConfig;
use deft_wire::{Done, Failure};

/// Host names of this machine that every listener accepts.
pub(crate) const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Host names that a request may use.
pub(crate) struct AllowedHosts {
    configured: Vec<String>,
}

impl AllowedHosts {
    /// Accepts the loopback names, the host in `server.listen`, and the names in `server.hosts`.
    pub(crate) fn new(config: &ServerConfig) -> Self {
        let listen = config.listen.as_str();
        let host = listen.rsplit_once(':').map_or(listen, |(host, _)| host);
        let all = config.hosts.iter().map(String::as_str).chain([host]);
        Self {
            configured: all.map(str::to_lowercase).collect(),
        }
    }

    /// Returns the configured names.
    pub(crate) fn configured_names(&self) -> &[String] {
        &self.configured
    }

    /// Fails for a request to another host or from a page of another origin.
    pub(crate) fn check(&self, headers: &HeaderMap, uri: &Uri) -> Done<()> {
        let host = self.host(headers)?;
        let same = uri.authority().is_none_or(|named| is_same(named, &host));
        if !same {
            return Err(forbidden_host("the address and the header `Host` differ"));
        }
        for origin in headers.get_all(header::ORIGIN) {
            let origin: Option<Uri> = origin.to_str().ok().and_then(|text| text.parse().ok());
            let origin = origin.as_ref().and_then(Uri::authority);
            if !origin.is_some_and(|origin| is_same(origin, &host)) {
                let message = "the request comes from a page of another origin";
                let hint = "use the API from programs, or from pages that deft serves itself";
                return Err(Failure::input("forbidden_origin", message).hint(hint));
            }
        }
        Ok(())
    }

    fn host(&self, headers: &HeaderMap) -> Done<Authority> {
        let mut all = headers.get_all(header::HOST).iter();
        let host = match (all.next(), all.next()) {
            (Some(host), None) => host.to_str().ok(),
            _ => None,
        };
        let host: Option<Authority> = host.and_then(|text| text.parse().ok());
        let host = host.ok_or_else(|| forbidden_host("the request needs one header `Host`"))?;
        let name = host.host().to_lowercase();
        let has_user = host.as_str().contains('@');
        if !has_user && (LOOPBACK.contains(&name.as_str()) || self.configured.contains(&name)) {
            return Ok(host);
        }
        Err(forbidden_host(&format!(
            "`{name}` is not a name of this server"
        )))
    }
}

fn is_same(one: &Authority, other: &Authority) -> bool {
    one.as_str().eq_ignore_ascii_case(other.as_str())
}

fn forbidden_host(message: &str) -> Failure {
    let hint = "use `127.0.0.1` or `localhost`, or add the name to `server.hosts`";
    Failure::input("forbidden_host", message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(uri: &str, host: &[&str], origin: Option<&str>) -> &'static str {
        let mut headers = HeaderMap::new();
        for host in host {
            headers.append(header::HOST, host.parse().unwrap());
        }
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        let hosts = AllowedHosts {
            configured: vec!["deft.example.com".to_owned(), "deft.local".to_owned()],
        };
        match hosts.check(&headers, &uri.parse().unwrap()) {
            Ok(()) => "ok",
            Err(failure) => failure.code,
        }
    }

    #[test]
    fn only_names_of_this_machine_are_accepted() {
        for host in [
            "127.0.0.1:9876",
            "LOCALHOST",
            "[::1]:80",
            "deft.local:1",
            "Deft.example.com",
        ] {
            assert_eq!(verdict("/x", &[host], None), "ok", "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example:9876",
            "a@localhost",
            "",
            "::1",
        ] {
            assert_eq!(verdict("/x", &[host], None), "forbidden_host", "{host}");
        }
        assert_eq!(verdict("/x", &[], None), "forbidden_host");
        assert_eq!(
            verdict("/x", &["localhost", "evil"], None),
            "forbidden_host"
        );
        assert_eq!(
            verdict("http://evil/x", &["localhost"], None),
            "forbidden_host"
        );
        assert_eq!(verdict("http://localhost/x", &["localhost"], None), "ok");
    }

    #[test]
    fn a_page_of_another_origin_is_refused() {
        let from = |origin| verdict("/x", &["localhost:9876"], Some(origin));
        assert_eq!(from("http://localhost:9876"), "ok");
        assert_eq!(from("http://localhost:3000"), "forbidden_origin");
        assert_eq!(from("https://evil.example"), "forbidden_origin");
        assert_eq!(from("null"), "forbidden_origin");
    }
}
