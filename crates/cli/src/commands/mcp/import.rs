//! `deft mcp import`: imports servers from the configuration files of other programs.

use std::process::ExitCode;

use deft_service::Workspace;
use deft_service::servers::{self, ImportOptions};
use deft_wire::server::ServerImport;

use crate::failure::Done;
use crate::output::{Output, format_count};

pub(super) fn run(options: &ImportOptions, workspace: &Workspace, output: &Output) -> Done {
    let import = servers::import(workspace, options)?;
    if output.json {
        output.document(&import)?;
    } else {
        print(&import, output)?;
    }
    Ok(ExitCode::from(u8::from(!import.ok)))
}

fn print(import: &ServerImport, output: &Output) -> Done<()> {
    for one in &import.servers {
        let word = one.effect.word();
        let reason = one.reason.as_ref();
        let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
        output.prose(format!("{word:9} {}{reason}", one.name))?;
        for warning in &one.warnings {
            output.note(&format!("warning: `{}`: {warning}", one.name));
        }
    }
    output.note(&summary(import));
    Ok(())
}

fn summary(import: &ServerImport) -> String {
    let changed = import.servers.iter().filter(|one| one.effect.changes());
    let count = changed.count();
    let servers = format_count(count, "server");
    match (count, import.dry_run) {
        (0, _) => "nothing to import".to_owned(),
        (_, true) => format!("{servers} would be imported"),
        (_, false) => {
            let file = &import.path;
            format!("{servers} imported into {file}; `deft mcp probe` connects to all")
        }
    }
}
