//! `deft man`: generates manual pages from the help.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use crate::args::command_with_examples;
use crate::failure::{Done, Failure};
use crate::output::{Output, format_count};

pub(crate) fn run(folder: &Path, output: &Output) -> Done {
    let wrong = |problem: std::io::Error| Failure::file(folder, "write to", &problem);
    fs::create_dir_all(folder).map_err(wrong)?;
    let mut command = command_with_examples();
    command.build();
    let mut written = Vec::new();
    write(&command, folder, &mut written).map_err(wrong)?;
    if output.json {
        output.document(&serde_json::json!({ "pages": written }))?;
    } else {
        let pages = format_count(written.len(), "page");
        output.prose(format!("wrote {pages} to `{}`", folder.display()))?;
        output.note("hint: `man deft` finds them if the folder is in `MANPATH`");
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the pages of a command and its subcommands.
fn write(command: &clap::Command, folder: &Path, written: &mut Vec<String>) -> std::io::Result<()> {
    let page = clap_mangen::Man::new(command.clone());
    let name = page.get_filename();
    page.generate_to(folder)?;
    written.push(name);
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    shown
        .filter(|sub| sub.get_name() != "help")
        .try_for_each(|sub| write(sub, folder, written))
}
