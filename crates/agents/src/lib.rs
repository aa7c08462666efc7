//! The work of the engine around an agent step: choosing the agent and its model, building its prompt and its
//! tools, resolving and permitting its calls, and limiting what it spends.
//!
//! The agent itself is a state machine (`deft-agent`); the engine drives it inside a run. Not here: runs,
//! wire formats of models, and any storage besides the journal of the run.

mod allowed_tools;
mod authority;
mod budget;
mod chat;
mod chat_run;
mod context;
mod dispatch_run;
mod facts;
mod history;
mod memory;
mod model_choice;
mod need;
mod offers;
mod one_agent;
mod options;
mod prepare;
mod remote_skills;
mod sent_out;
mod standing_grants;
mod tool_names;

use std::path::PathBuf;
use std::sync::Arc;

use deft_base::Base;
use deft_library::Library;
use deft_llm::Models;
use deft_model::Authority;
use deft_store::{RunRow, Store};
use deft_tools::Router;
use deft_workflow::{AgentStep, Path};
use parking_lot::Mutex;

pub use authority::{Verdict, inside};
pub use budget::{AgentPause, BudgetExceeded, Exhaustion, Payer, Payers, Spending, payers};
pub use chat::{ChatMessage, Preview};
pub use chat_run::{
    ALONE, ANSWER_TO, MODEL, answer_to, chat_inputs, chosen_model, conversation_of,
};
pub use dispatch_run::DispatchInputs;
pub use facts::AgentFacts;
pub use history::{begin_message, end_messages, first_message, text_of};
pub use memory::show_memory_tools;
pub use one_agent::{AgentSkill, agent_input, agent_skill};
pub use options::{AgentOptions, Budgets, DayBudget};
pub use prepare::failure_of_error;
pub use remote_skills::{allows_skill, approve_skill, forget_skill, is_for_skill, skill_grant};
pub use standing_grants::{allows_tool, tool_grant};
pub use tool_names::{
    AgentTool, DISPATCH_AGENT, GET_SKILL, MemoryTool, OwnTool, RecordTool, SKILL, SKILL_RUN,
    USE_SKILL,
};

/// Prepares agents, decides about their calls and counts what they spend.
pub struct Agents {
    base: Base,
    library: Arc<Library>,
    router: Router,
    options: AgentOptions,
    /// Folders with skills, agents and settings: writing there needs an approval.
    protected: Vec<PathBuf>,
    grants: standing_grants::StandingGrants,
    models: Mutex<Models>,
    budgets: Mutex<Arc<Budgets>>,
}

impl Agents {
    /// Creates agents with the skills of a library, the tools of a router and these models.
    pub fn new(
        base: Base,
        library: Arc<Library>,
        router: Router,
        models: Models,
        options: AgentOptions,
        protected: Vec<PathBuf>,
    ) -> Self {
        Self {
            base,
            library,
            router,
            protected,
            grants: standing_grants::StandingGrants::default(),
            models: Mutex::new(models),
            budgets: Mutex::new(Arc::new(options.budgets.clone())),
            options,
        }
    }

    /// Returns the models currently configured.
    pub fn models(&self) -> Models {
        self.models.lock().clone()
    }

    /// Replaces the models. Requests in flight are still answered.
    pub fn set_models(&self, models: Models) {
        *self.models.lock() = models;
        self.base.bells().models.notify_waiters();
    }

    /// Replaces the limits. An agent that an old limit paused resumes if the new one allows it.
    pub fn set_budgets(&self, budgets: Budgets) {
        *self.budgets.lock() = Arc::new(budgets);
    }

    fn budgets(&self) -> Arc<Budgets> {
        Arc::clone(&self.budgets.lock())
    }

    fn store(&self) -> &Arc<dyn Store> {
        self.base.store()
    }
}

/// The step and the run for which an agent begins.
pub struct Brief {
    /// The run.
    pub run: RunRow,
    /// The step.
    pub step: AgentStep,
    /// The path of the step.
    pub path: Path,
    /// The task, rendered.
    pub instructions: String,
    /// The rights of the step, unless it has those of a person.
    pub authority: Option<Authority>,
}
