//! The index of tool names.
//!
//! A built-in tool owns its name. A tool of a server has its full name, `server.tool`, and also its
//! bare name as long as no other tool has the same name. The index is immutable and rebuilt whenever a
//! catalog changes; it asks no server.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use deft_model::{Failure, FailureClass, Outage, nearest};

use crate::arguments::{Checker, Preparation};
use crate::builtin::BuiltinTool;
use crate::options::Options;
use crate::secret::Plain;
use crate::server::Server;
use crate::tool::ToolInfo;

/// The executor of a call.
#[derive(Clone)]
pub(crate) enum Target {
    Builtin(Arc<BuiltinTool>),
    Server(Arc<Server>),
}

/// A tool that can be called.
pub(crate) struct Entry {
    pub(crate) info: ToolInfo,
    pub(crate) checker: Arc<Checker>,
    pub(crate) target: Target,
}

impl Entry {
    /// Returns the entry of a built-in tool.
    pub(crate) fn from_builtin(tool: &Arc<BuiltinTool>) -> Self {
        Self {
            info: tool.info().clone(),
            checker: tool.checker().clone(),
            target: Target::Builtin(tool.clone()),
        }
    }

    /// Returns the entries of all known tools of a server.
    pub(crate) fn from_server(server: &Arc<Server>) -> Vec<Self> {
        let tools = server.tools().into_iter();
        tools
            .map(|(info, checker)| Self {
                info,
                checker,
                target: Target::Server(server.clone()),
            })
            .collect()
    }

    /// Whether `name` is a bare name, which a tool of another server could have too.
    pub(crate) fn is_bare(&self, name: &str) -> bool {
        !self.info.builtin && name == self.info.name
    }

    /// Returns the argument preparation for arguments that a model wrote, without secrets.
    pub(crate) fn preparation<'a>(
        &'a self,
        name: &'a str,
        options: &'a Options,
    ) -> Preparation<'a> {
        Preparation {
            name,
            tool: &self.info,
            checker: &self.checker,
            options,
            reveal: &Plain,
            by_model: true,
        }
    }
}

/// The result of looking up a name.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolLookup {
    /// Exactly one tool has the name.
    Tool(Box<ToolInfo>),
    /// Several tools have the bare name; these are their full names.
    Ambiguous(Vec<String>),
    /// No tool has the name, and every server has been asked.
    Missing {
        /// Similar names.
        nearest: Vec<String>,
    },
    /// No known tool has the name, but these servers have not been asked yet.
    Unknown {
        /// The names of the servers.
        servers: Vec<String>,
    },
}

/// All tool names at one instant.
#[derive(Default)]
pub(crate) struct Index {
    /// Every tool by full name, in alphabetical order.
    full: BTreeMap<String, Arc<Entry>>,
    /// The full names of the servers' tools for each bare name.
    bare: HashMap<String, Vec<String>>,
    /// Enabled servers whose tools have not been listed since this process started. Part of the index,
    /// so that no reader sees a server as listed whose tools are missing.
    unlisted: Vec<String>,
}

/// The result of an index lookup.
pub(crate) enum Lookup {
    One(Arc<Entry>),
    Many(Vec<String>),
    None,
}

impl Index {
    /// Builds the index; built-in tools come first and keep their names.
    pub(crate) fn new(entries: impl IntoIterator<Item = Entry>) -> Self {
        let entries: Vec<Entry> = entries.into_iter().collect();
        let mut index = Self::default();
        for entry in &entries {
            if !entry.info.builtin {
                let names = index.bare.entry(entry.info.name.clone()).or_default();
                names.push(entry.info.full_name());
            }
        }
        let builtin: Vec<String> = names_of_builtins(&entries);
        for mut entry in entries {
            let full = entry.info.full_name();
            if !entry.info.builtin && builtin.contains(&full) {
                tracing::warn!(
                    tool = full,
                    "a built-in tool has the same name and is used instead"
                );
            }
            entry.info.shown = index.name_for_people(&entry.info, &builtin);
            // The first entry wins, so a server cannot replace a built-in tool.
            index.full.entry(full).or_insert_with(|| Arc::new(entry));
        }
        index
    }

