//! Generates the reference section of `docs/configuration.md` from the table of keys.

use super::table::{KEYS, KeyDefault};

/// Renders one table per section.
pub(super) fn reference() -> String {
    let mut out = String::new();
    let mut current = "";
    for key in KEYS {
        let section = section_of(key.path);
        if section != current {
            current = section;
            out.push_str(&heading(section));
        }
        let name = key.path.get(section.len() + 1..).unwrap_or(key.path);
        let preset = match key.preset {
            preset @ (KeyDefault::Value(_) | KeyDefault::Text(_)) => {
                format!("`{}`", preset.toml().unwrap_or_default())
            }
            KeyDefault::Words(words) => words.to_owned(),
            KeyDefault::Needed => "required".to_owned(),
        };
        let cells = [
            format!("`{name}`"),
            key.kind.takes(),
            preset,
            key.doc.to_owned(),
        ];
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out.push('\n');
    out
}

fn heading(section: &str) -> String {
    format!(
        "\n### `[{section}]`\n\n| key | type | default | description |\n| --- | --- | --- | --- |\n"
    )
}

/// Returns the section that a key is listed under.
fn section_of(path: &str) -> &str {
    let ends: Vec<usize> = path.match_indices('.').map(|(at, _)| at).collect();
    let first = ends.first().copied().unwrap_or(path.len());
    match (path.get(..first), ends.get(1), ends.get(2)) {
        (Some("mcp_servers" | "llm" | "tools"), Some(second), _) => &path[..*second],
        (Some("budget"), _, Some(third)) => &path[..*third],
        _ => &path[..first],
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The generated part of the document matches the table. `UPDATE=1 cargo test -p deft` updates it.
    #[test]
    fn the_document_is_current() {
        const START: &str = "<!-- generated: start -->\n";
        const END: &str = "<!-- generated: end -->";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
        let text = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = text.split_once(START).unwrap();
        let (old, after) = rest.split_once(END).unwrap();
        let new = super::reference();
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, format!("{before}{START}{new}{END}{after}")).unwrap();
            return;
        }
        assert!(
            old == new,
            "docs/configuration.md is out of date: run `UPDATE=1 cargo test -p deft`"
        );
    }
}
