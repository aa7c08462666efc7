//! Decides which hosts `http.request` may call.
//!
//! Names are matched as written. Addresses are checked after resolution, by the resolver that the
//! connection itself uses, so that a name that resolves differently the second time gains nothing.

use std::net::{IpAddr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::Settings;
use crate::address::is_private;

/// Whether the list allows a URL.
pub(super) fn is_allowed(list: &[String], url: &Url) -> bool {
    let (Some(host), Some(port)) = (host_of(url), url.port_or_known_default()) else {
        return false;
    };
    let private = host.parse::<IpAddr>().is_ok_and(is_private) || host == "localhost";
    list.iter()
        .any(|pattern| fits(pattern, &host, Some(port)) && !(private && pattern.contains('*')))
}

/// Returns the host in lower case, without brackets or a trailing dot.
pub(super) fn host_of(url: &Url) -> Option<String> {
    let host = url.host_str()?.trim_matches(['[', ']']);
    Some(host.trim_end_matches('.').to_lowercase())
}

fn fits(pattern: &str, host: &str, port: Option<u16>) -> bool {
    let pattern = pattern.to_lowercase();
    let (name, wanted) = match pattern.rsplit_once(':') {
        // More than one colon is an IPv6 address without a port.
        Some((name, digits)) if !name.contains(':') || name.ends_with(']') => {
            (name.to_owned(), digits.parse::<u16>().ok())
        }
        _ => (pattern.clone(), None),
    };
    if let (Some(wanted), Some(port)) = (wanted, port)
        && wanted != port
    {
        return false;
    }
    let name = name.trim_matches(['[', ']']);
    match name.strip_prefix('*') {
        Some("") => true,
        Some(end) => end.starts_with('.') && host.ends_with(end) && host.len() > end.len(),
        None => host == name,
    }
}

/// A resolver that drops private addresses, unless the host is listed by its exact name.
pub(super) struct Resolver(pub(super) Settings);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().trim_end_matches('.').to_lowercase();
        let settings = self.0.load_full();
        let listed = settings
            .http
            .allow
            .iter()
            .any(|pattern| !pattern.contains('*') && fits(pattern, &host, None));
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            let usable: Vec<SocketAddr> = found
                .filter(|address| listed || !is_private(address.ip()))
                .collect();
            if usable.is_empty() {
                return Err(format!("the host `{host}` has no public address").into());
            }
            Ok(Box::new(usable.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(list: &[&str], url: &str) -> bool {
        let list: Vec<String> = list.iter().map(|&pattern| pattern.to_owned()).collect();
        is_allowed(&list, &Url::parse(url).unwrap())
    }

    #[test]
    fn hosts_are_matched_by_name_part_and_port() {
        assert!(passes(&["api.example.com"], "https://API.example.com./x"));
        assert!(passes(&["*.example.com"], "https://a.b.example.com"));
        assert!(!passes(&["*.example.com"], "https://example.com"));
        assert!(!passes(&["*.example.com"], "https://evilexample.com"));
        assert!(!passes(&["example.com"], "https://example.com.evil.org"));
        assert!(passes(&["example.com:8443"], "https://example.com:8443"));
        assert!(!passes(&["example.com:8443"], "https://example.com"));
        assert!(passes(&["example.com:443"], "https://example.com"));
        assert!(!passes(&[], "https://example.com"));
        assert!(!passes(&["example.com"], "https://example.com@evil.org"));
    }

    #[test]
    fn private_addresses_need_a_separate_entry() {
        for url in [
            "http://127.0.0.1",
            "http://10.1.2.3",
            "http://169.254.169.254/latest",
            "http://[::1]",
            "http://[::ffff:10.0.0.1]",
            "http://localhost:8080",
            "http://2130706433",
            "http://0x7f.1",
            "http://[fd00::1]",
            "http://[64:ff9b::a00:1]",
        ] {
            assert!(!passes(&["*"], url), "{url}");
        }
        assert!(passes(&["127.0.0.1"], "http://127.0.0.1:9"));
        assert!(passes(&["127.0.0.1:9"], "http://127.0.0.1:9"));
        assert!(passes(&["[::1]:9"], "http://[::1]:9"));
        assert!(passes(&["::1"], "http://[::1]:9"));
        assert!(passes(&["localhost"], "http://localhost:8080"));
        assert!(passes(&["*"], "http://8.8.8.8"));
    }
}
