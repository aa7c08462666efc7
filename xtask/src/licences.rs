//! Licences, sources and doubled versions of the packages in the lock, as `deny.toml` allows them.
//!
//! `cargo deny check licenses bans sources` reads the same file. It is a large tool to build, so the tests do the same
//! with what `cargo metadata` prints. Advisories need a database from the network and are not checked here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::{metadata, read};

fn settings() -> toml::Table {
    read("deny.toml").parse().expect("deny.toml is TOML")
}

fn text<'a>(table: &'a toml::Value, key: &str) -> &'a str {
    table
        .get(key)
        .and_then(toml::Value::as_str)
        .unwrap_or_else(|| panic!("no `{key}` in {table}"))
}

fn list<'a>(settings: &'a toml::Table, section: &str, key: &str) -> &'a [toml::Value] {
    settings[section]
        .get(key)
        .and_then(toml::Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn packages() -> Vec<Value> {
    // Not offline: a package for another platform may not have been fetched yet.
    let metadata = metadata(&["--locked"]);
    metadata["packages"].as_array().expect("packages").clone()
}

fn name(package: &Value) -> &str {
    package["name"].as_str().expect("a name")
}

/// The alternatives of an SPDX expression: each is a set of licences that apply together.
fn alternatives(expression: &str) -> Vec<BTreeSet<String>> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ")
        .replace(" WITH ", "\u{a0}WITH\u{a0}");
    let tokens: Vec<&str> = spaced
        .split(' ')
        .filter(|token| !token.is_empty())
        .collect();
    any_of(&mut tokens.into_iter().peekable())
}

type Tokens<'a> = std::iter::Peekable<std::vec::IntoIter<&'a str>>;

fn any_of(tokens: &mut Tokens) -> Vec<BTreeSet<String>> {
    let mut found = all_of(tokens);
    while tokens.next_if(|token| *token == "OR").is_some() {
        found.extend(all_of(tokens));
    }
    found
}

fn all_of(tokens: &mut Tokens) -> Vec<BTreeSet<String>> {
    let mut found = one(tokens);
    while tokens.next_if(|token| *token == "AND").is_some() {
        let right = one(tokens);
        found = found
            .iter()
            .flat_map(|left| {
                right
                    .iter()
                    .map(move |right| left.union(right).cloned().collect())
            })
            .collect();
    }
    found
}

fn one(tokens: &mut Tokens) -> Vec<BTreeSet<String>> {
    match tokens.next() {
        Some("(") => {
            let inner = any_of(tokens);
            assert_eq!(tokens.next(), Some(")"), "an expression is not closed");
            inner
        }
        Some(licence) => vec![BTreeSet::from([licence.replace('\u{a0}', " ")])],
        None => Vec::new(),
    }
}

#[test]
fn licences_are_allowed() {
    let settings = settings();
    let allowed: BTreeSet<String> = list(&settings, "licenses", "allow")
        .iter()
        .filter_map(toml::Value::as_str)
        .map(str::to_owned)
        .collect();
    let clarified: BTreeMap<&str, &str> = list(&settings, "licenses", "clarify")
        .iter()
        .map(|entry| (text(entry, "crate"), text(entry, "expression")))
        .collect();
    let exceptions: BTreeMap<&str, BTreeSet<String>> = list(&settings, "licenses", "exceptions")
        .iter()
        .map(|entry| {
            let licences = entry["allow"].as_array().expect("a list").iter();
            (
                text(entry, "crate"),
                licences
                    .filter_map(toml::Value::as_str)
                    .map(str::to_owned)
                    .collect(),
            )
        })
        .collect();
    let (mut used, mut refused) = (BTreeSet::new(), Vec::new());
    for package in packages() {
        let name = name(&package).to_owned();
        let expression = package["license"]
            .as_str()
            .or_else(|| clarified.get(name.as_str()).copied());
        let own = exceptions.get(name.as_str());
        let fits = |licence: &String| {
            allowed.contains(licence) || own.is_some_and(|own| own.contains(licence))
        };
        match expression
            .map(alternatives)
            .unwrap_or_default()
            .into_iter()
            .find(|set| set.iter().all(fits))
        {
            Some(set) => used.extend(set),
            None => refused.push(format!(
                "{name}: {}",
                expression.unwrap_or("no licence in its manifest")
            )),
        }
    }
    assert!(
        refused.is_empty(),
        "licences that `deny.toml` does not allow:\n{}",
        refused.join("\n")
    );
    let unused: Vec<&String> = allowed.difference(&used).collect();
    assert_eq!(
        unused,
        Vec::<&String>::new(),
        "no package needs these licences: remove them from `deny.toml`"
    );
}

/// An exception or clarification for a package that is gone is noise.
#[test]
fn named_packages_are_in_the_lock() {
    let settings = settings();
    let locked: BTreeSet<String> = packages()
        .iter()
        .map(|package| name(package).to_owned())
        .collect();
    let named = ["clarify", "exceptions"]
        .iter()
        .flat_map(|key| list(&settings, "licenses", key));
    let missing: Vec<&str> = named
        .map(|entry| text(entry, "crate"))
        .filter(|name| !locked.contains(*name))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

/// Packages without a source are this repository's own; all others come from the one registry.
#[test]
fn packages_come_from_the_registry() {
    let all = packages();
    let sources: BTreeSet<&str> = all
        .iter()
        .filter_map(|package| package["source"].as_str())
        .collect();
    assert_eq!(sources.len(), 1, "{sources:?}");
    assert!(sources.iter().all(|source| source.starts_with("registry+")));
}

/// Each version beside the newest one is listed with a reason.
#[test]
fn doubled_packages_have_a_reason() {
    let lock: toml::Table = read("Cargo.lock").parse().expect("the lock is TOML");
    let mut versions: BTreeMap<&str, BTreeSet<Vec<u64>>> = BTreeMap::new();
    for package in lock["package"].as_array().expect("packages") {
        let version = text(package, "version")
            .split(['-', '+'])
            .next()
            .unwrap_or_default();
        let version = version
            .split('.')
            .map(|part| part.parse().expect("a number"))
            .collect();
        versions
            .entry(text(package, "name"))
            .or_default()
            .insert(version);
    }
    let mut doubled: BTreeSet<String> = BTreeSet::new();
    for (name, versions) in versions {
        for version in versions.iter().rev().skip(1) {
            let version: Vec<String> = version.iter().map(u64::to_string).collect();
            doubled.insert(format!("{name}@{}", version.join(".")));
        }
    }
    let settings = settings();
    let skipped = list(&settings, "bans", "skip").iter();
    let skipped: BTreeSet<String> = skipped
        .map(|entry| {
            assert!(!text(entry, "reason").is_empty());
            text(entry, "crate").to_owned()
        })
        .collect();
    assert_eq!(
        doubled, skipped,
        "left: older versions in the lock, right: `skip` in `deny.toml`"
    );
}

#[test]
fn expressions_are_read() {
    let read = |text| {
        alternatives(text)
            .into_iter()
            .map(|set| set.into_iter().collect::<Vec<_>>().join("+"))
            .collect::<Vec<_>>()
    };
    assert_eq!(read("MIT/Apache-2.0"), ["MIT", "Apache-2.0"]);
    assert_eq!(
        read("(MIT OR Apache-2.0) AND ISC"),
        ["ISC+MIT", "Apache-2.0+ISC"]
    );
    assert_eq!(
        read("Apache-2.0 WITH LLVM-exception OR MIT"),
        ["Apache-2.0 WITH LLVM-exception", "MIT"]
    );
}
