//! Agents: a prompt, a model, and the tools and skills that the agent may use.

use crate::choice::choice;
use crate::{Budget, Text, fits};

choice! {
    /// How the model of an agent requests actions.
    AgentMode {
        /// By tool calls if the model supports them, otherwise by `cmd` blocks.
        Auto = "auto",
        /// By tool calls.
        Tools = "tools",
        /// By `cmd` blocks.
        Cmd = "cmd",
    }
}

/// An agent as `agents/ID/AGENT.md` defines it.
#[derive(Clone, Debug, PartialEq)]
pub struct Agent {
    /// The id: the name of the agent's folder.
    pub id: String,
    /// The name as written in the file, which may contain spaces.
    pub name: String,
    /// One line that describes the agent's purpose.
    pub description: Option<String>,
    /// The provider of the model; `None` selects the configured one.
    pub provider: Option<String>,
    /// The model, by its name in the configuration or the provider's name; `None` selects the configured one.
    pub model: Option<String>,
    /// Whether the agent is offered skills (S4.4).
    pub allow_skills: bool,
    /// Names and patterns of the tools that the agent may use; may contain [`Agent::NEEDED`]. `None` lets the
    /// host decide.
    pub tools: Option<Vec<String>>,
    /// Ids and domains of the skills that the agent may use; `None` allows all.
    pub skills: Option<Vec<String>>,
    /// Names and patterns of tools that require an approval; may contain [`Agent::DESTRUCTIVE`].
    pub approve: Vec<String>,
    /// Maximum number of turns of the model.
    pub max_steps: Option<u32>,
    /// Limit on what the agent may spend.
    pub budget: Option<Budget>,
    /// Whether the agent may create schedules in a run that no person started.
    pub may_schedule: bool,
    /// How the model requests actions.
    pub mode: AgentMode,
    /// The first part of the system prompt.
    pub prompt: Text,
}

impl Agent {
    /// Word in `approve` for all tools whose annotations mark them as destructive.
    pub const DESTRUCTIVE: &'static str = "destructive";

    /// Word in `tools` for all available tools, offered to the model when it looks them up.
    pub const NEEDED: &'static str = "needed";

    /// Creates an agent with default settings.
    pub fn new(id: impl Into<String>) -> Self {
        let id = id.into();
        Self {
            name: id.clone(),
            id,
            description: None,
            provider: None,
            model: None,
            allow_skills: false,
            tools: None,
            skills: None,
            approve: Vec::new(),
            max_steps: None,
            budget: None,
            may_schedule: false,
            mode: AgentMode::Auto,
            prompt: Text::default(),
        }
    }

    /// Returns whether the agent may use `tool`, or `None` if the agent has no `tools` list.
    pub fn may_use_tool(&self, tool: &str) -> Option<bool> {
        let tools = self.tools.as_ref()?;
        let names = |pattern: &String| pattern == Self::NEEDED || fits(pattern, tool);
        Some(tools.iter().any(names))
    }

    /// Returns whether the agent may use the skill `id`. A domain in the list allows all skills of the
    /// domain.
    pub fn may_use_skill(&self, id: &str, domain: Option<&str>) -> bool {
        let named =
            |allowed: &String| fits(allowed, id) || domain.is_some_and(|domain| allowed == domain);
        let listed = |skills: &Vec<String>| skills.iter().any(named);
        self.allow_skills && self.skills.as_ref().is_none_or(listed)
    }
}

#[cfg(test)]
mod tests {
    use super::Agent;

    #[test]
    fn tools_of_an_agent_follow_its_lists() {
        let mut agent = Agent::new("a");
        assert_eq!(agent.may_use_tool("x"), None);
        assert!(!agent.may_use_skill("email.send", Some("email")));
        agent.allow_skills = true;
        assert!(agent.may_use_skill("email.send", Some("email")));
        agent.skills = Some(vec!["email".into(), "tasks.search".into()]);
        assert!(agent.may_use_skill("email.send", Some("email")));
        assert!(agent.may_use_skill("tasks.search", Some("tasks")));
        assert!(!agent.may_use_skill("tasks.delete", Some("tasks")));
        agent.tools = Some(vec!["fs_*".into()]);
        assert_eq!(agent.may_use_tool("fs_read"), Some(true));
        assert_eq!(agent.may_use_tool("gmail_send"), Some(false));
    }
}
