//! Converts a command of Claude Code. With arguments it becomes a workflow with one step that asks a model,
//! because only workflows have inputs; without arguments it becomes a playbook with its name as keyword.

use std::collections::BTreeSet;

use deft_model::{
    Body, Dialect, Input, InputType, Object, OpenSpec, Skill, SkillId, Step, StepKind, Text,
    Workflow,
};
use deft_skillfile::{Moment, render, slug};

use super::page::Page;
use super::tools::KnownTools;
use super::{ClaudeFile, ConvertedForm, ConvertedPage, keys_note};
use crate::skills::import::escape::escape;

/// The keys that are read.
const KEYS: &[&str] = &["argument-hint", "arguments", "description"];

/// The placeholder for all arguments.
const ALL: &str = "$ARGUMENTS";

pub(in crate::skills::import) fn command(
    file: &ClaudeFile,
    moment: &Moment,
) -> Result<ConvertedPage, String> {
    let page = Page::read(&file.path, moment)?;
    if page.text.is_empty() {
        return Err("the command has no text".to_owned());
    }
    let stem = file.path.file_stem().unwrap_or_default().to_string_lossy();
    let id = slug(&format!("{} {stem}", file.folders.join(" ")));
    let mut notes = Vec::new();
    let text = without_shell(&page.text, &mut notes);
    note_references(&text, &mut notes);
    let tools = page
        .skill
        .open
        .allowed_tools
        .as_ref()
        .map(KnownTools::from_value);
    let tools = tools.unwrap_or_default();
    notes.extend(tools.notes());
    notes.extend(keys_note(&page.other_keys(KEYS)));
    let arguments = Arguments::in_text(&text);
    let (form, content) = if arguments.is_empty() {
        (
            ConvertedForm::Playbook,
            playbook(&page, &id, &text, tools.tools),
        )
    } else {
        let content = workflow(&page, &id, &arguments, &text, tools.tools);
        (ConvertedForm::Workflow, content)
    };
    Ok(ConvertedPage {
        id,
        form,
        content,
        notes,
    })
}

/// The arguments that a page uses.
#[derive(Debug, Default, PartialEq, Eq)]
struct Arguments {
    all: bool,
    numbers: BTreeSet<u8>,
}

impl Arguments {
    fn in_text(text: &str) -> Self {
        let numbers = text
            .match_indices('$')
            .filter_map(|(at, _)| number_at(text, at));
        Self {
            all: text.contains(ALL),
            numbers: numbers.collect(),
        }
    }

    fn is_empty(&self) -> bool {
        !self.all && self.numbers.is_empty()
    }

    fn inputs(&self, hint: Option<&str>) -> Vec<Input> {
        let about = |what: &str| match hint {
            Some(hint) => format!("{what} of `{hint}`"),
            None => what.to_owned(),
        };
        let all = self.all.then(|| input("arguments", about("the arguments")));
        let numbered = self.numbers.iter().map(|number| {
            input(
                &format!("arg{number}"),
                about(&format!("argument {number}")),
            )
        });
        all.into_iter().chain(numbered).collect()
    }
}

/// Returns the number after a `$`, from 1 to 9, if it is an argument: `$1` is one, `$10.50` is a price.
fn number_at(text: &str, at: usize) -> Option<u8> {
    let mut rest = text[at + 1..].chars();
    let digit = rest.next()?.to_digit(10).filter(|digit| *digit > 0)?;
    let next = rest.next();
    let stands_alone = !next.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_price = next == Some('.') && rest.next().is_some_and(|c| c.is_ascii_digit());
    if !stands_alone || is_price {
        return None;
    }
    u8::try_from(digit).ok()
}

fn input(name: &str, description: String) -> Input {
    Input {
        name: name.to_owned(),
        kind: InputType::String,
        required: false,
        default: Some("".into()),
        description: Some(description),
        pattern: None,
        choices: Vec::new(),
        max_length: None,
    }
}

