//! Addresses of providers, from base URLs that may or may not contain the version of the API.

use deft_model::{Failure, FailureClass};
use reqwest::Url;

use crate::ModelOptions;
use crate::wire::{Wire, WireRequest};

/// Returns the address of a request. It never contains a key.
pub(crate) fn address(
    wire: &dyn Wire,
    options: &ModelOptions,
    sent: &WireRequest,
) -> Result<Url, Failure> {
    let path: Vec<&str> = sent.path.iter().map(String::as_str).collect();
    let mut url = join(wire, options, &path)?;
    if let Some(query) = sent.query {
        url.query_pairs_mut()
            .extend_pairs(query.split('&').filter_map(|pair| pair.split_once('=')));
    }
    Ok(url)
}

/// Returns the address of a path of the provider. A path with an empty first part starts at the root.
pub(crate) fn join(wire: &dyn Wire, options: &ModelOptions, path: &[&str]) -> Result<Url, Failure> {
    let (usual, version) = wire.home();
    let base = options.base_url.as_deref().map_or(usual, str::trim);
    let mut url = Url::parse(base)
        .ok()
        .filter(Url::has_host)
        .ok_or_else(bad)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad());
    }
    url.set_fragment(None);
    let given: Vec<String> = url
        .path_segments()
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect();
    let mut parts = url.path_segments_mut().map_err(|()| bad())?;
    parts.clear();
    if let [first, rest @ ..] = path
        && first.is_empty()
    {
        parts.extend(rest);
    } else {
        parts.extend(base_parts(&given, version, path));
        parts.extend(path);
    }
    drop(parts);
    Ok(url)
}

/// Returns the path of the base URL up to the version. People configure it with the version, without it, or
/// with the whole path of a request.
fn base_parts<'a>(given: &'a [String], version: &[&'a str], path: &[&str]) -> Vec<&'a str> {
    let mut parts: Vec<&str> = given.iter().map(String::as_str).collect();
    if parts.ends_with(path) {
        parts.truncate(parts.len() - path.len());
    }
    let is_version = |part: &&str| {
        let mut chars = part.chars();
        chars.next() == Some('v') && chars.next().is_some_and(|c| c.is_ascii_digit())
    };
    if !version.iter().any(is_version) {
        // For a path without a version, the given version belongs to another API of the same server.
        parts.retain(|part| !is_version(part));
    }
    if !parts.ends_with(version) && !parts.iter().any(is_version) {
        parts.extend(version);
    }
    parts
}

fn bad() -> Failure {
    // The address is not repeated, because it may contain a password.
    Failure::new(FailureClass::Invalid, "`base_url` is not a web address")
        .hint("give it as `https://HOST` or `http://HOST:PORT`")
}
