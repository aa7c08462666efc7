//! Parses `${…}` in the files of other hosts.

use deft_config::env;

/// The kind of a text with variables.
#[derive(Debug, PartialEq)]
pub(super) enum Text {
    /// No variables.
    Plain,
    /// One variable, with an optional scheme such as `Bearer` as prefix.
    Reference(String),
    /// Like [`Text::Reference`], with a default for when the variable is not set.
    WithDefault { reference: String, default: String },
    /// An input that a person is asked for.
    Input(String),
    /// A variable inside a longer text.
    Mixed(String),
}

/// Parses a text.
pub(super) fn read(text: &str) -> Text {
    let Some(variable) = first(text) else {
        return Text::Plain;
    };
    if let Some(name) = variable.strip_prefix("input:") {
        return Text::Input(name.to_owned());
    }
    let whole = format!("${{{variable}}}");
    let Some(scheme) = text.strip_suffix(&whole).filter(|scheme| is_scheme(scheme)) else {
        return Text::Mixed(variable.to_owned());
    };
    let name = variable.strip_prefix("env:").unwrap_or(variable);
    let (name, default) = match name.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (name, None),
    };
    if !is_name(name) {
        return Text::Mixed(variable.to_owned());
    }
    let reference = format!("{scheme}env:{name}");
    match default.filter(|default| !default.is_empty()) {
        Some(default) => Text::WithDefault {
            reference,
            default: default.to_owned(),
        },
        None => Text::Reference(reference),
    }
}

/// Returns the text between the first `${` and its `}`.
pub(super) fn first(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("${")?;
    rest.split_once('}').map(|(variable, _)| variable)
}

/// Replaces `${userHome}`, which has the same meaning in all hosts.
pub(super) fn with_user_home(text: &str) -> String {
    match env::user_home() {
        Some(home) => text.replace("${userHome}", &home.display().to_string()),
        None => text.to_owned(),
    }
}

/// Whether `text` is a prefix of references that the router accepts.
fn is_scheme(text: &str) -> bool {
    matches!(text, "" | "Bearer " | "Basic " | "Token " | "token ")
}

fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !text.is_empty() && text.chars().all(fits) && !text.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_become_references() {
        let reference = |text: &str| Text::Reference(text.to_owned());
        let mixed = |text: &str| Text::Mixed(text.to_owned());
        for (text, expected) in [
            ("plain $HOME", Text::Plain),
            ("${TOKEN}", reference("env:TOKEN")),
            ("${env:TOKEN}", reference("env:TOKEN")),
            ("Bearer ${TOKEN}", reference("Bearer env:TOKEN")),
            ("${TOKEN:-}", reference("env:TOKEN")),
            (
                "${TOKEN:-x}",
                Text::WithDefault {
                    reference: "env:TOKEN".to_owned(),
                    default: "x".to_owned(),
                },
            ),
            ("${input:api-key}", Text::Input("api-key".to_owned())),
            ("x-${TOKEN}", mixed("TOKEN")),
            ("${A}${B}", mixed("A")),
            ("${workspaceFolder}/x", mixed("workspaceFolder")),
            ("${open", Text::Plain),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
