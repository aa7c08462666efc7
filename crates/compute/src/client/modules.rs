//! The modules that code seems to import, found in its text, so that the worker can load them before it
//! forks.
//!
//! This is a cheap guess: the worker ignores unknown names, and if a module is missing the job is run again.
//! Not here: the list of modules.

use std::collections::BTreeSet;

/// Longer names are not modules, and code does not import more modules than this.
const MAX_NAME_LEN: usize = 40;
const MAX_MODULES: usize = 64;

/// Modules that other modules import only when a function is used.
const USED: [(&str, &str); 2] = [("strptime", "_strptime"), ("most_common", "heapq")];

/// Returns the top-level names that code imports.
pub(super) fn named_in(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if !code.contains("import") {
        return found;
    }
    for statement in code.split(['\n', ';', ':']) {
        let mut words = statement.trim_start().splitn(2, char::is_whitespace);
        match (words.next(), words.next()) {
            (Some("from"), Some(rest)) => found.extend(first_part(rest)),
            (Some("import"), Some(rest)) => found.extend(rest.split(',').filter_map(first_part)),
            _ => {}
        }
        if found.len() > MAX_MODULES {
            break;
        }
    }
    for (word, module) in USED {
        if code.contains(word) {
            found.insert(module.to_owned());
        }
    }
    found
}

fn first_part(name: &str) -> Option<String> {
    let is_end = |letter: char| !(letter.is_alphanumeric() || letter == '_');
    let name = name.trim_start().split(is_end).next()?;
    (!name.is_empty() && name.len() <= MAX_NAME_LEN).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::named_in;

    #[test]
    fn imports_are_found_at_every_position() {
        let code = "import json, re as r\nfrom datetime import (date,\n  time)\nif x: import csv\n\
                    import urllib.parse; import math\nfrom . import y\nimportant = 1\n\
                    d = datetime.strptime(a, b)\n# import is a word too\n";
        let found: Vec<String> = named_in(code).into_iter().collect();
        let expected = [
            "_strptime",
            "csv",
            "datetime",
            "json",
            "math",
            "re",
            "urllib",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn code_without_imports_needs_no_modules() {
        assert_eq!(named_in("result = from_json + 1").len(), 0);
        let long = format!("import {}", "x".repeat(5000));
        assert_eq!(named_in(&long).len(), 0);
    }
}
