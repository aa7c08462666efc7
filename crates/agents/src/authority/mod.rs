//! The decision about calls with the rights of an agent: free, after a person's approval, or never.
//!
//! A direct call of a model and a call by a skill that the model stored, queued or ran are decided by the
//! same function, so that no detour avoids a question. Later consequences of a call count too (`consequences.rs`),
//! and so does writing into deft's own folders (`paths.rs`), because a file there is a skill with a person's
//! rights.
//!
//! Not here: asking (`deft-engine`), what a standing grant covers and which rights a stored record has
//! (`deft-library`).

mod changed;
mod consequences;
mod paths;

use deft_agent::{Consent, Coverage};
use deft_model::{Authority, Failure, FailureClass, Object, call_words};
use deft_tools::{ToolInfo, ToolLookup};
use deft_workflow::{Permit, ToolMark};

use crate::Agents;
use crate::offers::needs_approval;
use crate::standing_grants::mark;
use crate::tool_names::AgentTool;

pub use consequences::inside;
use deft_library::denied_failure;

/// Maximum depth of calls inside the arguments of other calls.
const MAX_NESTING: u32 = 8;

/// The decision about a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It needs no approval.
    Free,
    /// A person has to approve it.
    Ask(Consent),
    /// No server lists the tool now, so nothing can be decided.
    Absent,
    /// It is forbidden, with the reason.
    Denied(String),
}

impl Agents {
    /// Decides about a call with the rights of an agent. Arguments that are not known yet are absent.
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
        if depth > MAX_NESTING {
            return Verdict::Denied(format!("calls are nested more than {MAX_NESTING} levels"));
        }
        let info = match self.router.find(tool) {
            ToolLookup::Tool(info) => info,
            // The call fails and lists the candidates.
            ToolLookup::Ambiguous(_) => return Verdict::Free,
            ToolLookup::Unknown { .. } | ToolLookup::Missing { .. } => return Verdict::Absent,
        };
        let names = [info.shown.as_str(), info.name.as_str(), &info.full_name()];
        // The skills that an agent may run are a separate list.
        let runs_skills = info.builtin && AgentTool::from_name(&info.name).is_some();
        if !runs_skills && !authority.allows(&names) {
            return Verdict::Denied(not_allowed(tool, authority));
        }
        let consequences = match self.consequences_of_call(authority, &info, args, depth) {
            Ok(consequences) => consequences,
            Err(why) => return Verdict::Denied(why),
        };
        let asks = self.always_asks(authority, &info, args);
        let open = !asks && self.is_left_open(authority, &info);
        let itself = (asks || open) && !authority.has_agreed(&names);
        if !itself && consequences.is_free() {
            return Verdict::Free;
        }
        let left_open = (itself && open).then(|| left_open(tool, args));
        Verdict::Ask(Consent {
            question: consequences.question.or(left_open),
            covers: (!consequences.tools.is_empty()).then_some(Coverage {
                tools: consequences.tools,
                revision: consequences.revision,
                by_person: false,
            }),
        })
    }

    /// Decides about a call of a step of a workflow, like a call of a model.
    pub fn permit(&self, authority: &Authority, tool: &str, args: Option<&Object>) -> Permit {
        match self.judge(authority, tool, args) {
            // `decide_call` decides before the call is made.
            Verdict::Free | Verdict::Absent => Permit::Free,
            Verdict::Ask(consent) => {
                let question = consent.question.unwrap_or_else(|| question(tool, args));
                Permit::Ask(format!("Agent `{}` asks: {question}", authority.agent))
            }
            Verdict::Denied(why) => Permit::Denied(denied_failure(why)),
        }
    }

    /// Refuses a call that needs an approval where no question can be asked: a heal rule or a preflight
    /// check.
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
            Verdict::Ask(_) => Err(denied_failure(format!(
                "`{tool}` needs approval, which a `heal` rule or `preflight` cannot request"
            ))),
            Verdict::Denied(why) => Err(denied_failure(why)),
        }
    }

    /// Decides once more before a step calls a tool, because the tool may have been listed since the step
    /// began. `agreed` means that a person has approved the step. After a failure the step begins again and
    /// asks.
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
            Verdict::Denied(why) => Err(denied_failure(why)),
        }
    }

    /// Whether a call needs an approval each time: its tool is in `approve`, or it writes into deft's own
    /// folders.
    fn always_asks(&self, authority: &Authority, info: &ToolInfo, args: Option<&Object>) -> bool {
        needs_approval(info, &authority.approve) || self.writes_home(info, args)
    }

    /// Whether a call needs an approval because the server of its tool does not declare whether it is
    /// destructive, and no person has approved all of its calls.
    fn is_left_open(&self, authority: &Authority, info: &ToolInfo) -> bool {
        let asks = authority.ask_unannotated && info.annotations.leaves_open();
        asks && !self.grants.has_tool(info)
    }

    /// Returns the tool of a call that needs an approval for no other reason, so that a person may approve
    /// all of its calls at once.
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
    format!(
        "call {}?",
        call_words(tool, args, consequences::MAX_SHOWN_CHARS)
    )
}

/// Returns the question about a tool whose server does not declare its effects.
fn left_open(tool: &str, args: Option<&Object>) -> String {
    let call = question(tool, args).replacen("call", "Call", 1);
    format!("{call} Its server does not say whether it changes or deletes something.")
}

fn not_allowed(tool: &str, authority: &Authority) -> String {
    format!("agent `{}` may not call `{tool}`", authority.agent)
}

/// Returns the failure for a tool that is not listed. Its step waits, and is decided again after the server
/// has listed its tools.
pub(crate) fn absent(tool: &str) -> Failure {
    let message = format!("`{tool}` was not available when its call was checked");
    Failure::new(FailureClass::NotFound, message)
        .hint(
            "`deft tools list` shows the tools of all servers, `deft doctor` which servers answer",
        )
        .mark_blocked()
}
