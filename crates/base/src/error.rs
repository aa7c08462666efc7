//! The error type shared by the crates of the engine, so that codes and hints are in one place.

use deft_command::Problem;
use deft_model::{Failure, FailureClass, ProblemCode, value_text};
use deft_workflow::InputProblem;

/// Why the engine refused or failed a request.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No skill has this name.
    #[error("unknown skill `{name}`")]
    UnknownSkill {
        /// The requested name.
        name: String,
        /// A skill with a similar name.
        near: Option<String>,
    },
    /// No agent has this name.
    #[error("unknown agent `{name}`")]
    UnknownAgent {
        /// The requested name.
        name: String,
        /// An agent with a similar name.
        near: Option<String>,
    },
    /// An agent cannot start.
    #[error("{0}")]
    Agent(deft_model::Failure),
    /// A pattern of a grant does not match the call that it would approve.
    #[error("pattern `{argument}={allowed}` does not match the call: {why}", allowed = value_text(allowed))]
    Pattern {
        /// The argument.
        argument: String,
        /// The pattern for its value.
        allowed: serde_json::Value,
        /// Why it does not match.
        why: String,
    },
    /// No conversation has this id.
    #[error("unknown conversation `{id}`")]
    UnknownConversation {
        /// The requested id.
        id: String,
    },
    /// The file that should define the skill is broken.
    #[error("skill `{name}` is broken: `{path}` cannot be loaded")]
    BrokenSkill {
        /// The requested name.
        name: String,
        /// The file.
        path: String,
    },
    /// The key belongs to a run of another skill.
    #[error("the key `{key}` belongs to run `{run}` of skill `{skill}`")]
    KeyTaken {
        /// The key.
        key: String,
        /// The run that has the key.
        run: String,
        /// The skill of that run.
        skill: String,
    },
    /// Another process has decided the slot, or the skill has changed since.
    #[error("the slot of skill `{skill}` was already handled")]
    SlotAlreadyHandled {
        /// The skill.
        skill: String,
    },
    /// A record was rejected; contains every problem found in it.
    #[error("{0}")]
    Refused(deft_records::Refusal),
    /// The name is already in use.
    #[error("the name `{name}` is taken by {by}")]
    NameTaken {
        /// The name.
        name: String,
        /// What uses it, in words.
        by: String,
    },
    /// An assistant has deleted the skill.
    #[error("skill `{skill}` was deleted by an assistant; its file is still there")]
    DeletedSkill {
        /// The skill.
        skill: String,
    },
    /// The request needs a record, but the skill is a file; only a record has its content in the store.
    #[error("skill `{skill}` is a file, not a record")]
    NotARecord {
        /// The skill.
        skill: String,
    },
    /// The request names no skill.
    #[error("`id` or `name` of the skill is missing")]
    NoTarget,
    /// The skill cannot be enabled.
    #[error("skill `{skill}` cannot be enabled: {why}")]
    NotEnabled {
        /// The skill.
        skill: String,
        /// Why it cannot.
        why: String,
    },
    /// The inputs do not match those that the skill declares.
    #[error("{}", problems(.0))]
    Inputs(Vec<InputProblem>),
    /// The flags do not match those that the page or the tool of a command declares.
    #[error("{}", flags(.0))]
    Flags(Vec<Problem>),
    /// No run has this id.
    #[error("unknown run `{id}`")]
    UnknownRun {
        /// The requested id.
        id: String,
    },
    /// The prefix of an id matches several runs.
    #[error("`{id}` matches {count} runs")]
    AmbiguousRun {
        /// The requested prefix.
        id: String,
        /// The number of runs that match.
        count: u64,
        /// The newest matching runs, each with its skill.
        first: Vec<String>,
    },
    /// The run cannot be resumed.
    #[error("run `{run}` {why}")]
    NotResumable {
        /// The run.
        run: String,
        /// Why it cannot.
        why: String,
        /// What to do instead.
        hint: Option<String>,
    },
    /// The skill has no such step.
    #[error("skill `{skill}` has no step `{step}`")]
    UnknownStep {
        /// The skill.
        skill: String,
        /// The requested step.
        step: String,
        /// A step with a similar name.
        near: Option<String>,
    },
    /// The skill does not compile although the loader accepted it.
    #[error("skill `{skill}` cannot be run: {why}")]
    Plan {
        /// The skill.
        skill: String,
        /// Why it does not.
        why: String,
    },
    /// A heal rule in the configuration does not compile.
    #[error("invalid heal rule `{tool}` in the configuration: {why}")]
    Heal {
        /// The tool of the rule.
        tool: String,
        /// Why it does not.
        why: String,
    },
    /// A grant was requested for a call whose arguments are known only when it runs.
    #[error(
        "the arguments of `{step}` are known only when it runs, so it cannot be approved \
         permanently"
    )]
    NotExact {
        /// The step.
        step: String,
    },
    /// The recorded events cannot be replayed.
    #[error("run `{run}` cannot be resumed: {why}")]
    Replay {
        /// The run.
        run: String,
        /// The reason.
        why: String,
    },
    /// The content of a pinned revision is not stored.
    #[error("revision `{revision}` of skill `{skill}` is not stored")]
    RevisionLost {
        /// The skill.
        skill: String,
        /// The revision.
        revision: String,
    },
    /// The skill cannot be stored, so its runs could not be resumed.
    #[error("skill `{skill}` cannot be stored as a {dialect}")]
    Unstorable {
        /// The skill.
        skill: String,
        /// The dialect in which it would be stored.
        dialect: String,
    },
    /// A row of the store cannot be parsed.
    #[error("{what} cannot be read: {why}")]
    Unreadable {
        /// The row, in words.
        what: String,
        /// The error of the parser.
        why: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] deft_store::Error),
    /// The lock file of this process could not be locked.
    #[error("cannot create a lock file in `{folder}`: {why}")]
    Owner {
        /// The folder of the lock file.
        folder: String,
        /// Why it could not.
        why: String,
    },
}

