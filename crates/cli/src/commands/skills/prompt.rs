//! `deft skills prompt`: the skill list that a model gets.

use std::process::ExitCode;

use deft_service::skills::{prompt, prompt_folders, prompt_tool};

use crate::args::{Global, Prompt, PromptFormat};
use crate::failure::Done;
use crate::output::{Output, format_count};

pub(crate) fn run(args: &Prompt, global: &Global, output: &Output) -> Done {
    if !args.paths.is_empty() {
        output.content(&prompt_folders(&args.paths)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let workspace = global.workspace_of(&args.roots);
    match args.format {
        PromptFormat::Tool => output.document(&prompt_tool(&workspace)?)?,
        PromptFormat::Xml => {
            let list = prompt(&workspace, args.budget)?;
            if output.json {
                output.document(&list)?;
            } else {
                output.content(&list.text)?;
            }
            if !list.left_out.is_empty() {
                output.note(&format!(
                    "{} left out to stay within {} characters",
                    format_count(list.left_out.len(), "skill"),
                    args.budget
                ));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
