//! The names under which clients see the offers of servers.
//!
//! deft's own names take precedence, then servers in alphabetical order. An item whose name is taken is
//! reported as a clash.

use std::collections::HashSet;
use std::sync::Arc;

use rmcp::model::{Prompt, Resource, ResourceTemplate, Tool};

use super::Offers;
use crate::options::Reexport;

/// The longest name that MCP hosts accept.
const MAX_NAME_LEN: usize = 64;

/// A server's item under the name that clients see.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportedItem<T> {
    /// The name of the server.
    pub server: String,
    /// The server's own name or URI for the item.
    pub name: String,
    /// The item as clients see it.
    pub item: T,
}

/// An item that clients cannot reach, because its name is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The name of the server.
    pub server: String,
    /// `tool`, `prompt` or `resource`.
    pub kind: &'static str,
    /// The name that is taken.
    pub name: String,
    /// The owner of the name: deft itself, or a server.
    pub holder: String,
}

/// The offers of all servers to clients of deft.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exports {
    /// Tools.
    pub tools: Vec<ExportedItem<Tool>>,
    /// Prompts.
    pub prompts: Vec<ExportedItem<Prompt>>,
    /// Resources.
    pub resources: Vec<ExportedItem<Resource>>,
    /// URI templates of further resources.
    pub templates: Vec<ExportedItem<ResourceTemplate>>,
    /// Whether any server completes arguments.
    pub completes: bool,
    /// Whether any server sends log messages.
    pub logs: bool,
    /// Whether any server announces changes of single resources.
    pub announces_updates: bool,
    /// Items whose names are taken.
    pub clashes: Vec<Clash>,
}

/// The names of deft's own items.
#[derive(Clone, Debug, Default)]
pub struct OwnNames {
    /// Names of tools.
    pub tools: HashSet<String>,
    /// Names of prompts.
    pub prompts: HashSet<String>,
    /// Prefixes of the URIs of resources.
    pub addresses: Vec<&'static str>,
}

impl Exports {
    /// Assigns names to the offers of servers.
    pub fn new(offers: &[Arc<Offers>], own: &OwnNames) -> Self {
        let mut exports = Self::default();
        for offered in offers {
            exports.completes |= offered.completes;
            exports.logs |= offered.logs;
            exports.announces_updates |= offered.announces_updates;
            exports.add_tools(offered, own);
            exports.add_prompts(offered, own);
            exports.add_resources(offered, own);
        }
        exports
    }

    fn add_tools(&mut self, offered: &Offers, own: &OwnNames) {
        for tool in &offered.tools {
            let name = exported_name(offered, &tool.name);
            let holder = holder(&name, &own.tools, &self.tools, |it| it.item.name == name);
            if let Some(holder) = holder {
                self.clash(offered, "tool", name, holder);
                continue;
            }
            let mut item = tool.clone();
            item.name = name.into();
            self.tools.push(ExportedItem {
                server: offered.server.clone(),
                name: tool.name.to_string(),
                item,
            });
        }
    }

    fn add_prompts(&mut self, offered: &Offers, own: &OwnNames) {
        for prompt in &offered.prompts {
            let name = exported_name(offered, &prompt.name);
            let holder = holder(&name, &own.prompts, &self.prompts, |it| {
                it.item.name == name
            });
            if let Some(holder) = holder {
                self.clash(offered, "prompt", name, holder);
                continue;
            }
            let mut item = prompt.clone();
            item.name = name;
            self.prompts.push(ExportedItem {
                server: offered.server.clone(),
                name: prompt.name.clone(),
                item,
            });
        }
    }

    /// Adds resources. URIs are not changed: a tool may have returned them to the client.
    fn add_resources(&mut self, offered: &Offers, own: &OwnNames) {
        for resource in &offered.resources {
            let uri = &resource.uri;
            let is_own = own.addresses.iter().any(|start| uri.starts_with(start));
            let other = self.resources.iter().find(|it| it.item.uri == *uri);
            let holder = match (is_own, other) {
                (true, _) => Some("deft".to_owned()),
                (false, other) => other.map(|it| it.server.clone()),
            };
            if let Some(holder) = holder {
                self.clash(offered, "resource", uri.clone(), holder);
                continue;
            }
            self.resources.push(ExportedItem {
                server: offered.server.clone(),
                name: uri.clone(),
                item: resource.clone(),
            });
        }
        for template in &offered.templates {
            self.templates.push(ExportedItem {
                server: offered.server.clone(),
                name: template.uri_template.clone(),
                item: template.clone(),
            });
        }
    }

