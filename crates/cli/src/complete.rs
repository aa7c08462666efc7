//! Completion in the shell: names of skills, ids of runs and names of tools as they are now.
//!
//! The shell starts deft with the variable `COMPLETE`. An error while looking something up means no
//! candidates: a shell that waits for a key has no place for messages.

use std::ffi::{OsStr, OsString};

use clap::builder::PossibleValuesParser;
use clap_complete::env::{CompleteEnv, Shells};
use clap_complete::{ArgValueCandidates, CompletionCandidate, Shell};
use deft_service::runs::{self, RunQuery};
use deft_service::skills::{SkillCatalog, SkillQuery};
use deft_service::tools::{self, ToolQuery};
use deft_service::{App, Workspace, runtime};
use deft_wire::skill::SkillView;
use deft_wire::skill_body::{FlagView, InputView, SkillBody};

use crate::args;
use crate::failure::{Done, Failure};

/// The variable by which a shell asks for candidates.
const VARIABLE: &str = "COMPLETE";

/// The variable in which most shells say which word is completed.
const INDEX: &str = "_CLAP_COMPLETE_INDEX";

/// The most runs that are offered.
const RUNS: u32 = 50;

/// Answers the shell and ends the process, if a shell asks.
pub(crate) fn answer_shell(command: fn() -> clap::Command) {
    if std::env::var_os(VARIABLE).is_some() {
        let words: Vec<OsString> = std::env::args_os()
            .skip_while(|word| word != "--")
            .skip(1)
            .collect();
        let command = || fit(command(), &words);
        CompleteEnv::with_factory(command).var(VARIABLE).complete();
    }
}

/// The command as the words before the cursor make it.
fn fit(command: clap::Command, words: &[OsString]) -> clap::Command {
    let index = std::env::var_os(INDEX);
    let index = index.and_then(|index| index.to_str()?.parse().ok());
    let at: usize = index.unwrap_or(words.len().saturating_sub(1));
    let before = words.get(..at).unwrap_or(words);
    let current = words.get(at).map(|word| word.to_string_lossy());
    let wants_option = current.is_some_and(|word| word.starts_with('-'));
    let command = match args::skill_to_run(before) {
        Some(skill) => command.mut_subcommand("run", |run| run.args(skill_inputs(&skill))),
        None => command,
    };
    if words.is_empty() || wants_option {
        command
    } else {
        hide_options(command).disable_help_flag(true)
    }
}

/// Names come without the options of the command; a dash asks for those.
fn hide_options(command: clap::Command) -> clap::Command {
    command
        .mut_args(|arg| {
            let is_option = !arg.is_positional();
            arg.hide(is_option)
        })
        .mut_subcommands(hide_options)
}

/// The inputs of a skill as options.
fn skill_inputs(skill: &str) -> Vec<clap::Arg> {
    let found = SkillCatalog::open(&workspace()).and_then(|catalog| catalog.show(skill));
    let Ok(SkillView::File(skill)) = found.map(|page| page.skill) else {
        return Vec::new();
    };
    let Some(body) = skill.details.and_then(|details| details.body) else {
        return Vec::new();
    };
    let inputs: Vec<(String, String, Vec<String>)> = match body {
        SkillBody::Workflow { inputs, .. } => {
            let input = |input: InputView| {
                let choices = input.choices.iter();
                let choices = choices.map(|value| match value.as_str() {
                    Some(text) => text.to_owned(),
                    None => value.to_string(),
                });
                let description = input.description.unwrap_or_default();
                (input.name, description, choices.collect())
            };
            inputs.into_iter().map(input).collect()
        }
        SkillBody::Manual { flags, .. } => {
            let flag = |flag: FlagView| {
                let name = flag.name.trim_start_matches('-').to_owned();
                (name, flag.description, flag.values.unwrap_or_default())
            };
            flags.into_iter().map(flag).collect()
        }
        SkillBody::Call { .. } | SkillBody::Text { .. } => Vec::new(),
    };
    let inputs = inputs.into_iter();
    inputs
        .filter(|(name, ..)| !args::is_own_flag(name))
        .map(|(name, about, values)| option(name, about, values))
        .collect()
}

/// The process ends when the shell has its answer, so that names may stay in memory.
fn option(name: String, about: String, values: Vec<String>) -> clap::Arg {
    let name: &'static str = name.leak();
    let arg = clap::Arg::new(name).long(name).num_args(0..=1);
    let arg = if about.is_empty() {
        arg
    } else {
        arg.help(about)
    };
    if values.is_empty() {
        return arg;
    }
    let values = values
        .into_iter()
        .map(|value| -> &'static str { value.leak() });
    arg.value_parser(PossibleValuesParser::new(values))
}

/// The script that makes a shell ask.
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

/// Ids of skills.
pub(crate) fn skills() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let list = SkillCatalog::open(&workspace())
            .and_then(|catalog| catalog.list(&SkillQuery::default()));
        let skills = list.map(|listing| listing.list.skills).unwrap_or_default();
        let candidate = |skill: SkillView| match skill {
            SkillView::File(skill) => candidate(&skill.id, &skill.description),
            SkillView::Stored(skill) => {
                candidate(&skill.id, skill.description.as_deref().unwrap_or_default())
            }
        };
        skills.into_iter().map(candidate).collect()
    })
}

/// Ids of the latest runs, and `last`.
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

/// Names of tools, of servers as they were last asked.
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

/// The home of the environment; a shell does not say what `--home` is.
fn workspace() -> Workspace {
    Workspace {
        home: None,
        roots: Vec::new(),
        tell: |_| {},
        quiet: true,
    }
}
