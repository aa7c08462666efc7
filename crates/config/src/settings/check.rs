//! Checks settings against the table of keys, and finds all problems, not only the first.

use deft_model::nearest;

use super::kind::{Kind, KindError, check_heal};
use super::problem::Problem;
use super::table::{self, Key, PathKind};
use super::tree::{Data, Node, Origin, Section, Settings};

impl Settings {
    /// Returns all problems, in the order of the file.
    pub fn check(&self) -> Vec<Problem> {
        let mut checker = Checker::default();
        checker.section(&self.root, &mut Vec::new());
        checker.servers(self);
        checker.models(self);
        checker.hooks(self);
        let line = |problem: &Problem| problem.line().unwrap_or(usize::MAX);
        checker.problems.sort_by_key(line);
        checker.problems
    }
}

#[derive(Default)]
struct Checker {
    problems: Vec<Problem>,
}

impl Checker {
    fn section(&mut self, section: &Section, path: &mut Vec<String>) {
        for (name, node) in section {
            path.push(name.clone());
            match (table::kind_of_path(path), &node.data) {
                (PathKind::Leaf(key), _) => self.leaf(key, node, path),
                (PathKind::Section, Data::Table(below)) => self.section(below, path),
                (PathKind::Section, Data::List(_) | Data::Value(_)) => {
                    let place = format_path(path);
                    let message = format!("`{place}` is a section: write `[{place}]`");
                    self.report(node, path, message, None);
                }
                (PathKind::Unknown, _) => self.unknown(node, path),
            }
            path.pop();
        }
    }

    fn leaf(&mut self, key: &Key, node: &Node, path: &[String]) {
        let place = format_path(path);
        let mut wrong = |node: &Node, KindError { message, hint }| {
            self.report(node, path, format!("`{place}` {message}"), hint);
        };
        if let Err(problem) = key.kind.check(&node.json()) {
            return wrong(node, problem);
        }
        if let (Kind::Heals, Data::List(items)) = (key.kind, &node.data) {
            for item in items {
                if let Err(problem) = check_heal(&item.json()) {
                    wrong(item, problem);
                }
            }
        }
    }

    fn unknown(&mut self, node: &Node, path: &[String]) {
        let (name, above) = match path.split_last() {
            Some((name, above)) => (name.as_str(), above),
            None => return,
        };
        let known = table::names_below(above);
        let prefix: String = above.iter().map(|part| format!("{part}.")).collect();
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{prefix}{near}`?"),
            None => format!("known keys: {}", known.join(", ")),
        };
        let message = format!("unknown key `{}`", format_path(path));
        self.report(node, path, message, Some(hint));
    }

    /// Checks servers across keys: their names, and combinations of settings.
    fn servers(&mut self, settings: &Settings) {
        let Some(Data::Table(servers)) = settings.get(&["mcp_servers"]).map(|node| &node.data)
        else {
            return;
        };
        for (name, node) in servers {
            let Data::Table(server) = &node.data else {
                continue;
            };
            let path = ["mcp_servers".to_owned(), name.clone()];
            if let Some(problem) = bad_name(name) {
                self.report(node, &path, problem, None);
            }
            let message = match (server.get("command"), server.get("url")) {
                (Some(_), Some(_)) => "both `command` and `url`",
                (None, None) => "neither `command` nor `url`",
                (Some(_), None) | (None, Some(_)) => continue,
            };
            let hint = "give either `url` or `command`".to_owned();
            let message = format!("the server `{name}` has {message}");
            self.report(node, &path, message, Some(hint));
        }
    }

    /// Checks that models named elsewhere have an `[llm.NAME]` section.
    fn models(&mut self, settings: &Settings) {
        let models = match settings.get(&["llm"]).map(|node| &node.data) {
            Some(Data::Table(models)) => models.clone(),
            _ => Section::new(),
        };
        let mut named = Vec::new();
        for (name, node) in &models {
            if let Data::Table(model) = &node.data
                && let Some(Node {
                    data: Data::List(fallbacks),
                    ..
                }) = model.get("fallback")
            {
                let place = ["llm", name, "fallback"].map(str::to_owned).to_vec();
                named.extend(fallbacks.iter().map(|node| (place.clone(), node)));
            }
        }
        let chosen = settings.get(&["agent", "llm"]);
        let place = ["agent", "llm"].map(str::to_owned).to_vec();
        named.extend(chosen.map(|node| (place, node)));
        for (place, node) in named {
            let Some(name) = node.json().as_str().map(str::to_owned) else {
                continue;
            };
            if models.contains_key(&name) {
                continue;
            }
            let near = nearest(&name, models.keys().map(String::as_str));
            let hint = near.map_or_else(
                || format!("write a section `[llm.{name}]`"),
                |near| format!("did you mean `{near}`?"),
            );
            let shown = format_path(&place);
            let message = format!("`{shown}` names the unknown model `{name}`");
            self.report(node, &place, message, Some(hint));
        }
    }

    /// Checks the names of hooks, which are part of their addresses.
    fn hooks(&mut self, settings: &Settings) {
        let Some(Data::Table(hooks)) = settings.get(&["hooks"]).map(|node| &node.data) else {
            return;
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        for (name, node) in hooks {
            let path = ["hooks".to_owned(), name.clone()];
            if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
                let message = format!("`{name}` cannot be the name of a hook");
                let hint = "use up to 64 letters, digits, `-` and `_`".to_owned();
                self.report(node, &path, message, Some(hint));
            }
            if matches!(&node.data, Data::Table(hook) if !hook.contains_key("secret")) {
                let message = format!("the hook `{name}` has no `secret`");
                let hint = "`deft secrets set NAME` stores one; write `secret = \"keyring:NAME\"`"
                    .to_owned();
                self.report(node, &path, message, Some(hint));
            }
        }
    }

    fn report(&mut self, node: &Node, path: &[String], message: String, hint: Option<String>) {
        let origin = match &node.origin {
            Origin::Default => None,
            origin @ (Origin::File { .. } | Origin::Variable(_)) => Some(origin.clone()),
        };
        self.problems.push(Problem {
            message,
            hint,
            origin,
            path: path.to_vec(),
        });
    }
}

/// Returns why `name` is not allowed for a server; `None` if it is allowed.
pub fn bad_name(name: &str) -> Option<String> {
    // With a dot, `a.b.c` would be ambiguous.
    let bad = name.is_empty() || name.contains(['.', '/']) || name.contains(char::is_whitespace);
    bad.then(|| {
        format!("the server name `{name}` must not be empty or contain a dot, a slash or a space")
    })
}

/// Formats a path as a dotted TOML key.
pub fn format_path(path: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let part = |part: &String| {
        if !part.is_empty() && part.chars().all(plain) {
            part.clone()
        } else {
            format!("{part:?}")
        }
    };
    path.iter().map(part).collect::<Vec<_>>().join(".")
}
