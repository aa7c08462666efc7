//! Generates `docs/cli.md`, which has the help of every command as the binary prints it.

use std::fmt::Write as _;
use std::path::Path;

use crate::support::World;

#[test]
fn the_reference_of_commands_is_current() {
    let world = World::new();
    let mut pages = String::from(
        "# Commands\n\nGenerated from the help of the binary. To update it, run\n\
         `UPDATE=1 cargo nextest run --workspace -E 'test(help::)'`.\n",
    );
    add_pages(&world, &mut Vec::new(), &mut pages);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &pages).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    similar(&written, &pages);
}

/// Appends the help of a command and its subcommands.
fn add_pages(world: &World, command: &mut Vec<String>, pages: &mut String) {
    let mut words: Vec<&str> = command.iter().map(String::as_str).collect();
    words.push("--help");
    let output = world.output(&words);
    assert!(output.status.success(), "{command:?}");
    let help = String::from_utf8(output.stdout).unwrap();
    let title = [&["deft".to_owned()], command.as_slice()]
        .concat()
        .join(" ");
    let text: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
    write!(pages, "\n## {title}\n\n```text\n{}\n```\n", text.join("\n")).unwrap();
    for name in subcommands(&help) {
        command.push(name);
        add_pages(world, command, pages);
        command.pop();
    }
}

/// Returns the names in the section of commands. Each is indented by two spaces.
fn subcommands(help: &str) -> Vec<String> {
    let section = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let rows = section.take_while(|line| !line.is_empty());
    let names = rows.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names
        .filter(|name| !name.is_empty() && *name != "help")
        .map(str::to_owned)
        .collect()
}

/// Fails at the first line that differs.
fn similar(written: &str, found: &str) {
    let mut lines = written.lines().zip(found.lines());
    if let Some((written, found)) = lines.find(|(written, found)| written != found) {
        panic!("docs/cli.md is out of date\n  in the file: {written}\n  printed:     {found}");
    }
    assert_eq!(written.lines().count(), found.lines().count());
}
