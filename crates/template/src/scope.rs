//! Values of names during rendering and evaluation.
//!
//! Values are requested by name, one at a time and only when read, so that a scope can be lazy. Not here:
//! names that the text binds itself.

use std::cell::OnceCell;
use std::sync::Arc;

/// The source of the values of names.
pub trait Scope {
    /// Returns the value of a top-level name such as `inputs` or the id of a step.
    fn get(&self, name: &str) -> Lookup;

    /// Returns the placeholder of a secret, for `secrets.NAME`.
    fn secret(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// Returns how to read `name.member`, if not from the value of the name.
    fn member(&self, name: &str, member: &str) -> Member {
        let _ = (name, member);
        Member::Held
    }

    /// Whether the value of a name, or of one of its members, comes from an untrusted source. A text for a
    /// model frames it ([`Template::render_framed`](crate::Template::render_framed)).
    fn is_untrusted(&self, name: &str, member: Option<&str>) -> bool {
        let _ = (name, member);
        false
    }
}

/// How a scope defines a member of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// The value of the name contains it.
    Held,
    /// Known but without a value: `inputs.NAME` of an input that was not given.
    Absent,
    /// The value of the name itself, unless that contains such a member: `step.result`.
    Itself,
}

/// The result of looking up a name.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// The name has this value.
    Value(Arc<serde_json::Value>),
    /// Known but without a value: a step that was skipped or has not run.
    Absent,
    /// The scope does not define the name.
    Unknown,
}

/// A cache of values read from a scope; each name is requested once, at its first use.
///
/// Values borrow from this table during evaluation.
pub(crate) struct Slots<'n> {
    names: &'n [String],
    cells: Vec<OnceCell<Lookup>>,
}

impl<'n> Slots<'n> {
    pub(crate) fn new(names: &'n [String]) -> Self {
        let cells = names.iter().map(|_| OnceCell::new()).collect();
        Self { names, cells }
    }

    /// Returns the value of a name; names that are not in the table are unknown.
    pub(crate) fn get(&self, name: &str, scope: &dyn Scope) -> &Lookup {
        match self.names.iter().position(|known| known == name) {
            Some(at) => self.cells[at].get_or_init(|| scope.get(name)),
            None => &Lookup::Unknown,
        }
    }
}