    fn clash(&mut self, offered: &Offers, kind: &'static str, name: String, holder: String) {
        self.clashes.push(Clash {
            server: offered.server.clone(),
            kind,
            name,
            holder,
        });
    }

    /// Returns the server that has the resource with this URI.
    pub fn server_with(&self, uri: &str) -> Option<&str> {
        let listed = self.resources.iter().find(|it| it.item.uri == uri);
        let listed = listed.map(|it| it.server.as_str());
        listed.or_else(|| {
            let mut templates = self.templates.iter();
            let found = templates.find(|it| fits(&it.item.uri_template, uri))?;
            Some(found.server.as_str())
        })
    }
}

fn holder<T>(
    name: &str,
    own: &HashSet<String>,
    given: &[ExportedItem<T>],
    is_same: impl Fn(&ExportedItem<T>) -> bool,
) -> Option<String> {
    if own.contains(name) {
        return Some("deft".to_owned());
    }
    let other = given.iter().find(|it| is_same(it))?;
    Some(other.server.clone())
}

fn exported_name(offered: &Offers, name: &str) -> String {
    match offered.reexport {
        Reexport::Prefixed => legal_name(&format!("{}_{name}", offered.server)),
        Reexport::Plain | Reexport::Off => name.to_owned(),
    }
}

/// Converts a name to a form that MCP hosts accept: letters, digits, `_` and `-`, at most 64
/// characters.
pub fn legal_name(name: &str) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let letters = name.chars().map(|c| if legal(c) { c } else { '_' });
    letters.take(MAX_NAME_LEN).collect()
}

/// Whether a URI can match a template: the template's fixed parts occur in order.
fn fits(template: &str, uri: &str) -> bool {
    let mut parts = template.split('{');
    let Some(mut rest) = parts.next().and_then(|start| uri.strip_prefix(start)) else {
        return false;
    };
    let fixed = parts.map(|part| part.split_once('}').map_or("", |(_, fixed)| fixed));
    let fixed: Vec<&str> = fixed.collect();
    let Some((last, between)) = fixed.split_last() else {
        return rest.is_empty();
    };
    for part in between {
        let Some((_, after)) = rest.split_once(part) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers(server: &str, reexport: Reexport, names: &[&str]) -> Arc<Offers> {
        let tools = names.iter().map(|name| {
            let mut tool = Tool::default();
            tool.name = (*name).to_owned().into();
            tool
        });
        Arc::new(Offers {
            server: server.to_owned(),
            reexport,
            tools: tools.collect(),
            resources: vec![Resource::new("test://x", "x")],
            ..Offers::default()
        })
    }

    #[test]
    fn names_are_prefixed_or_plain_and_the_first_keeps_a_name() {
        let own = OwnNames {
            tools: HashSet::from(["log".to_owned()]),
            ..OwnNames::default()
        };
        let all = [
            offers("a", Reexport::Plain, &["log", "list"]),
            offers("b", Reexport::Plain, &["list"]),
            offers("c", Reexport::Prefixed, &["list.all"]),
        ];
        let exports = Exports::new(&all, &own);
        let names: Vec<_> = exports.tools.iter().map(|it| &*it.item.name).collect();
        assert_eq!(names, ["list", "c_list_all"]);
        assert_eq!(exports.tools[1].name, "list.all");
        let clashes: Vec<_> = exports
            .clashes
            .iter()
            .map(|it| (it.server.as_str(), it.name.as_str(), it.holder.as_str()))
            .collect();
        let expected = [
            ("a", "log", "deft"),
            ("b", "list", "a"),
            ("b", "test://x", "a"),
            ("c", "test://x", "a"),
        ];
        assert_eq!(clashes, expected);
    }

    #[test]
    fn names_of_tools_are_legal_everywhere() {
        assert_eq!(legal_name("email.send"), "email_send");
        assert_eq!(legal_name("code-review"), "code-review");
        assert_eq!(legal_name("größe"), "gr__e");
        assert_eq!(legal_name(&"x".repeat(80)).len(), 64);
    }

    #[test]
    fn an_address_matches_a_template_with_the_same_fixed_parts() {
        let template = "test://template/{id}/data";
        assert!(fits(template, "test://template/7/data"));
        assert!(!fits(template, "test://template/7/other"));
        assert!(!fits(template, "test://template/7/data/more"));
        assert!(fits(template, "test://template/data/data"));
        assert!(fits("file:///{+path}", "file:///a/b"));
        assert!(!fits("test://x", "test://y"));
    }
}
