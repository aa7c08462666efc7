//! deft's own tools: their names and effects. Code decides on these enums, never on the names.
//!
//! Not here: descriptions and arguments of the tools, and built-in tools that need no engine.

use deft_model::Effects;

/// Defines an enum of tools with the name and the effects of each.
macro_rules! tools {
    (
        $(#[$meta:meta])*
        $enum:ident { $( $(#[$doc:meta])* $tool:ident = $name:literal, $effects:ident; )+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $enum { $( $(#[$doc])* $tool ),+ }

        impl $enum {
            /// All of these tools.
            pub const ALL: &[Self] = &[$( Self::$tool ),+];

            /// Returns the tool with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|tool| tool.name() == name)
            }

            /// Returns the name.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$tool => $name ),+ }
            }

            /// Returns whether a call may be repeated.
            pub const fn effects(self) -> Effects {
                match self { $( Self::$tool => Effects::$effects ),+ }
            }
        }
    };
}

tools! {
    /// A tool through which agents use skills and other agents.
    AgentTool {
        /// Runs a skill and returns its outputs (S3.25). The key of the call is the key of the run, which never
        /// runs twice.
        SkillRun = "skill_run", Idempotent;
        /// Loads the text of a skill (S4.11).
        Skill = "skill", None;
        /// Shows domains and pages (S2.24 to S2.27).
        GetSkill = "get_skill", None;
        /// The older way to run a command (S2.50).
        UseSkill = "use_skill", Idempotent;
        /// Dispatches an agent (S2.59).
        DispatchAgent = "dispatch_agent", Once;
    }
}

tools! {
    /// A tool that stores skills or queues jobs.
    RecordTool {
        /// Stores a skill.
        StoreSkill = "memory_store_skill", Once;
        /// Changes a skill.
        UpdateSkill = "memory_update_skill", Idempotent;
        /// Lists skills.
        ListSkills = "memory_list_skills", None;
        /// Shows a skill.
        GetSkill = "memory_get_skill", None;
        /// Deletes a skill.
        DeleteSkill = "memory_delete_skill", Idempotent;
        /// Queues a job.
        QueueTask = "queue_task", Once;
        /// Shows a job.
        GetJobStatus = "get_job_status", None;
    }
}

tools! {
    /// A tool that reads conversations or maintains facts (S0.83).
    MemoryTool {
        /// Lists conversations.
        ConversationList = "conversation_list", None;
        /// Returns the messages of a conversation.
        ConversationRead = "conversation_read", None;
        /// Saves a fact.
        FactSave = "fact_save", Idempotent;
        /// Lists facts.
        FactList = "fact_list", None;
        /// Deletes a fact.
        FactDelete = "fact_delete", Idempotent;
    }
}

/// Name of [`AgentTool::SkillRun`].
pub const SKILL_RUN: &str = AgentTool::SkillRun.name();
/// Name of [`AgentTool::Skill`].
pub const SKILL: &str = AgentTool::Skill.name();
/// Name of [`AgentTool::GetSkill`].
pub const GET_SKILL: &str = AgentTool::GetSkill.name();
/// Name of [`AgentTool::UseSkill`].
pub const USE_SKILL: &str = AgentTool::UseSkill.name();
/// Name of [`AgentTool::DispatchAgent`].
pub const DISPATCH_AGENT: &str = AgentTool::DispatchAgent.name();

/// Tools that call commands; a model in command mode does not need them.
pub(crate) const FOR_COMMANDS: [&str; 2] = [USE_SKILL, GET_SKILL];

impl RecordTool {
    /// Whether it stores a skill permanently.
    pub fn stores_skill(self) -> bool {
        match self {
            Self::StoreSkill | Self::UpdateSkill => true,
            Self::ListSkills
            | Self::GetSkill
            | Self::DeleteSkill
            | Self::QueueTask
            | Self::GetJobStatus => false,
        }
    }

    /// Whether it stores a schedule or queues a job, which only a daemon runs later.
    pub fn schedules(self) -> bool {
        self.stores_skill() || self == Self::QueueTask
    }
}

/// Any of deft's own tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnTool {
    /// A tool for skills and agents.
    Agent(AgentTool),
    /// A tool for stored skills and jobs.
    Record(RecordTool),
    /// A tool for conversations and facts.
    Memory(MemoryTool),
}

impl OwnTool {
    /// Returns the tool with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let agent = AgentTool::from_name(name).map(Self::Agent);
        let record = || RecordTool::from_name(name).map(Self::Record);
        let memory = || MemoryTool::from_name(name).map(Self::Memory);
        agent.or_else(record).or_else(memory)
    }

    /// Whether it runs a skill, an agent or any other tool, and so may have any effect.
    pub fn runs_others(self) -> bool {
        match self {
            Self::Agent(tool) => match tool {
                AgentTool::SkillRun | AgentTool::UseSkill | AgentTool::DispatchAgent => true,
                AgentTool::Skill | AgentTool::GetSkill => false,
            },
            Self::Record(tool) => match tool {
                RecordTool::QueueTask => true,
                RecordTool::StoreSkill
                | RecordTool::UpdateSkill
                | RecordTool::ListSkills
                | RecordTool::GetSkill
                | RecordTool::DeleteSkill
                | RecordTool::GetJobStatus => false,
            },
            Self::Memory(_) => false,
        }
    }

    /// Whether it only adds things and changes nothing that exists.
    pub fn only_adds(self) -> bool {
        match self {
            Self::Agent(_) => false,
            Self::Record(tool) => match tool {
                RecordTool::StoreSkill => true,
                RecordTool::UpdateSkill
                | RecordTool::ListSkills
                | RecordTool::GetSkill
                | RecordTool::DeleteSkill
                | RecordTool::QueueTask
                | RecordTool::GetJobStatus => false,
            },
            Self::Memory(tool) => match tool {
                MemoryTool::FactSave => true,
                MemoryTool::ConversationList
                | MemoryTool::ConversationRead
                | MemoryTool::FactList
                | MemoryTool::FactDelete => false,
            },
        }
    }
}
