//! The one decision about calls on the authority of an agent: free, after a person's yes, or never.
//!
//! A direct call of a model and a call of a skill that the model stored, queued or ran are judged by
//! the same function, so that no detour needs fewer questions than the direct way. What a call
//! causes later counts with it (`caused.rs`); writing into deft's own folders counts as well
//! (`paths.rs`), because a file there is a skill with a person's authority.
//!
//! Not here: asking (`deft-engine`), what a standing grant covers and what a stored record carries
//! (`deft-library`).

mod caused;
mod changed;
mod paths;

use deft_agent::{Consent, Coverage};
use deft_model::{Authority, Failure, FailureClass, Object};
use deft_tools::{ToolInfo, ToolLookup};
use deft_workflow::{Permit, ToolMark};

use crate::Agents;
use crate::offers::needs_approval;
use crate::standing_grants::mark;

pub use caused::inside;
use deft_library::denied;

/// How deep calls may be nested in the arguments of other calls.
const MOST_NESTED: u32 = 8;

/// The decision about a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It needs no question.
    Free,
    /// A person has to agree.
    Ask(Consent),
    /// The tool is not listed now, so that nothing can be decided.
    Absent,
    /// It may not be made, and this is why.
    Denied(String),
}

impl Agents {
    /// Decides about a call on an authority. Arguments that are not known yet are absent.
    pub(crate) fn judge(
        &self,
        authority: &Authority,
        tool: &str,
        args: Option<&Object>,
    ) -> Verdict {
        self.judge_nested(authority, tool, args, 0)
    }

    fn judge_nested(
        &self,
        authority: &Authority,
        tool: &str,
        args: Option<&Object>,
        depth: u32,
    ) -> Verdict {
        if depth > MOST_NESTED {
            return Verdict::Denied(format!("calls are nested more than {MOST_NESTED} levels"));
        }
        let info = match self.router.find(tool) {
            ToolLookup::Tool(info) => info,
            // The call fails and names the candidates.
            ToolLookup::Ambiguous(_) => return Verdict::Free,
            ToolLookup::Unknown { .. } | ToolLookup::Missing { .. } => return Verdict::Absent,
        };
        let names = [info.shown.as_str(), info.name.as_str(), &info.full_name()];
        // Which skills may be run is a list of its own.
        let runs_skills = info.builtin && crate::AGENT_TOOLS.contains(&info.name.as_str());
        if !runs_skills && !authority.allows(&names) {
            return Verdict::Denied(not_allowed(tool, authority));
        }
        let caused = match self.caused(authority, &info, args, depth) {
            Ok(caused) => caused,
            Err(why) => return Verdict::Denied(why),
        };
        let asks = self.always_asks(authority, &info, args);
        let open = !asks && self.is_left_open(authority, &info);
        let itself = (asks || open) && !authority.has_agreed(&names);
        if !itself && caused.is_free() {
            return Verdict::Free;
        }
        let left_open = (itself && open).then(|| left_open(tool, args));
        Verdict::Ask(Consent {
            question: caused.question.or(left_open),
            covers: (!caused.tools.is_empty()).then_some(Coverage {
                tools: caused.tools,
                revision: caused.revision,
                by_person: false,
            }),
        })
    }

    /// The same for a step of a workflow.
    pub fn permit(&self, authority: &Authority, tool: &str, args: Option<&Object>) -> Permit {
        match self.judge(authority, tool, args) {
            // `decide_call` decides before the call is made.
            Verdict::Free | Verdict::Absent => Permit::Free,
            Verdict::Ask(consent) => {
                let question = consent.question.unwrap_or_else(|| question(tool, args));
                Permit::Ask(format!("Agent `{}` asks: {question}", authority.agent))
            }
            Verdict::Denied(why) => Permit::Denied(denied(why)),
        }
    }

