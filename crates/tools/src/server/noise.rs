//! Filters the lines that a package runner writes around the reason why a server did not start.

/// Prefixes of `npm` lines, in several versions.
const ERRORS: [&str; 2] = ["npm error", "npm ERR!"];
const REMARKS: [&str; 4] = ["npm notice", "npm warn", "npm WARN", "npm info"];

/// Lines that `npm` adds to every error.
const ADDED_BY_NPM: [&str; 4] = [
    "A complete log of this run can be found in",
    "Note that you can also install from a",
    "tarball, folder, http url, or git folder",
    "errno ",
];

/// Returns the informative part of a line; `None` if the line is noise.
pub(super) fn informative(line: &str) -> Option<&str> {
    let line = line.trim();
    if REMARKS.iter().any(|remark| line.starts_with(remark)) {
        return None;
    }
    let Some(error) = ERRORS.iter().find_map(|error| line.strip_prefix(error)) else {
        return Some(line).filter(|line| !line.is_empty());
    };
    // `npm error 404  '@a/b' is not in this registry.`: the status precedes every line.
    let number = |c: char| c.is_ascii_digit() || c.is_whitespace();
    let words = error.trim_start_matches(number);
    let noise = words.is_empty() || ADDED_BY_NPM.iter().any(|added| words.starts_with(added));
    (!noise).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_npm_is_omitted() {
        let output = "npm warn exec The following package was not found and will be installed: x@1\n\
            npm warn deprecated inflight@1.0.6: This module is not supported\n\
            npm notice New minor version of npm available! 10.1.0 -> 10.9.0\n\
            npm error code E404\n\
            npm error 404 Not Found - GET https://example.org/x - Not found\n\
            npm error 404\n\
            npm error 404  'x@*' is not in this registry.\n\
            npm error 404 Note that you can also install from a\n\
            npm error 404 tarball, folder, http url, or git folder.\n\
            npm error A complete log of this run can be found in: /tmp/x.log\n\
            npm ERR! could not determine executable to run\n\
            \n\
            Error: PORT is not set\n";
        let kept: Vec<&str> = output.lines().filter_map(informative).collect();
        assert_eq!(
            kept,
            [
                "code E404",
                "Not Found - GET https://example.org/x - Not found",
                "'x@*' is not in this registry.",
                "could not determine executable to run",
                "Error: PORT is not set",
            ]
        );
    }
}
