//! Candidates for shell completion: current skills, runs and tools.
//!
//! A failed lookup returns no candidates, because a shell cannot show messages during completion. Not here:
//! the reply to the shell ([`crate::shell`]).

use std::ffi::OsStr;

use clap_complete::env::Shells;
use clap_complete::{ArgValueCandidates, CompletionCandidate, Shell};
use deft_service::runs::{self, RunQuery};
use deft_service::skills::{SkillCatalog, SkillQuery};
use deft_service::tools::{self, ToolQuery};
use deft_service::{App, Workspace, runtime};
use deft_wire::skill::SkillView;

use crate::failure::{Done, Failure};

/// The environment variable with which a shell requests candidates.
pub(crate) const VARIABLE: &str = "COMPLETE";

/// The maximum number of runs offered.
const RUNS: u32 = 50;

/// Returns the script that enables completion in `shell`.
pub(crate) fn script(shell: Shell) -> Done<String> {
    let wrong =
        |problem: &dyn std::fmt::Display| Failure::internal("completions", problem.to_string());
    let shells = Shells::builtins();
    let name = shell.to_string();
    let found = shells
        .completer(&name)
        .ok_or_else(|| wrong(&"the shell has no script"))?;
    let mut script = Vec::new();
    let written = found.write_registration(VARIABLE, "deft", "deft", "deft", &mut script);
    written.map_err(|problem| wrong(&problem))?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}

/// Returns candidates for skill ids.
pub(crate) fn skills() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let list = SkillCatalog::open(&workspace())
            .and_then(|catalog| catalog.list(&SkillQuery::default()));
        let skills = list.map(|listing| listing.list.skills).unwrap_or_default();
        let candidate = |skill: SkillView| {
            let head = match skill {
                SkillView::File(skill) => skill.head,
                SkillView::Stored(skill) => skill.head,
            };
            candidate(&head.id, head.description.as_deref().unwrap_or_default())
        };
        skills.into_iter().map(candidate).collect()
    })
}

/// Returns candidates for run ids: the latest runs, and `last`.
pub(crate) fn runs() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let Ok(app) = App::to_read(&workspace()) else {
            return Vec::new();
        };
        let found = runs::list(&app, RunQuery::default()).next(RUNS);
        let run = |listed: deft_wire::run::ListedRun| {
            let state = match listed.run.outcome {
                Some(outcome) => outcome.to_string(),
                None => listed.run.status.to_string(),
            };
            candidate(
                listed.run.id.as_str(),
                &format!("{}, {state}", listed.run.skill),
            )
        };
        let last = candidate("last", "the latest run");
        let found = found.unwrap_or_default().into_iter().map(run);
        std::iter::once(last).chain(found).collect()
    })
}

/// Returns candidates for tool names. Tools of servers come from the stored catalogs.
pub(crate) fn tools() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let found = runtime::start()
            .and_then(|runtime| runtime.block_on(tools::list(&workspace(), &ToolQuery::default())));
        let tools = found.map(|found| found.value.tools).unwrap_or_default();
        let tool = |tool: deft_wire::tool::ToolSummary| {
            candidate(&tool.name, &tools::first_sentence(&tool.description))
        };
        tools.into_iter().map(tool).collect()
    })
}

fn candidate(value: &str, help: &str) -> CompletionCandidate {
    let help = (!help.is_empty()).then(|| help.to_owned().into());
    CompletionCandidate::new(OsStr::new(value)).help(help)
}

/// Returns the workspace with the home from the environment. The value of `--home` is not available here.
pub(crate) fn workspace() -> Workspace {
    Workspace {
        home: None,
        roots: Vec::new(),
        tell: |_| {},
        quiet: true,
        live: None,
    }
}