    /// Refuses a call that needs an approval where no question can be asked: a remedy, a check before a
    /// run.
    pub fn refuse_unasked(
        &self,
        authority: Option<&Authority>,
        tool: &str,
        args: &Object,
    ) -> Result<(), Failure> {
        let Some(authority) = authority else {
            return Ok(());
        };
        match self.judge(authority, tool, Some(args)) {
            Verdict::Free => Ok(()),
            Verdict::Absent => Err(absent(tool)),
            Verdict::Ask(_) => Err(denied(format!(
                "`{tool}` needs an approval, and a remedy or a check before a run cannot ask for one"
            ))),
            Verdict::Denied(why) => Err(denied(why)),
        }
    }

    /// The last decision before a step calls a tool: the tool may have been listed since the step began.
    /// `agreed` if a person has agreed to the step. A failure lets the step begin again, and ask.
    pub fn decide_call(
        &self,
        authority: Option<&Authority>,
        tool: &str,
        args: &Object,
        agreed: bool,
    ) -> Result<(), Failure> {
        let Some(authority) = authority else {
            return Ok(());
        };
        match self.judge(authority, tool, Some(args)) {
            Verdict::Free => Ok(()),
            Verdict::Ask(_) if agreed => Ok(()),
            Verdict::Ask(_) | Verdict::Absent => Err(absent(tool)),
            Verdict::Denied(why) => Err(denied(why)),
        }
    }

    /// Whether a call needs a yes each time: its tool is one of `approve`, or it writes into deft's own
    /// folders.
    fn always_asks(&self, authority: &Authority, info: &ToolInfo, args: Option<&Object>) -> bool {
        needs_approval(info, &authority.approve) || self.writes_home(info, args)
    }

    /// Whether a call needs a yes because the server of its tool leaves open whether it destroys
    /// something, and no person has said yes to all of its calls.
    fn is_left_open(&self, authority: &Authority, info: &ToolInfo) -> bool {
        let asks = authority.ask_unannotated && info.annotations.leaves_open();
        asks && !self.grants.has_tool(info)
    }

    /// The tool of a call that needs a yes for no other reason, so that a person may agree to all of its
    /// calls at once.
    pub fn tool_to_remember(
        &self,
        authority: &Authority,
        tool: &str,
        args: &Object,
    ) -> Option<ToolMark> {
        let ToolLookup::Tool(info) = self.router.find(tool) else {
            return None;
        };
        let asks = self.always_asks(authority, &info, Some(args));
        (!asks && self.is_left_open(authority, &info)).then(|| mark(&info))
    }

    /// Whether a call writes into a folder from which deft loads skills, agents or settings.
    fn writes_home(&self, info: &ToolInfo, args: Option<&Object>) -> bool {
        let Some(args) = args else {
            return false;
        };
        let router = &self.router;
        if router.effects_of(&info.full_name(), args) == Some(deft_model::Effects::None) {
            return false;
        }
        let folders = &self.protected;
        let file = router.file_of(&info.full_name(), args);
        file.is_some_and(|file| paths::is_inside(folders, &file)) || paths::mentions(folders, args)
    }
}

fn question(tool: &str, args: Option<&Object>) -> String {
    match args.filter(|args| !args.is_empty()) {
        Some(args) => format!("call `{tool}` with {}?", caused::brief(args)),
        None => format!("call `{tool}`?"),
    }
}

/// The question about a tool whose server leaves open what it does.
fn left_open(tool: &str, args: Option<&Object>) -> String {
    let call = question(tool, args).replacen("call", "Call", 1);
    format!("{call} Its server does not say whether it changes or deletes something.")
}

fn not_allowed(tool: &str, authority: &Authority) -> String {
    format!(
        "`{tool}` is not one of the tools of agent `{}`, which asks for the call",
        authority.agent
    )
}

/// A step that meets this waits, and is decided anew once its server has listed its tools.
pub(crate) fn absent(tool: &str) -> Failure {
    let message = format!("`{tool}` was not listed when its call was decided");
    Failure::new(FailureClass::NotFound, message)
        .hint(
            "`deft tools list` shows the tools of all servers, `deft doctor` which servers answer",
        )
        .blocked()
}
