//! Checks that public traits stay small, so a trait has one concern and a test double implements only what it
//! needs.

use std::path::Path;

use crate::support::{files, root};

/// The maximum number of methods of a trait with one concern.
const MAX_METHODS: usize = 20;

/// The name of a public trait and the number of its methods.
type TraitSize = (String, usize);

#[test]
fn public_traits_have_few_methods() {
    let root = root();
    let mut found = 0;
    for path in files("rs").iter().filter(|path| is_source(path, &root)) {
        for (name, methods) in public_traits(&std::fs::read_to_string(path).unwrap()) {
            found += 1;
            assert!(
                methods <= MAX_METHODS,
                "{}: trait `{name}` has {methods} methods, {MAX_METHODS} are allowed; split it by concern",
                path.display()
            );
        }
    }
    assert!(found > 20, "the scanner found only {found} traits");
}

fn is_source(path: &Path, root: &Path) -> bool {
    let below = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
    below.starts_with("crates/") && below.contains("/src/")
}

/// Returns the public traits of a source file. Formatted code has one item per line, so counting braces
/// outside comments is enough.
fn public_traits(text: &str) -> Vec<TraitSize> {
    let mut traits: Vec<TraitSize> = Vec::new();
    let mut open: Option<(usize, bool)> = None;
    let mut depth = 0;
    for line in text.lines().map(code) {
        if open.is_none()
            && let Some(name) = trait_name(line)
        {
            traits.push((name, 0));
            open = Some((depth, false));
        }
        if let (Some((base, true)), Some(last)) = (open, traits.last_mut())
            && depth == base + 1
            && is_method(line)
        {
            last.1 += 1;
        }
        depth = (depth + line.matches('{').count()).saturating_sub(line.matches('}').count());
        open = match open {
            Some((base, body)) if body || line.contains('{') => {
                (depth > base).then_some((base, true))
            }
            other => other,
        };
    }
    traits
}

/// Returns a line without its comment.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default().trim()
}

fn trait_name(line: &str) -> Option<String> {
    let rest = ["pub trait ", "pub unsafe trait "]
        .iter()
        .find_map(|start| line.strip_prefix(start))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    Some(rest[..end.unwrap_or(rest.len())].to_owned())
}

fn is_method(line: &str) -> bool {
    ["fn ", "async fn ", "unsafe fn ", "const fn "]
        .iter()
        .any(|start| line.starts_with(start))
}

#[test]
fn the_scanner_counts_methods_and_nothing_inside_them() {
    let text = "
pub trait Empty {}
pub trait Long:
    Send
    + Sync
{
    /// fn in a comment {
    fn one(&self) -> u8;
    fn two(&self) -> u8 {
        fn inner() {}
        inner();
        2
    }
    async fn three(
        &self,
    );
}
trait Private { fn four(); }
pub trait Last {
    type Item;
    fn five();
}
";
    let wanted = [("Empty", 0), ("Long", 3), ("Last", 1)];
    assert_eq!(
        public_traits(text),
        wanted.map(|(name, methods)| (name.to_owned(), methods))
    );
}
