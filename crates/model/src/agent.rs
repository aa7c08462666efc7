//! An agent: its prompt, its model, and the tools and skills that it may use.

use crate::choice::choice;
use crate::{Budget, Text, fits};

choice! {
    /// How an agent lets its model say what it wants done.
    AgentMode {
        /// By tool calls where the model knows them, else by commands.
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
    /// What it is called: the name of its folder.
    pub id: String,
    /// Its name as written, which may be prose.
    pub name: String,
    /// What it is for, in a line.
    pub description: Option<String>,
    /// The provider of its model; the configuration's when absent.
    pub provider: Option<String>,
    /// Its model, by the name in the configuration or the provider's; the configuration's when absent.
    pub model: Option<String>,
    /// Whether it is offered skills (S4.4).
    pub allow_skills: bool,
    /// Names and patterns of tools that it may use, and the word [`Agent::NEEDED`]; absent means that
    /// the host decides.
    pub tools: Option<Vec<String>>,
    /// Ids and domains of skills that it may use; absent means all.
    pub skills: Option<Vec<String>>,
    /// Names and patterns of tools that need a yes, and the word [`Agent::DESTRUCTIVE`].
    pub approve: Vec<String>,
    /// The most turns its model may take.
    pub max_steps: Option<u32>,
    /// What it may spend.
    pub budget: Option<Budget>,
    /// Whether a run that was not started by a person may create schedules.
    pub may_schedule: bool,
    /// How its model says what it wants done.
    pub mode: AgentMode,
    /// What the model is told first.
    pub prompt: Text,
}

impl Agent {
    /// Stands in `approve` for every tool whose annotations say that it destroys.
    pub const DESTRUCTIVE: &'static str = "destructive";

    /// Stands in `tools` for every tool there is, offered to the model as it is needed.
    pub const NEEDED: &'static str = "needed";

    /// An agent of which nothing is said.
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

    /// Whether it may use a tool; `None` when it does not say.
    pub fn may_use_tool(&self, tool: &str) -> Option<bool> {
        let tools = self.tools.as_ref()?;
        let names = |pattern: &String| pattern == Self::NEEDED || fits(pattern, tool);
        Some(tools.iter().any(names))
    }

    /// Whether it may use a skill. A domain stands for all skills in it.
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
    fn what_an_agent_may_use() {
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