/// Converts the text of the page into a template.
fn template(text: &str) -> String {
    let text = escape(text).replace(ALL, "{{ inputs.arguments }}");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        match number_at(rest, at) {
            Some(number) => {
                out.push_str(&format!("{{{{ inputs.arg{number} }}}}"));
                rest = &rest[at + 2..];
            }
            None => {
                out.push('$');
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    // A brace directly before an expression would become part of it.
    out.replace("{{{ inputs.", "{{ '{' }}{{ inputs.")
}

fn workflow(
    page: &Page,
    id: &str,
    arguments: &Arguments,
    text: &str,
    tools: Vec<String>,
) -> String {
    let step = StepKind::Agent {
        instructions: template(text),
        tools,
        max_steps: None,
    };
    let hint = page.text_key("argument-hint");
    let skill = Skill {
        dialect: Dialect::Workflow,
        body: Body::Steps(Box::new(Workflow {
            inputs: arguments.inputs(hint),
            steps: vec![Step::new("answer", step)],
            outputs: Object::from_iter([("answer".to_owned(), "{{ answer }}".into())]),
            confirmations: Vec::new(),
        })),
        ..base(page, id)
    };
    render::workflow(&skill).unwrap_or_default()
}

fn playbook(page: &Page, id: &str, text: &str, tools: Vec<String>) -> String {
    let skill = Skill {
        dialect: Dialect::AgentSkills,
        keywords: keywords(id),
        required_tools: tools,
        body: Body::Instructions(Text::from(text)),
        ..base(page, id)
    };
    render::agentskills(&skill)
}

/// Returns the keywords of the playbook. A single word would match too many messages.
fn keywords(id: &str) -> Vec<String> {
    let words = id.replace('-', " ");
    if words.contains(' ') {
        return vec![words];
    }
    vec![format!("run {words}"), format!("{words} command")]
}

/// Returns the skill of the page without fields that only Claude Code reads.
fn base(page: &Page, id: &str) -> Skill {
    let mut skill = page.skill.clone();
    skill.id = SkillId::new(id);
    id.clone_into(&mut skill.name);
    skill.extra = Object::new();
    skill.open = OpenSpec {
        license: skill.open.license,
        ..OpenSpec::default()
    };
    skill
}

/// Disables inline shell commands, which Claude Code runs before the model reads the page: `!` and a command
/// in backticks. The command stays as text, so that the model knows its purpose.
fn without_shell(text: &str, notes: &mut Vec<String>) -> String {
    let mut commands = Vec::new();
    let lines = text.lines().map(|line| {
        let mut line = line.to_owned();
        while let Some(at) = line.find("!`") {
            let command = line[at + 2..].split('`').next().unwrap_or_default();
            commands.push(format!("`{command}`"));
            line.remove(at);
        }
        line
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    if !commands.is_empty() {
        notes.push(format!("not kept: output of {}", commands.join(", ")));
    }
    text
}

/// Adds a note about `@path`, which inserts a file into the prompt of Claude Code; deft leaves it as text.
fn note_references(text: &str, notes: &mut Vec<String>) {
    let words = text.split_whitespace();
    let words = words.map(|word| word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']));
    let files = words.filter(|word| {
        let path = word.strip_prefix('@');
        path.is_some_and(|path| path.contains(['/', '.']) && !path.contains('@'))
    });
    let files: Vec<String> = files.map(|file| format!("`{file}`")).collect();
    if !files.is_empty() {
        notes.push(format!("not kept: content of {}", files.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_become_inputs() {
        assert_eq!(template("{$ARGUMENTS}"), "{{ '{' }}{{ inputs.arguments }}}");
        let text = "Fix $1 with $ARGUMENTS for $10.50, {{ not }} $2x $HOME.";
        let found = Arguments::in_text(text);
        assert!(found.all);
        assert_eq!(found.numbers, BTreeSet::from([1]));
        assert_eq!(
            template(text),
            "Fix {{ inputs.arg1 }} with {{ inputs.arguments }} for $10.50, {{ '{{' }} not }} $2x $HOME."
        );
    }

    #[test]
    fn shell_lines_are_kept_as_text() {
        let mut notes = Vec::new();
        let text = without_shell("Status: !`git status`\nno !bang", &mut notes);
        assert_eq!(text, "Status: `git status`\nno !bang");
        assert_eq!(notes, ["not kept: output of `git status`"]);
    }
}
