//! Framing of untrusted values in texts for models.
//!
//! While an expression is evaluated, the renderer records whether it read an untrusted name; names that the
//! template binds inherit this. Only values written directly to the text are framed. The text of a captured
//! block or a macro is framed where it is finally written, so that frames do not nest.
//!
//! Not here: which names are untrusted (the scope decides) and the format of a frame (the caller's).

use std::cell::Cell;

use deft_values::Outcome;
use deft_values::{Value, show};

use super::Renderer;
use super::node::{Node, NodeKind, Program};
use crate::scope::{Scope, Slots};

/// Puts a text into a frame; the first argument is its origin.
type Frame<'a> = &'a dyn Fn(&str, &str) -> String;

/// The record of untrusted values that were read.
#[derive(Default)]
pub(super) struct Watch<'a> {
    /// `None` if nothing is framed.
    frame: Option<Frame<'a>>,
    /// Whether an untrusted value was read since the flag was last reset.
    read: Cell<bool>,
    /// The number of enclosing blocks that render to a separate text.
    aside: usize,
}

impl Program {
    /// Renders the template to text, with untrusted values framed.
    pub(in crate::template) fn render_framed(
        &self,
        scope: &dyn Scope,
        frame: Frame<'_>,
    ) -> Outcome<String> {
        let slots = Slots::new(&self.read);
        let mut renderer = Renderer::new(scope, &slots);
        renderer.watch.frame = Some(frame);
        renderer.body(&self.body)?;
        Ok(renderer.out)
    }
}

impl<'a> Renderer<'a> {
    /// Evaluates something and returns whether it read an untrusted value. If so, the surrounding expression
    /// counts as having read it too.
    pub(super) fn watch_reads<T>(
        &mut self,
        evaluate: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> Outcome<(T, bool)> {
        let before = self.watch.read.replace(false);
        let value = evaluate(self)?;
        let read = self.watch.read.get();
        self.watch.read.set(before || read);
        Ok((value, read))
    }

    /// Renders to a text that is not written yet.
    pub(super) fn render_separately<T>(
        &mut self,
        render: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> Outcome<T> {
        self.watch.aside += 1;
        let result = render(self);
        self.watch.aside -= 1;
        result
    }

    /// Records that a name, or a member of it, is read.
    pub(super) fn note_read(&self, name: &str, member: Option<&str>) {
        if self.watch.frame.is_none() {
            return;
        }
        let local = self.locals.iter().rev().find(|local| local.name == name);
        let untrusted = match local {
            Some(local) => local.untrusted,
            None => self.scope.is_untrusted(name, member),
        };
        if untrusted {
            self.watch.read.set(true);
        }
    }

    /// Whether the current expression has read an untrusted value.
    pub(super) fn has_read_untrusted(&self) -> bool {
        self.watch.read.get()
    }

    /// Evaluates the owner of a member. The member decides whether the value is untrusted.
    pub(super) fn owner(&mut self, node: &'a Node, member: Option<&str>) -> Outcome<Value<'a>> {
        let before = self.watch.read.get();
        let value = self.eval_raw(node)?;
        if let (NodeKind::Name(name), Some(member)) = (&node.kind, member) {
            self.watch.read.set(before);
            self.note_read(name, Some(member));
        }
        Ok(value)
    }

    /// Writes a value to the text, framed if it is untrusted and may contain words.
    pub(super) fn write(&mut self, value: &Value<'a>, untrusted: bool, node: &Node) -> Outcome<()> {
        let frame = self
            .watch
            .frame
            .filter(|_| untrusted && self.watch.aside == 0);
        let Some(frame) = frame.filter(|_| can_say_something(value)) else {
            return show::write_str(&mut self.out, value, &self.budget);
        };
        let text = show::to_str(value, &self.budget)?;
        if !text.is_empty() {
            self.out.push_str(&frame(&origin(node), &text));
        }
        Ok(())
    }
}

/// Whether the text of a value may contain words.
fn can_say_something(value: &Value<'_>) -> bool {
    !matches!(
        value,
        Value::Undefined(_) | Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_)
    )
}

/// Returns the origin of a written value, as the template spells it.
fn origin(node: &Node) -> String {
    match &node.kind {
        NodeKind::Filter(apply) => match &apply.input {
            Some(input) => origin(input),
            None => "text".to_owned(),
        },
        NodeKind::Name(_) | NodeKind::Attr(..) | NodeKind::Item(..) => node.path(),
        NodeKind::Call(callee, _) => match &callee.kind {
            // The origin of a method call is its receiver.
            NodeKind::Attr(value, _) => origin(value),
            _ => "text".to_owned(),
        },
        _ => "text".to_owned(),
    }
}
