//! `deft mcp install`: adds deft to the MCP servers of another program.

use std::process::ExitCode;

use deft_service::hosts::{self, InstallAction, InstallOptions};
use deft_wire::host::{HostClient, HostInstall, HostScope, InstallEffect};

use crate::args::{Global, HostName, McpInstall, ScopeName};
use crate::confirm;
use crate::failure::Done;
use crate::output::Output;

pub(super) fn run(args: &McpInstall, global: &Global, output: &Output) -> Done {
    let plan = hosts::plan(&global.workspace(), &options(args))?;
    let changes = plan.report.effect != InstallEffect::Unchanged;
    if args.dry_run {
        return show(&plan.report, output);
    }
    if changes && confirm::is_needed(args.yes, global) {
        output.note(&plan.report.diff);
        if !confirm::ask(&format!("write this to {}", plan.report.path)) {
            output.note("nothing was written");
            return Ok(ExitCode::FAILURE);
        }
    }
    show(&plan.write()?, output)
}

fn options(args: &McpInstall) -> InstallOptions {
    InstallOptions {
        client: match args.client {
            HostName::ClaudeDesktop => HostClient::ClaudeDesktop,
            HostName::ClaudeCode => HostClient::ClaudeCode,
            HostName::Cursor => HostClient::Cursor,
            HostName::Vscode => HostClient::VsCode,
            HostName::Codex => HostClient::Codex,
            HostName::Goose => HostClient::Goose,
        },
        scope: match args.scope {
            ScopeName::User => HostScope::User,
            ScopeName::Project => HostScope::Project,
        },
        name: args.name.clone(),
        action: match (args.remove, args.http) {
            (true, _) => InstallAction::Remove,
            (false, true) => InstallAction::Url,
            (false, false) => InstallAction::Program,
        },
    }
}

fn show(report: &HostInstall, output: &Output) -> Done {
    if output.json {
        output.document(report)?;
        return Ok(ExitCode::SUCCESS);
    }
    let HostInstall {
        server,
        path,
        effect,
        ..
    } = report;
    if report.dry_run && *effect != InstallEffect::Unchanged {
        output.data(report.diff.as_str())?;
        output.note(&format!("nothing was written to {path}"));
        return Ok(ExitCode::SUCCESS);
    }
    let title = report.client.title();
    output.prose(match effect {
        InstallEffect::Unchanged => format!("{title}: `{server}` is unchanged in {path}"),
        InstallEffect::Added | InstallEffect::Changed | InstallEffect::Removed => {
            format!("{title}: {} `{server}` in {path}", effect.word())
        }
    })?;
    if let Some(backup) = &report.backup {
        output.note(&format!("backup of the previous file: {backup}"));
    }
    if *effect != InstallEffect::Unchanged {
        for step in &report.next {
            output.note(&format!("next: {step}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}
