//! Macros, recursive loops and namespaces of a template.
//!
//! Not here: macros of other templates and `{% call %}`, which deft does not support.

use deft_values::args::Args;
use deft_values::table::Table;
use deft_values::{Dict, Text, Value};
use deft_values::{Fault, Outcome};

use super::node::{For, Macro, Node, NodeKind};
use super::{Local, Renderer};

/// A callable that the template defines.
#[derive(Clone, Copy)]
pub(super) enum Callable<'a> {
    Macro(&'a Macro),
    /// A recursive loop and its current recursion depth.
    Loop((&'a For, usize)),
}

impl<'a> Renderer<'a> {
    /// Returns the callable with this name. `loop` is the innermost recursive loop; a name that the template
    /// binds hides a macro.
    pub(super) fn find_callable(&self, name: &str) -> Option<Callable<'a>> {
        if name == "loop" {
            return self.loops.last().copied().map(Callable::Loop);
        }
        let local = self.locals.iter().any(|local| local.name == name);
        let mut defined = self.macros.iter().rev().filter(|_| !local);
        let found = defined.find(|definition| definition.name == name);
        found.copied().map(Callable::Macro)
    }

    /// Renders a macro. It has access to its parameters and the scope, but not to names that the template
    /// has bound around the call.
    pub(super) fn call_macro(
        &mut self,
        definition: &'a Macro,
        args: Args<'a>,
    ) -> Outcome<Value<'a>> {
        let outer = std::mem::take(&mut self.locals);
        let loops = std::mem::take(&mut self.loops);
        let bound = self.bind_params(definition, args);
        let macros = self.macros.len();
        let text = match bound {
            Ok(()) => self.render_apart(|renderer| renderer.body(&definition.body)),
            Err(fault) => Err(fault),
        };
        self.macros.truncate(macros);
        self.locals = outer;
        self.loops = loops;
        text
    }

    fn bind_params(&mut self, definition: &'a Macro, args: Args<'a>) -> Outcome<()> {
        let name = &definition.name;
        let Args {
            mut positional,
            mut named,
        } = args;
        let most = definition.params.len();
        if positional.len() > most {
            let message = format!("macro `{name}` takes not more than {most} argument(s)");
            return Err(Fault::type_error(message));
        }
        let required = most - definition.defaults.len().min(most);
        let mut given = positional.drain(..);
        for (at, param) in definition.params.iter().enumerate() {
            let by_name = named.iter().position(|(known, _)| **known == **param);
            let value = match (given.next(), by_name) {
                (Some(_), Some(_)) => {
                    let message = format!("macro `{name}` got two values for `{param}`");
                    return Err(Fault::type_error(message));
                }
                (Some(value), None) => value,
                (None, Some(at)) => named.swap_remove(at).1,
                (None, None) => match definition.defaults.get(at.wrapping_sub(required)) {
                    Some(default) => self.eval_raw(default)?,
                    None => {
                        let message = format!("macro `{name}` needs a value for `{param}`");
                        return Err(Fault::type_error(message));
                    }
                },
            };
            // The arguments were evaluated in the expression that calls the macro.
            let untrusted = self.has_read_untrusted();
            self.bind_name(param, value, untrusted);
        }
        match named.first() {
            Some((unknown, _)) => Err(Fault::type_error(format!(
                "macro `{name}` has no parameter `{}`",
                &**unknown
            ))),
            None => Ok(()),
        }
    }

    /// Renders `loop(items)` inside a recursive loop: the loop's body over other items.
    pub(super) fn call_loop(
        &mut self,
        (stmt, depth): (&'a For, usize),
        args: Args<'a>,
    ) -> Outcome<Value<'a>> {
        let items = args.one("loop")?;
        let outer = self.locals.len();
        let untrusted = self.has_read_untrusted();
        let text =
            self.render_apart(|renderer| renderer.rounds(stmt, (&items, untrusted), depth + 1));
        self.locals.truncate(outer);
        text
    }

    /// Renders to a separate text, which must not contain secrets.
    fn render_apart(
        &mut self,
        render: impl FnOnce(&mut Self) -> Outcome<()>,
    ) -> Outcome<Value<'a>> {
        let (outer, secrets) = (std::mem::take(&mut self.out), self.secrets);
        let result = match self.budget.enter_call() {
            Ok(()) => {
                let result = self.render_separately(render);
                self.budget.leave_call();
                result
            }
            Err(fault) => Err(fault),
        };
        let text = std::mem::replace(&mut self.out, outer);
        result?;
        if self.secrets > secrets {
            return Err(Fault::secret());
        }
        self.budget.make(text.len())?;
        Ok(Value::str(text))
    }

    /// Executes `{% set ns.x = … %}`. A namespace is a mapping bound by the template; its name is rebound to
    /// a changed copy, also from inside a loop.
    pub(super) fn set_attribute(
        &mut self,
        owner: &'a Node,
        name: &'a str,
        value: Value<'a>,
        untrusted: bool,
    ) -> Outcome<()> {
        let NodeKind::Name(owner_name) = &owner.kind else {
            return Err(Fault::unsupported_python("assigning to this").with_span(&owner.span));
        };
        let mut locals = self.locals.iter_mut().rev();
        let bound = locals.find(|local| local.name == owner_name);
        let Some(Local {
            value: Value::Dict(dict),
            untrusted: known,
            ..
        }) = bound
        else {
            let message = format!("`{owner_name}` is not a namespace");
            return Err(Fault::type_error(message).with_span(&owner.span));
        };
        let changed = with_entry(dict, name, value)?;
        self.budget.items(dict.len() + 1)?;
        *dict = changed;
        *known |= untrusted;
        Ok(())
    }
}

fn with_entry<'a>(dict: &Dict<'a>, name: &'a str, value: Value<'a>) -> Outcome<Dict<'a>> {
    let mut table = Table::default();
    for (key, old) in dict.iter() {
        table.insert(key, old)?;
    }
    table.insert(Value::Str(Text::Ref(name)), value)?;
    Ok(Dict::Own(std::rc::Rc::new(table)))
}