impl Error {
    /// Returns the [`ProblemCode`] of an error in a command, for programs (S2.44); `None` for all other
    /// errors.
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
            | Self::SlotAlreadyHandled { .. }
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

    /// Returns the failure of a tool call that ended with this error.
    pub fn failure(&self) -> Failure {
        let class = match self {
            Self::UnknownSkill { .. } | Self::DeletedSkill { .. } | Self::UnknownRun { .. } => {
                FailureClass::NotFound
            }
            Self::Store(_) => FailureClass::Other,
            Self::UnknownAgent { .. }
            | Self::Agent(_)
            | Self::Pattern { .. }
            | Self::UnknownConversation { .. }
            | Self::BrokenSkill { .. }
            | Self::KeyTaken { .. }
            | Self::SlotAlreadyHandled { .. }
            | Self::Refused(_)
            | Self::NameTaken { .. }
            | Self::NotARecord { .. }
            | Self::NoTarget
            | Self::NotEnabled { .. }
            | Self::Inputs(_)
            | Self::Flags(_)
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
            | Self::Owner { .. } => FailureClass::Invalid,
        };
        let mut failure = Failure::new(class, self.to_string());
        failure.hint = self.hint();
        failure.code = self.problem_code();
        failure
    }

    /// Returns the remedy for people; `None` if none is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownSkill { near, .. } | Self::UnknownStep { near, .. } => near
                .as_ref()
                .map(|near| format!("did you mean `{near}`?"))
                .or_else(|| Some("`deft skills list` shows all skills".to_owned())),
            Self::UnknownAgent { name, near } => Some(match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("create `agents/{name}/AGENT.md` in the home to define it"),
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
                Some(format!("`deft skills validate {path}` shows the problems"))
            }
            Self::NameTaken { .. } => {
                Some("use another name, or change the skill that has it".to_owned())
            }
            Self::DeletedSkill { skill } => {
                Some(format!("`deft skills enable {skill}` restores it"))
            }
            Self::NotARecord { skill } => {
                Some(format!("`deft skills show {skill}` names its file"))
            }
            Self::NotEnabled { .. } => Some("set a new time with `deft schedule add`, or restore its file".to_owned()),
            Self::NoTarget => Some("`memory_list_skills` lists all skills".to_owned()),
            Self::NotExact { .. } => Some("approve it without `--always`".to_owned()),
            Self::Pattern { .. } => Some(
                "name an argument of the call and a pattern that matches its value, such as `to=*@example.com`"
                    .to_owned(),
            ),
            Self::KeyTaken { .. } => Some("use another key".to_owned()),
            Self::UnknownRun { .. } => Some("`deft runs list` shows all runs".to_owned()),
            Self::AmbiguousRun { first, count, .. } => {
                let mut named = first.iter().map(|run| format!("\n  {run}")).collect::<String>();
                if *count > first.len() as u64 {
                    named.push_str("\n  …");
                }
                Some(format!("use a longer prefix:{named}"))
            }
            Self::NotResumable { hint, .. } => hint.clone(),
            Self::Store(error) => error.hint().map(Into::into),
            Self::SlotAlreadyHandled { .. } | Self::Refused(_) | Self::Plan { .. } | Self::Heal { .. } | Self::Replay { .. } | Self::RevisionLost { .. } | Self::Unstorable { .. } | Self::Unreadable { .. } | Self::Owner { .. } => None,
        }
    }
}

/// Formats problems with inputs: a single one as the whole message, several as an indented list.
fn problems(problems: &[InputProblem]) -> String {
    let lines = problems.iter().map(|problem| {
        let hint = problem.hint.as_ref().filter(|_| problems.len() > 1);
        let hint = hint.map_or(String::new(), |hint| format!(" ({hint})"));
        format!("{}{hint}", problem.message)
    });
    list_lines(lines.collect(), "invalid inputs")
}

fn flags(problems: &[Problem]) -> String {
    let lines = problems.iter().map(|problem| {
        let hint = problem.hint().filter(|_| problems.len() > 1);
        let hint = hint.map_or(String::new(), |hint| format!(" ({hint})"));
        format!("{problem}{hint}")
    });
    list_lines(lines.collect(), "invalid flags")
}

fn list_lines(mut lines: Vec<String>, what: &str) -> String {
    match lines.len() {
        1 => lines.remove(0),
        count => format!("{count} {what}\n  {}", lines.join("\n  ")),
    }
}
