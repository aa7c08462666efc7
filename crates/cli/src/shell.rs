//! Replies to a shell that completes a command line. The shell starts deft with an environment variable set.
//!
//! Not here: the candidates for skills, runs and tools ([`crate::complete`]).

use std::ffi::OsString;

use clap::builder::PossibleValuesParser;
use clap_complete::env::CompleteEnv;
use deft_service::skills::SkillCatalog;
use deft_wire::skill::SkillView;
use deft_wire::skill_body::{FlagView, InputView, SkillBody};

use crate::args;
use crate::complete::{VARIABLE, workspace};

/// The environment variable in which most shells pass the index of the word being completed.
const INDEX: &str = "_CLAP_COMPLETE_INDEX";

/// If a shell requests completion, prints the candidates and exits.
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

/// Adapts the clap command to the words before the cursor.
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

/// Hides options, so completion offers only names. Options are offered after a dash.
fn hide_options(command: clap::Command) -> clap::Command {
    command
        .mut_args(|arg| {
            let is_option = !arg.is_positional();
            arg.hide(is_option)
        })
        .mut_subcommands(hide_options)
}

/// Returns the inputs of `skill` as clap options.
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

/// Creates an option. Its name is leaked, which is fine because the process exits after its reply.
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
