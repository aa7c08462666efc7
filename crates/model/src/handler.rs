//! The `handler` of a man page: the tool or skill that executes its command.
//!
//! Names only. Not here: the implementation of handlers, and whether a tool or skill exists, which is checked
//! when it is called.

/// Built-in handlers by domain (S2.61); the boolean says whether this version implements them.
const OWN: &[(&str, &[&str], bool)] = &[
    ("email", &["send", "search", "read", "draft"], false),
    (
        "tasks",
        &["create", "search", "get", "update", "delete"],
        false,
    ),
    ("calendar", &["create", "list", "update"], false),
    ("drive", &["read", "update", "list", "search"], false),
    ("hubspot", &["contacts", "deals", "notes"], false),
    ("memory", &["save", "search"], false),
    ("markdown", &["edit", "create", "search"], false),
    ("workflow", &["build"], false),
];

/// The target that executes a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handler {
    /// `tool:NAME`: a tool that takes the flags as its arguments.
    Tool(String),
    /// `workflow:NAME` or `skill:NAME`: a skill that takes the flags as its inputs.
    Skill(String),
    /// A built-in handler, named like a skill: `email.send`.
    BuiltIn(String),
}

impl Handler {
    /// Parses the `handler` of a page. Existing pages name handlers like modules,
    /// `Assistant.Skills.Email.Send`; the built-in handler is named by the last two parts.
    pub fn from_text(text: &str) -> Self {
        let text = text.trim();
        match text.split_once(':') {
            Some(("tool", name)) => Self::Tool(name.trim().to_owned()),
            Some(("workflow" | "skill", name)) => Self::Skill(name.trim().to_owned()),
            _ => Self::BuiltIn(module(text).unwrap_or_else(|| text.to_owned())),
        }
    }

    /// Returns the names of all built-in handlers, including those not yet implemented.
    pub fn built_in() -> impl Iterator<Item = String> {
        let names = |(domain, actions, _): &(&str, &[&str], bool)| {
            let name = |action: &&str| format!("{domain}.{action}");
            actions.iter().map(name).collect::<Vec<_>>()
        };
        OWN.iter().flat_map(names)
    }

    /// Returns whether a built-in handler with this name exists or is planned.
    pub fn is_built_in(name: &str) -> bool {
        Self::built_in().any(|known| known == name)
    }

    /// Returns whether this version implements the built-in handler `name`.
    pub fn is_there(name: &str) -> bool {
        let domain = name.split('.').next().unwrap_or_default();
        let mut own = OWN.iter();
        Self::is_built_in(name) && own.any(|(known, _, there)| *known == domain && *there)
    }
}

impl std::fmt::Display for Handler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tool(name) => write!(f, "tool:{name}"),
            Self::Skill(name) => write!(f, "skill:{name}"),
            Self::BuiltIn(name) => f.write_str(name),
        }
    }
}

/// Converts a module name to the name of a handler: the known name with the same letters if there is one
/// (`HubSpot.Contacts` is `hubspot.contacts`), otherwise the last two parts in snake case.
fn module(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split('.').collect();
    let is_module = |part: &&str| part.starts_with(|c: char| c.is_ascii_uppercase());
    let [.., domain, action] = parts.as_slice() else {
        return None;
    };
    if !parts.iter().all(is_module) {
        return None;
    }
    let joined = format!("{domain}.{action}").to_lowercase();
    let own = Handler::built_in().find(|name| name.replace('_', "") == joined);
    Some(own.unwrap_or_else(|| format!("{}.{}", snake(domain), snake(action))))
}

/// Converts to snake case: `ContactList` to `contact_list`, `HTTPGet` to `http_get`.
fn snake(part: &str) -> String {
    let characters: Vec<char> = part.chars().collect();
    let mut out = String::new();
    for (at, c) in characters.iter().enumerate() {
        let behind_small = at > 0 && !characters[at - 1].is_uppercase();
        let before_small = characters.get(at + 1).is_some_and(|c| c.is_lowercase());
        if c.is_uppercase() && at > 0 && (behind_small || before_small) {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out.replace("__", "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handler_names_of_the_seeds_are_converted() {
        for (text, wanted) in [
            ("tool:gmail.send", "tool:gmail.send"),
            ("tool: send_message ", "tool:send_message"),
            ("workflow:daily_digest", "skill:daily_digest"),
            (
                "skill:workflows.daily_digest",
                "skill:workflows.daily_digest",
            ),
            ("Assistant.Skills.Email.Send", "email.send"),
            ("Skills.Tasks.Search", "tasks.search"),
            ("Assistant.Skills.HubSpot.Contacts", "hubspot.contacts"),
            (
                "Assistant.Skills.HubSpot.ContactList",
                "hub_spot.contact_list",
            ),
            ("Assistant.Skills.Handlers.Web.HTTPGet", "web.http_get"),
            ("email.send", "email.send"),
            ("Send", "Send"),
            ("own handler", "own handler"),
            ("http:x", "http:x"),
            ("tool:", "tool:"),
            ("", ""),
        ] {
            assert_eq!(Handler::from_text(text).to_string(), wanted, "{text}");
        }
    }

    #[test]
    fn built_in_tool_names_are_valid_skill_names() {
        assert_eq!(Handler::built_in().count(), 25);
        for name in Handler::built_in() {
            assert_eq!(Handler::from_text(&name), Handler::BuiltIn(name.clone()));
            assert!(Handler::is_built_in(&name) && !Handler::is_there(&name));
        }
        assert!(!Handler::is_built_in("email.sent"));
    }
}
