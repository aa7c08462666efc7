//! Conversion of skill inputs given as flags of `deft run`.
//!
//! `deft run NAME --flag value` accepts the inputs of the skill as flags, mixed with deft's own flags. This
//! module rewrites them to `--input flag=value` before clap parses the command line. Flags that clap knows
//! take precedence; an input of the same name must be given with `--input`.

use std::ffi::OsString;

use clap::{Command, CommandFactory};

use super::Args;

/// Rewrites the command line to a form that clap can parse.
pub(crate) fn rewrite(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let words: Vec<OsString> = words.into_iter().collect();
    let Some(at) = run_command(&words) else {
        return words;
    };
    let known = KnownFlags::from_command(&Args::command());
    let (head, tail) = words.split_at(at + 1);
    let mut out = head.to_vec();
    let mut rest = tail.iter().cloned().peekable();
    let mut named = false;
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy().into_owned();
        let Some(flag) = text.strip_prefix("--").filter(|flag| !flag.is_empty()) else {
            // The first bare word is the skill; clap reports a second one.
            named |= !text.starts_with('-');
            out.push(word);
            continue;
        };
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (flag, None),
        };
        match known.takes_value(name) {
            Some(takes) => {
                out.push(word.clone());
                if takes && value.is_none() {
                    out.extend(rest.next());
                }
            }
            None if !named => out.push(word),
            None => {
                let mut values: Vec<String> = value.into_iter().collect();
                while values.is_empty() || !flag.contains('=') {
                    match rest.next_if(|word| !is_flag(&word.to_string_lossy())) {
                        Some(word) => values.push(word.to_string_lossy().into_owned()),
                        None => break,
                    }
                }
                out.extend(inputs(name, &values));
            }
        }
    }
    out
}

/// Returns the skill in `deft run NAME --help`, or `None` for any other command line.
pub(crate) fn skill_to_explain(words: &[OsString]) -> Option<String> {
    let rest = &words[run_command(words)? + 1..];
    let wants_help = rest.iter().any(|word| word == "--help" || word == "-h");
    skill_to_run(words).filter(|_| wants_help)
}

/// Returns the skill in `deft run NAME`, or `None` for any other command line.
pub(crate) fn skill_to_run(words: &[OsString]) -> Option<String> {
    let rest = &words[run_command(words)? + 1..];
    let name = rest.iter().find(|word| !is_flag(&word.to_string_lossy()))?;
    Some(name.to_string_lossy().into_owned())
}

/// Returns a flag of deft that takes no value but is followed by one: probably meant as an input of the
/// skill.
pub(crate) fn mistaken_flag(words: impl IntoIterator<Item = OsString>) -> Option<String> {
    let words: Vec<OsString> = words.into_iter().collect();
    let at = run_command(&words)?;
    let known = KnownFlags::from_command(&Args::command());
    let mut named = false;
    let mut tail = words[at + 1..].iter().map(|word| word.to_string_lossy());
    let mut before: Option<String> = None;
    for word in tail.by_ref() {
        let bare = !word.starts_with('-');
        if bare && named && before.is_some() {
            return before;
        }
        named |= bare && before.is_none();
        let flag = word.strip_prefix("--").filter(|_| named);
        before = flag
            .filter(|flag| known.takes_value(flag) == Some(false))
            .map(str::to_owned);
    }
    None
}

/// Whether `deft run` has a flag `name`. An input of that name must be given with `--input`.
pub(crate) fn is_own_flag(name: &str) -> bool {
    KnownFlags::from_command(&Args::command())
        .takes_value(name)
        .is_some()
}

/// Returns the hint that explains how to give an input whose name is also a flag of deft.
pub(crate) fn own_flag_hint(name: &str) -> String {
    format!("`--{name}` is a flag of deft; give the input with `--input {name}=VALUE`")
}

/// Returns the index of `run` in `words` if it is the subcommand.
fn run_command(words: &[OsString]) -> Option<usize> {
    let known = KnownFlags::from_command(&Args::command());
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.to_string_lossy();
        match text.strip_prefix("--") {
            Some(flag) => {
                let takes = known.takes_value(flag) == Some(true);
                at += if takes { 2 } else { 1 };
            }
            None if text.starts_with('-') => at += 1,
            None => return (text == "run").then_some(at),
        }
    }
    None
}

/// Whether `word` is a flag. A negative number such as `-3` is a value.
fn is_flag(word: &str) -> bool {
    word.starts_with("--")
        || word.starts_with('-') && word.len() > 1 && word.parse::<f64>().is_err()
}

fn inputs(name: &str, values: &[String]) -> Vec<OsString> {
    if values.is_empty() {
        return vec!["--input".into(), name.into()];
    }
    values
        .iter()
        .flat_map(|value| ["--input".into(), format!("{name}={value}").into()])
        .collect()
}

/// The flags that clap knows for `deft run`, and whether each takes a value.
struct KnownFlags(Vec<(String, bool)>);

impl KnownFlags {
    fn from_command(command: &Command) -> Self {
        let run = command.find_subcommand("run").into_iter();
        let flags = std::iter::once(command)
            .chain(run)
            .flat_map(Command::get_arguments)
            .filter_map(|arg| Some((arg.get_long()?.to_owned(), arg.get_action().takes_values())));
        let own = ["help", "version"].map(|name| (name.to_owned(), false));
        Self(flags.chain(own).collect())
    }

    fn takes_value(&self, name: &str) -> Option<bool> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, takes)| *takes)
    }
}

#[cfg(test)]
mod tests {
    use super::rewrite;

    #[test]
    fn flags_of_the_skill_become_inputs() {
        for (given, expected) in [
            (
                "deft run greet --who Ada --json",
                "deft run greet --input who=Ada --json",
            ),
            (
                "deft --home h run g --n -3 --dry-run",
                "deft --home h run g --input n=-3 --dry-run",
            ),
            (
                "deft run g --tags a b --yes",
                "deft run g --input tags=a --input tags=b --yes",
            ),
            (
                "deft run g --deep --key k",
                "deft run g --input deep --key k",
            ),
            ("deft run g --a=b c", "deft run g --input a=b c"),
            (
                "deft run --yes g --inputs f.json",
                "deft run --yes g --inputs f.json",
            ),
            ("deft run g --input key=1", "deft run g --input key=1"),
            (
                "deft skills list --domain run",
                "deft skills list --domain run",
            ),
            ("deft run --frobnicate", "deft run --frobnicate"),
        ] {
            let words = rewrite(given.split(' ').map(Into::into));
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            assert_eq!(words.join(" "), expected);
        }
    }

    /// A value after a flag that takes none shows that the flag was meant as an input of the same name.
    #[test]
    fn a_flag_followed_by_a_value_is_reported_as_an_input() {
        for (given, expected) in [
            ("deft run g --json {}", Some("json")),
            ("deft run g --who x --yes now", Some("yes")),
            ("deft run g --json --yes", None),
            ("deft run --json g", None),
            ("deft run --json g --key k", None),
            ("deft list --json x", None),
        ] {
            let found = super::mistaken_flag(given.split(' ').map(Into::into));
            assert_eq!(found.as_deref(), expected, "{given}");
        }
    }
}
