//! Screens in which the parts that vary between runs are replaced: ids, numbers, days and paths.

use crate::support::World;
use crate::terminal::Terminal;

/// Returns the exit code of a command and its screen on a terminal with `columns` columns.
pub(crate) fn screen(world: &World, args: &[&str], columns: u16) -> String {
    let (code, screen) = Terminal::sized(world, args, columns).end();
    assert_fits(&screen, columns);
    let screen = unfolded(&screen, columns.into());
    format!("exit {code}\n{}", stable(world, &screen))
}

/// Asserts that no line is longer than the terminal is wide, so no word is broken. Only a word that is longer
/// than a line, such as a path, may exceed it, alone on its line.
pub(crate) fn assert_fits(screen: &str, columns: u16) {
    for line in screen.lines().map(str::trim) {
        let is_short = line.chars().count() <= columns.into();
        assert!(is_short || !line.contains(' '), "{line}\n\n{screen}");
    }
}

/// Joins folded sentences to one line each, because their line breaks depend on the time of day.
fn unfolded(screen: &str, columns: usize) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut last = 0;
    for line in screen.lines() {
        let begins = |c: char| c.is_alphanumeric() || c == '`' || c == '(';
        let heads = ["hint:", "error:", "warning:"];
        let is_head = heads.iter().any(|head| line.starts_with(head)) || is_row(line);
        let is_full = last > 0 && last + 1 + first_piece(line) > columns;
        match out.last_mut() {
            Some(before) if is_full && !is_head && line.starts_with(begins) => {
                before.push(' ');
                before.push_str(line);
            }
            _ => out.push(line.to_owned()),
        }
        last = line.chars().count();
    }
    out.join("\n")
}

/// Whether a line begins with a label and a column, like the rows of `deft status`. Such a line never
/// continues the one above, however full that is.
fn is_row(line: &str) -> bool {
    line.find(' ')
        .is_some_and(|end| line[end..].starts_with("  "))
}

/// Returns the length of the first word of a line. Words in backticks count as one.
fn first_piece(line: &str) -> usize {
    let code = line.strip_prefix('`').and_then(|rest| rest.find('`'));
    let start = code.map_or(0, |end| end + 2);
    let rest = line.get(start..).unwrap_or_default();
    start + rest.find(' ').unwrap_or(rest.len())
}

/// Returns the screens at 80 and at 120 columns, one below the other.
pub(crate) fn both_widths(world: &World, args: &[&str]) -> String {
    let at = |columns| format!("--- {columns} columns\n{}\n", screen(world, args, columns));
    at(80) + &at(120)
}

/// Replaces everything that varies in a screen. Runs of spaces become two spaces, because the widths of
/// columns depend on the replaced text.
pub(crate) fn stable(world: &World, screen: &str) -> String {
    let home = world.path("home").display().to_string();
    let text = screen.replace(&home, "[home]");
    let lines = text.lines().map(|line| {
        let words: Vec<String> = line.trim_end().split(' ').map(stable_word).collect();
        spaced(&instants(&words.join(" ")))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn stable_word(word: &str) -> String {
    for kind in ["run_", "apr_"] {
        if let Some(at) = word.find(kind) {
            let (before, id) = word.split_at(at);
            let rest = id[kind.len()..].trim_start_matches(|c: char| c.is_ascii_hexdigit());
            return format!("{before}{kind}ID{rest}");
        }
    }
    let mut out = String::new();
    for c in word.chars() {
        match c {
            c if c.is_ascii_digit() && out.ends_with('#') => {}
            c if c.is_ascii_digit() => out.push('#'),
            c => out.push(c),
        }
    }
    out
}

/// Replaces days and distances, which depend on the time of the test.
fn instants(line: &str) -> String {
    // Seconds are omitted if they are zero.
    let mut line = line.replace("#:#:#", "#:#");
    for day in [
        "today",
        "tomorrow",
        "on Monday #-#-#",
        "on Tuesday #-#-#",
        "on Wednesday #-#-#",
        "on Thursday #-#-#",
        "on Friday #-#-#",
        "on Saturday #-#-#",
        "on Sunday #-#-#",
    ] {
        line = line.replace(day, "[day]");
    }
    for day in ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] {
        line = line.replace(&format!(" {day} #:#"), " [day] #:#");
    }
    for distance in [
        "# s ago",
        "# min ago",
        "in # minutes",
        "in # minute",
        "in # min",
        "in # hours",
        "in # hour",
        "in # days",
        "in # day",
        "in # s",
    ] {
        line = line.replace(distance, "[distance]");
    }
    line.replace(" now ", " [distance] ")
        .replace(" [day] #:# ", " [distance] ")
}

fn spaced(line: &str) -> String {
    let indent: String = line.chars().take_while(|c| *c == ' ').collect();
    let words = line.trim_start().split("  ").map(str::trim);
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    indent + &words.join("  ")
}
