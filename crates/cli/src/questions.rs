//! Interactive questions outside of runs: selection, multiple selection, confirmation, hidden text.
//!
//! `inquire` draws them on stderr. Texts may come from files of other programs, so control characters are
//! escaped here. Not here: approvals of runs, which can be cancelled while they are asked (`prompt.rs`).

use std::io::{self, IsTerminal};

use deft_wire::FailureKind;
use deft_wire::model::visible;
use inquire::ui::RenderConfig;
use inquire::{Confirm, InquireError, MultiSelect, Password, PasswordDisplayMode, Select, Text};

use crate::args::Global;
use crate::failure::{Done, Failure};
use crate::output::Output;
use crate::terminal::Stream;

/// The number of choices shown at once.
const PAGE: usize = 12;

/// Asks questions at the terminal.
pub(crate) struct Questions {
    look: RenderConfig<'static>,
}

impl Questions {
    /// Returns `None` without a terminal, or if the options do not allow questions.
    pub(crate) fn new(global: &Global, output: &Output) -> Option<Self> {
        let terminal = io::stdin().is_terminal() && Stream::Err.is_terminal();
        let allowed = terminal && !global.no_input && !global.json;
        allowed.then(|| Self {
            look: if output.styles_stderr() {
                RenderConfig::default_colored()
            } else {
                RenderConfig::empty()
            },
        })
    }

    /// Asks for one of `options` and returns its index, or `None` if the person skips the question.
    pub(crate) fn select(&self, question: &str, options: &[String]) -> Done<Option<usize>> {
        let options = options.iter().map(|option| visible(option)).collect();
        let asked = Select::new(question, options)
            .with_page_size(PAGE)
            .with_help_message("↑↓ to move, enter to choose, esc to skip")
            .without_filtering()
            .with_render_config(self.look)
            .raw_prompt();
        Ok(answer(asked)?.map(|option| option.index))
    }

    /// Asks for any number of `options` and returns their indices. Those in `ticked` are preselected.
    pub(crate) fn tick(
        &self,
        question: &str,
        options: &[String],
        ticked: &[usize],
    ) -> Done<Vec<usize>> {
        let options = options.iter().map(|option| visible(option)).collect();
        let asked = MultiSelect::new(question, options)
            .with_page_size(PAGE)
            .with_default(ticked)
            .with_help_message("↑↓ to move, space to tick, → all, ← none, enter to continue")
            .without_filtering()
            .with_render_config(self.look)
            .raw_prompt();
        let chosen = answer(asked)?.unwrap_or_default();
        Ok(chosen.iter().map(|option| option.index).collect())
    }

    /// Asks a yes-or-no question. Skipping it means no.
    pub(crate) fn confirm(&self, question: &str, default: bool) -> Done<bool> {
        let asked = Confirm::new(&visible(question))
            .with_default(default)
            .with_render_config(self.look)
            .prompt();
        Ok(answer(asked)?.unwrap_or(false))
    }

    /// Asks for a line of text. Enter accepts `proposal`.
    pub(crate) fn text(&self, question: &str, proposal: &str) -> Done<Option<String>> {
        let proposal = visible(proposal);
        let asked = Text::new(&visible(question))
            .with_default(&proposal)
            .with_render_config(self.look)
            .prompt();
        Ok(answer(asked)?.map(|text| text.trim().to_owned()))
    }

    /// Asks for a line of text without echoing it. The line may be empty.
    pub(crate) fn hidden_text(&self, question: &str) -> Done<Option<String>> {
        let asked = Password::new(&visible(question))
            .without_confirmation()
            .with_display_mode(PasswordDisplayMode::Hidden)
            .with_render_config(self.look)
            .prompt();
        answer(asked)
    }
}

/// Converts an answer of `inquire`: Esc skips the question (`None`), ctrl-c ends the command (`Err`).
fn answer<T>(asked: Result<T, InquireError>) -> Done<Option<T>> {
    match asked {
        Ok(answer) => Ok(Some(answer)),
        Err(InquireError::OperationCanceled) => Ok(None),
        Err(InquireError::OperationInterrupted) => Err(Failure {
            kind: FailureKind::Interrupted,
            ..Failure::input("interrupted", "cancelled")
        }),
        Err(problem) => Err(Failure::input(
            "terminal",
            format!("cannot ask at this terminal: {problem}"),
        )),
    }
}
