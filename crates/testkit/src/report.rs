//! Long-running variants of tests: their size, and their reports as tables in a document.
//!
//! Tests write a report only if `DEFT_CHAOS_REPORT` names the document.

use std::fs;
use std::path::PathBuf;

/// Returns the size of a test from an environment variable such as `DEFT_CHAOS_KILLS`, or `usual` if it is
/// not set.
pub fn test_size(variable: &str, usual: usize) -> usize {
    let wanted = std::env::var(variable);
    wanted.map_or(usual, |text| text.parse().expect("a number"))
}

/// Replaces the table of a section in the document named by `DEFT_CHAOS_REPORT`, between the lines
/// `<!-- begin NAME -->` and `<!-- end NAME -->`.
pub fn report_section(name: &str, lines: &[(&str, String)]) {
    let Some(path) = std::env::var_os("DEFT_CHAOS_REPORT").map(PathBuf::from) else {
        return;
    };
    let text = fs::read_to_string(&path).expect("the document can be read");
    fs::write(&path, with_section(&text, name, lines)).expect("the document can be written");
}

fn with_section(text: &str, name: &str, lines: &[(&str, String)]) -> String {
    let (begin, end) = (
        format!("<!-- begin {name} -->\n"),
        format!("<!-- end {name} -->"),
    );
    let from = text.find(&begin).expect("the section begins") + begin.len();
    let to = text.find(&end).expect("the section ends");
    let mut table = "| what | count |\n| --- | --- |\n".to_owned();
    for (what, count) in lines {
        table.push_str(&format!("| {what} | {count} |\n"));
    }
    format!("{}{table}{}", &text[..from], &text[to..])
}

#[cfg(test)]
mod tests {
    use super::with_section;

    #[test]
    fn only_the_section_is_replaced() {
        let text = "# T\n<!-- begin a -->\nold\n<!-- end a -->\nb\n";
        let new = with_section(text, "a", &[("kills", "3".to_owned())]);
        assert_eq!(
            new,
            "# T\n<!-- begin a -->\n| what | count |\n| --- | --- |\n| kills | 3 |\n<!-- end a -->\nb\n"
        );
    }
}
