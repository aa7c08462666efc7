//! Why the engine did not do what it was asked: one error type for its crates, so that codes and hints
//! are in one place.

use deft_command::Problem;
use deft_model::ProblemCode;
use deft_workflow::InputProblem;

/// The engine could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such skill.
    #[error("unknown skill `{name}`")]
    UnknownSkill {
        /// What was asked for.
        name: String,
        /// A skill with a similar name.
        near: Option<String>,
    },
    /// No such agent.
    #[error("unknown agent `{name}`")]
    UnknownAgent {
        /// What was asked for.
        name: String,
        /// An agent with a similar name.
        near: Option<String>,
    },
    /// An agent cannot begin.
    #[error("{0}")]
    Agent(deft_model::Failure),
    /// A pattern of a standing permission that does not fit what it was asked for.
    #[error("`{argument}={allowed}` does not fit what is to be approved: {why}", allowed = plain(allowed))]
    Pattern {
        /// The argument.
        argument: String,
        /// What was allowed.
        allowed: serde_json::Value,
        /// Why not.
        why: String,
    },
    /// No such conversation.
    #[error("unknown conversation `{id}`")]
    UnknownConversation {
        /// What was asked for.
        id: String,
    },
    /// A file that should define the skill is broken.
    #[error("skill `{name}` is broken: `{path}` cannot be loaded")]
    BrokenSkill {
        /// What was asked for.
        name: String,
        /// The file.
        path: String,
    },
    /// A key that belongs to a run of another skill.
    #[error("the key `{key}` belongs to run `{run}` of skill `{skill}`")]
    KeyTaken {
        /// The key.
        key: String,
        /// The run.
        run: String,
        /// Its skill.
        skill: String,
    },
    /// Another process has decided the slot, or the skill was changed meanwhile.
    #[error("the slot of skill `{skill}` is settled already")]
    SlotGone {
        /// The skill.
        skill: String,
    },
    /// A record that is not stored, with everything that is wrong with it.
    #[error("{0}")]
    Refused(deft_records::Refusal),
    /// A name that something else has.
    #[error("the name `{name}` is taken by {by}")]
    NameTaken {
        /// The name.
        name: String,
        /// What has it.
        by: String,
    },
    /// A skill that an assistant deleted.
    #[error("skill `{skill}` was deleted by an assistant; its file is still there")]
    DeletedSkill {
        /// The skill.
        skill: String,
    },
    /// Only a record has a content of its own.
    #[error("skill `{skill}` is a file, not a record")]
    NotARecord {
        /// The skill.
        skill: String,
    },
    /// The request names no skill.
    #[error("there is neither an `id` nor a `name` to say which skill is meant")]
    NoTarget,
    /// A skill that cannot be switched on.
    #[error("skill `{skill}` cannot be enabled: {why}")]
    NotEnabled {
        /// The skill.
        skill: String,
        /// Why not.
        why: String,
    },
    /// Inputs that the skill does not take.
    #[error("{}", problems(.0))]
    Inputs(Vec<InputProblem>),
    /// Flags that the page or the tool of a command does not take.
    #[error("{}", flags(.0))]
    Flags(Vec<Problem>),
    /// No such run.
    #[error("unknown run `{id}`")]
    UnknownRun {
        /// What was asked for.
        id: String,
    },
    /// The beginning of an id fits several runs.
    #[error("`{id}` fits {count} runs")]
    AmbiguousRun {
        /// What was asked for.
        id: String,
        /// How many it fits.
        count: u64,
        /// The newest of them, each with its skill.
        first: Vec<String>,
    },
    /// A run that cannot be resumed.
    #[error("run `{run}` {why}")]
    NotResumable {
        /// The run.
        run: String,
        /// Why not.
        why: String,
        /// What to do instead.
        hint: Option<String>,
    },
    /// A step that is not in the skill.
    #[error("skill `{skill}` has no step `{step}`")]
    UnknownStep {
        /// The skill.
        skill: String,
        /// What was asked for.
        step: String,
        /// A step with a similar name.
        near: Option<String>,
    },
    /// A skill that does not compile; the loader should have said so.
    #[error("skill `{skill}` cannot be run: {why}")]
    Plan {
        /// The skill.
        skill: String,
        /// Why not.
        why: String,
    },
    /// A remedy in the configuration that does not compile.
    #[error("the remedy `{tool}` of the configuration: {why}")]
    Heal {
        /// Its tool.
        tool: String,
        /// What is wrong.
        why: String,
    },
    /// A standing grant for a call that is not known yet.
    #[error("what `{step}` would do is known only when it runs, so it cannot be allowed for good")]
    NotExact {
        /// The step.
        step: String,
    },
    /// The recorded events cannot be replayed.
    #[error("run `{run}` cannot be resumed: {why}")]
    Replay {
        /// The run.
        run: String,
        /// Why not.
        why: String,
    },
    /// The content of a pinned revision is nowhere to be found.
    #[error("revision `{revision}` of skill `{skill}` is not stored")]
    RevisionLost {
        /// The skill.
        skill: String,
        /// The revision.
        revision: String,
    },
    /// A skill that cannot be stored, so that its runs could not be resumed.
    #[error("skill `{skill}` cannot be stored as a {dialect}")]
    Unstorable {
        /// The skill.
        skill: String,
        /// How it would be written.
        dialect: String,
    },
    /// A row of the store that cannot be read.
    #[error("{what} cannot be read: {why}")]
    Unreadable {
        /// The row, in words.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// The store could not do its part.
    #[error(transparent)]
    Store(#[from] deft_store::Error),
    /// The lock of this process could not be taken.
    #[error("no lock can be taken in `{folder}`: {why}")]
    Owner {
        /// Where.
        folder: String,
        /// Why not.
        why: String,
    },
}

impl Error {
    /// A word for programs that says which problem of a command it is (S2.44).
    pub fn problem_code(&self) -> Option<ProblemCode> {
        match self {
            Self::Flags(problems) => problems.first().map(Problem::problem_code),
            Self::UnknownSkill { .. } | Self::DeletedSkill { .. } => {
                Some(ProblemCode::UnknownSkill)
            }
            Self::BrokenSkill { .. } => Some(ProblemCode::BrokenSkill),
            Self::Inputs(_) => Some(ProblemCode::InvalidInput),
            Self::UnknownAgent { .. }
            | Self::Agent(_)
            | Self::Pattern { .. }
            | Self::UnknownConversation { .. }
            | Self::KeyTaken { .. }
            | Self::SlotGone { .. }
            | Self::Refused(_)
            | Self::NameTaken { .. }
            | Self::NotARecord { .. }
            | Self::NoTarget
            | Self::NotEnabled { .. }
            | Self::UnknownRun { .. }
            | Self::AmbiguousRun { .. }
            | Self::NotResumable { .. }
            | Self::UnknownStep { .. }
            | Self::Plan { .. }
            | Self::Heal { .. }
            | Self::NotExact { .. }
            | Self::Replay { .. }
            | Self::RevisionLost { .. }
            | Self::Unstorable { .. }
            | Self::Unreadable { .. }
            | Self::Store(_)
            | Self::Owner { .. } => None,
        }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownSkill { near, .. } | Self::UnknownStep { near, .. } => near
                .as_ref()
                .map(|near| format!("did you mean `{near}`?"))
                .or_else(|| Some("`deft skills list` shows all skills".to_owned())),
            Self::UnknownAgent { name, near } => Some(match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("`agents/{name}/AGENT.md` in the home would define it"),
            }),
            Self::UnknownConversation { .. } => {
                Some("`deft chat list` shows all conversations".to_owned())
            }
            Self::Agent(failure) => failure.hint.clone(),
            Self::Inputs(problems) => match problems.as_slice() {
                [only] => only.hint.clone(),
                _ => None,
            },
            Self::Flags(problems) => match problems.as_slice() {
                [only] => only.hint(),
                _ => None,
            },
            Self::BrokenSkill { path, .. } => {
                Some(format!("`deft skills validate {path}` says why"))
            }
            Self::NameTaken { .. } => {
                Some("use another name, or change the skill that has it".to_owned())
            }
            Self::DeletedSkill { skill } => {
                Some(format!("`deft skills enable {skill}` brings it back"))
            }
            Self::NotARecord { skill } => {
                Some(format!("`deft skills show {skill}` names its file"))
            }
            Self::NotEnabled { .. } => Some("give it a new time first".to_owned()),
            Self::NoTarget => Some("`memory_list_skills` shows them".to_owned()),
            Self::NotExact { .. } => Some("approve it without `--always`".to_owned()),
            Self::Pattern { .. } => Some(
                "a pattern names an argument of the call and fits its value, such as `to=*@example.com`"
                    .to_owned(),
            ),
            Self::KeyTaken { .. } => Some("use another key".to_owned()),
            Self::UnknownRun { .. } => Some("`deft runs list` shows them".to_owned()),
            Self::AmbiguousRun { first, count, .. } => {
                let mut named = first.iter().map(|run| format!("\n  {run}")).collect::<String>();
                if *count > first.len() as u64 {
                    named.push_str("\n  …");
                }
                Some(format!("give more of the id:{named}"))
            }
            Self::NotResumable { hint, .. } => hint.clone(),
            Self::Store(error) => error.hint().map(Into::into),
            Self::SlotGone { .. } | Self::Refused(_) | Self::Plan { .. } | Self::Heal { .. } | Self::Replay { .. } | Self::RevisionLost { .. } | Self::Unstorable { .. } | Self::Unreadable { .. } | Self::Owner { .. } => None,
        }
    }
}

/// A value as a person writes it.
fn plain(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other @ (serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::Number(_)
        | serde_json::Value::Array(_)
        | serde_json::Value::Object(_)) => other.to_string(),
    }
}

/// One problem is the message; several are listed below it.
fn problems(problems: &[InputProblem]) -> String {
    let lines = problems.iter().map(|problem| {
        let hint = problem.hint.as_ref().filter(|_| problems.len() > 1);
        let hint = hint.map_or(String::new(), |hint| format!(" ({hint})"));
        format!("{}{hint}", problem.message)
    });
    listed(lines.collect(), "inputs are wrong")
}

fn flags(problems: &[Problem]) -> String {
    let lines = problems.iter().map(|problem| {
        let hint = problem.hint().filter(|_| problems.len() > 1);
        let hint = hint.map_or(String::new(), |hint| format!(" ({hint})"));
        format!("{problem}{hint}")
    });
    listed(lines.collect(), "flags are wrong")
}

fn listed(mut lines: Vec<String>, what: &str) -> String {
    match lines.len() {
        1 => lines.remove(0),
        count => format!("{count} {what}\n  {}", lines.join("\n  ")),
    }
}
