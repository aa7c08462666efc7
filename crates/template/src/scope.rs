//! What names mean while a template is rendered or a condition evaluated.
//!
//! Values are asked for by name, one at a time and only when they are read, so that a scope need
//! not be put together beforehand. It does not hold names that the text binds itself.

use std::cell::OnceCell;
use std::sync::Arc;

/// Where the values of names come from.
pub trait Scope {
    /// The value of a top-level name such as `inputs` or the id of a step.
    fn get(&self, name: &str) -> Lookup;

    /// The placeholder that stands for a secret, for `secrets.NAME`.
    fn secret(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// What `name.member` means where it is not simply what the value of the name holds.
    fn member(&self, name: &str, member: &str) -> Member {
        let _ = (name, member);
        Member::Held
    }

    /// Whether the value of a name, or of one of its members, was written by others. A text for a
    /// model frames it ([`Template::render_framed`](crate::Template::render_framed)).
    fn is_untrusted(&self, name: &str, member: Option<&str>) -> bool {
        let _ = (name, member);
        false
    }
}

/// What a scope says about a member of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// It is what the value holds.
    Held,
    /// It is known but has no value: `inputs.NAME` of an input that was not given.
    Absent,
    /// It is the value of the name itself, unless that holds such a member: `step.result`.
    Itself,
}

/// What a scope says about a name.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// It has this value.
    Value(Arc<serde_json::Value>),
    /// It is known but has no value: a step that was skipped or has not run.
    Absent,
    /// There is no such name.
    Unknown,
}

/// What a scope has said so far; it is asked once for each name, when that is first read.
///
/// Values borrow from this table while something is evaluated.
pub(crate) struct Slots<'n> {
    names: &'n [String],
    cells: Vec<OnceCell<Lookup>>,
}

impl<'n> Slots<'n> {
    pub(crate) fn new(names: &'n [String]) -> Self {
        let cells = names.iter().map(|_| OnceCell::new()).collect();
        Self { names, cells }
    }

    /// What the scope says about a name; one that is not in the table is unknown.
    pub(crate) fn get(&self, name: &str, scope: &dyn Scope) -> &Lookup {
        match self.names.iter().position(|known| known == name) {
            Some(at) => self.cells[at].get_or_init(|| scope.get(name)),
            None => &Lookup::Unknown,
        }
    }
}
