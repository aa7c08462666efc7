//! Texts for models: what is written of untrusted values is framed.
//!
//! While an expression is evaluated, the renderer notes whether an untrusted name was read; names that
//! the template binds carry that on. Only what is written to the text itself is framed. What is
//! rendered aside (a captured block, a macro) is framed where its text is written in the end, so that
//! no frame stands in another one.
//!
//! Not here: which names are untrusted (the scope knows), what a frame looks like (the caller does).

use std::cell::Cell;

use deft_values::Outcome;
use deft_values::{Value, show};

use super::Renderer;
use super::node::{Node, NodeKind, Program};
use crate::scope::{Scope, Slots};

/// Puts a text into a frame; the first argument says where it comes from.
type Frame<'a> = &'a dyn Fn(&str, &str) -> String;

/// Follows untrusted values through a template.
#[derive(Default)]
pub(super) struct Watch<'a> {
    /// None where nothing is framed.
    frame: Option<Frame<'a>>,
    /// Whether an untrusted value was read since the last time this was looked at.
    read: Cell<bool>,
    /// How many blocks around the statement are rendered aside.
    aside: usize,
}

impl Program {
    /// The text, with untrusted values framed.
    pub(in crate::template) fn framed(
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
    /// What something gives, and whether it has read an untrusted value. What is around it has read
    /// that value then, too.
    pub(super) fn watched<T>(
        &mut self,
        evaluate: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> Outcome<(T, bool)> {
        let before = self.watch.read.replace(false);
        let value = evaluate(self)?;
        let read = self.watch.read.get();
        self.watch.read.set(before || read);
        Ok((value, read))
    }

    /// Renders something whose text is not yet written.
    pub(super) fn unframed<T>(
        &mut self,
        render: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> Outcome<T> {
        self.watch.aside += 1;
        let result = render(self);
        self.watch.aside -= 1;
        result
    }

    /// Notes that a name, or a member of it, is read.
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

    /// Whether an untrusted value was read in the expression that is being evaluated.
    pub(super) fn has_read_untrusted(&self) -> bool {
        self.watch.read.get()
    }

    /// The value that a member is read of. Whether that is untrusted depends on the member.
    pub(super) fn owner(&mut self, node: &'a Node, member: Option<&str>) -> Outcome<Value<'a>> {
        let before = self.watch.read.get();
        let value = self.eval_raw(node)?;
        if let (NodeKind::Name(name), Some(member)) = (&node.kind, member) {
            self.watch.read.set(before);
            self.note_read(name, Some(member));
        }
        Ok(value)
    }

    /// Writes a value to the text, in a frame if it is untrusted and can say anything.
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

/// Whether the text of a value may hold words.
fn can_say_something(value: &Value<'_>) -> bool {
    !matches!(
        value,
        Value::Undefined(_) | Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_)
    )
}

/// Where a written value comes from, as the template spells it.
fn origin(node: &Node) -> String {
    match &node.kind {
        NodeKind::Filter(apply) => match &apply.input {
            Some(input) => origin(input),
            None => "text".to_owned(),
        },
        NodeKind::Name(_) | NodeKind::Attr(..) | NodeKind::Item(..) => node.path(),
        NodeKind::Call(callee, _) => match &callee.kind {
            // The receiver of a method.
            NodeKind::Attr(value, _) => origin(value),
            _ => "text".to_owned(),
        },
        _ => "text".to_owned(),
    }
}