    fn name_for_people(&self, tool: &ToolInfo, builtin: &[String]) -> String {
        let unique = self
            .bare
            .get(&tool.name)
            .is_none_or(|names| names.len() == 1);
        let taken = builtin.contains(&tool.name) || self.full.contains_key(&tool.name);
        if tool.builtin || (unique && !taken) {
            tool.name.clone()
        } else {
            tool.full_name()
        }
    }

    /// Looks up a name. A full name takes precedence over a bare one.
    pub(crate) fn lookup(&self, name: &str) -> Lookup {
        if let Some(entry) = self.full.get(name) {
            return Lookup::One(entry.clone());
        }
        match self.bare.get(name).map(Vec::as_slice) {
            Some([only]) => match self.full.get(only) {
                Some(entry) => Lookup::One(entry.clone()),
                None => Lookup::None,
            },
            Some(several) => Lookup::Many(several.to_vec()),
            None => Lookup::None,
        }
    }

    /// Sets the servers that have not listed their tools yet.
    pub(crate) fn with_unlisted(mut self, servers: Vec<String>) -> Self {
        self.unlisted = servers;
        self
    }

    /// Returns the names of servers that have not listed their tools yet.
    pub(crate) fn unlisted_servers(&self) -> &[String] {
        &self.unlisted
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.full.values()
    }

    /// Returns up to three similar names, best match first.
    pub(crate) fn nearest(&self, name: &str) -> Vec<String> {
        let mut names: Vec<&str> = self
            .full
            .values()
            .map(|entry| entry.info.shown.as_str())
            .collect();
        let mut near = Vec::new();
        while near.len() < 3 {
            let bare = name.rsplit('.').next().unwrap_or(name);
            let found = nearest(name, names.iter().copied())
                .or_else(|| nearest(bare, names.iter().copied()));
            let Some(found) = found.map(str::to_owned) else {
                break;
            };
            names.retain(|name| *name != found);
            near.push(found);
        }
        near
    }
}

fn names_of_builtins(entries: &[Entry]) -> Vec<String> {
    entries
        .iter()
        .filter(|entry| entry.info.builtin)
        .map(|entry| entry.info.name.clone())
        .collect()
}

/// Returns the failure of a call to an unknown tool.
pub(crate) fn unknown_tool(name: &str, nearest: &[String]) -> Failure {
    let failure = Failure::new(FailureClass::NotFound, format!("unknown tool `{name}`"))
        .mark_blocked()
        .outage(Outage::Tool(name.to_owned()));
    match nearest {
        [] => failure.hint("`deft tools list` shows all tools"),
        names => failure.hint(format!("did you mean {}?", list_names(names, "or"))),
    }
}

/// Returns the failure of a call whose name matches several tools.
pub(crate) fn ambiguous(name: &str, candidates: &[String]) -> Failure {
    Failure::new(
        FailureClass::NotFound,
        format!(
            "the tool `{name}` is ambiguous: {}",
            list_names(candidates, "or")
        ),
    )
    .mark_blocked()
    .hint("write the name with its server, as `server.tool`")
}

/// Returns the failure of a call whose tool may be on a server that could not be asked.
pub(crate) fn unasked_servers(name: &str, servers: &[(String, Failure)]) -> Failure {
    if let [(_, only)] = servers {
        return Failure {
            blocked: true,
            ..only.clone()
        };
    }
    let reasons: Vec<String> = servers
        .iter()
        .map(|(server, failure)| format!("`{server}`: {}", failure.message))
        .collect();
    Failure::new(
        FailureClass::Network,
        format!(
            "unknown tool `{name}`; some servers could not be queried ({})",
            reasons.join("; ")
        ),
    )
    .mark_blocked()
    .outage(match servers.first() {
        Some((server, _)) => Outage::Server(server.clone()),
        None => Outage::Tool(name.to_owned()),
    })
}

fn list_names(names: &[String], word: &str) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [start @ .., last] => format!("{} {word} {last}", start.join(", ")),
    }
}
