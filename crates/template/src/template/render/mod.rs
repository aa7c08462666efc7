//! Renderer of templates, with the semantics of Jinja2 and the values of Python.
//!
//! minijinja only parses, because its values print and compare differently from Python's. A missing value is
//! an error where it is used, but not where only its truth counts. Nothing is escaped.

mod define;
mod expr;
pub(super) mod filters;
mod framed;
mod lower;
mod member;
mod node;
pub(super) mod tests;

pub(super) use lower::lower;
pub(super) use node::Program;

use crate::scope::{Scope, Slots};
use deft_values::args::Args;
use deft_values::budget::Budget;
use deft_values::table::Table;
use deft_values::{Fault, Outcome};
use deft_values::{Text, Value, iterate, show};
use framed::Watch;
use node::{For, Macro, Node, NodeKind, Stmt};

/// Maximum length of rendered text, in bytes.
const MAX_RENDERED_BYTES: usize = 1 << 20;

impl Program {
    /// Returns the value of a single expression if `typed`, otherwise the text.
    pub(super) fn value(&self, scope: &dyn Scope, typed: bool) -> Outcome<serde_json::Value> {
        let [Stmt::Emit(node)] = self.body.as_slice() else {
            return self.text(scope).map(serde_json::Value::String);
        };
        if !typed {
            return self.text(scope).map(serde_json::Value::String);
        }
        let slots = Slots::new(&self.read);
        let mut renderer = Renderer::new(scope, &slots);
        let value = renderer.eval(node)?;
        value.to_json().map_err(|fault| fault.with_span(&node.span))
    }

    pub(super) fn text(&self, scope: &dyn Scope) -> Outcome<String> {
        let slots = Slots::new(&self.read);
        let mut renderer = Renderer::new(scope, &slots);
        renderer.body(&self.body)?;
        Ok(renderer.out)
    }
}

/// A name that the template has bound.
struct Local<'a> {
    name: &'a str,
    value: Value<'a>,
    /// Whether it depends on an untrusted value.
    untrusted: bool,
}

struct Renderer<'a> {
    scope: &'a dyn Scope,
    slots: &'a Slots<'a>,
    budget: Budget,
    /// Names that the template has bound; the last one with a name is in effect.
    locals: Vec<Local<'a>>,
    /// Tracks untrusted values if they are to be framed.
    watch: Watch<'a>,
    out: String,
    /// The number of secrets written so far. Text that contains a secret must not be stored or changed.
    secrets: usize,
    /// Macros defined so far; the last one with a name is in effect.
    macros: Vec<&'a Macro>,
    /// The enclosing recursive loops, each with its recursion depth.
    loops: Vec<(&'a For, usize)>,
}

impl<'a> Renderer<'a> {
    fn new(scope: &'a dyn Scope, slots: &'a Slots<'a>) -> Self {
        Self {
            scope,
            slots,
            budget: Budget::default(),
            locals: Vec::new(),
            watch: Watch::default(),
            out: String::new(),
            secrets: 0,
            macros: Vec::new(),
            loops: Vec::new(),
        }
    }

    fn body(&mut self, body: &'a [Stmt]) -> Outcome<()> {
        for stmt in body {
            self.budget.spend(1)?;
            self.stmt(stmt)?;
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &'a Stmt) -> Outcome<()> {
        match stmt {
            Stmt::Text(text) => {
                self.out.push_str(text);
                self.check_length()
            }
            Stmt::Emit(node) => self.emit(node),
            Stmt::For(stmt) => self.for_loop(stmt),
            Stmt::If {
                test,
                then,
                otherwise,
            } => {
                let truth = self.truth(test)?;
                self.body(if truth { then } else { otherwise })
            }
            Stmt::With { assignments, body } => {
                let outer = self.locals.len();
                for (target, value) in assignments {
                    let (value, untrusted) = self.watch_reads(|it| it.eval_raw(value))?;
                    self.bind(target, value, untrusted)?;
                }
                self.body(body)?;
                self.locals.truncate(outer);
                Ok(())
            }
            Stmt::Set { target, value } => {
                let (value, untrusted) = self.watch_reads(|it| it.eval_raw(value))?;
                self.bind(target, value, untrusted)
            }
            Stmt::Capture {
                target,
                filter,
                body,
            } => self.capture(target.as_ref(), filter.as_ref(), body),
            Stmt::Body(body) => self.body(body),
            Stmt::Do(node) => self.eval(node).map(|_| ()),
            Stmt::Macro(definition) => {
                self.macros.push(definition);
                Ok(())
            }
        }
    }

    fn check_length(&self) -> Outcome<()> {
        if self.out.len() > MAX_RENDERED_BYTES {
            return Err(Fault::limit(format!(
                "the text becomes longer than {MAX_RENDERED_BYTES} bytes"
            )));
        }
        Ok(())
    }

    fn emit(&mut self, node: &'a Node) -> Outcome<()> {
        let (value, untrusted) = self.watch_reads(|it| it.eval(node))?;
        let written = match &value {
            Value::Secret(secret) => {
                self.out.push_str(&secret.1);
                self.secrets += 1;
                Ok(())
            }
            value => self.write(value, untrusted, node),
        };
        written
            .and_then(|()| self.check_length())
            .map_err(|fault| fault.with_span(&node.span))
    }

    /// Renders a body separately; the text is assigned to a name, or filtered and written.
    fn capture(
        &mut self,
        target: Option<&'a Node>,
        filter: Option<&'a Node>,
        body: &'a [Stmt],
    ) -> Outcome<()> {
        let (outer, secrets) = (std::mem::take(&mut self.out), self.secrets);
        let result = self.watch_reads(|it| it.render_separately(|it| it.body(body)));
        let text = std::mem::replace(&mut self.out, outer);
        let ((), mut untrusted) = result?;
        if self.secrets > secrets {
            let place = target.or(filter).map_or(0..0, |node| node.span.clone());
            return Err(Fault::secret().with_span(&place));
        }
        let mut value = Value::str(text);
        if let Some(filter) = filter {
            let (filtered, also) = self.watch_reads(|it| it.filter_chain(filter, value))?;
            (value, untrusted) = (filtered, untrusted || also);
        }
        match (target, filter) {
            (Some(target), _) => self.bind(target, value, untrusted),
            (None, Some(filter)) => {
                self.write(&value, untrusted, filter)?;
                self.check_length()
            }
            (None, None) => {
                show::write_str(&mut self.out, &value, &self.budget)?;
                self.check_length()
            }
        }
    }

    fn truth(&mut self, node: &'a Node) -> Outcome<bool> {
        let value = self.eval(node)?;
        value.truth().map_err(|fault| fault.with_span(&node.span))
    }

    fn for_loop(&mut self, stmt: &'a For) -> Outcome<()> {
        let (source, untrusted) = self.watch_reads(|it| it.eval(&stmt.iter))?;
        self.rounds(stmt, (&source, untrusted), 0)
    }

    /// Renders the body of a loop for each item of `source`, which may be untrusted; `depth` is the
    /// recursion depth of a recursive loop.
    fn rounds(
        &mut self,
        stmt: &'a For,
        (source, untrusted): (&Value<'a>, bool),
        depth: usize,
    ) -> Outcome<()> {
        let items = iterate::items(source, &self.budget);
        let mut items = items.map_err(|fault| fault.with_span(&stmt.iter.span))?;
        let outer = self.locals.len();
        if let Some(condition) = &stmt.condition {
            items = self.filter_items(stmt, condition, items, untrusted)?;
        }
        if stmt.recursive {
            self.loops.push((stmt, depth));
        }
        for at in 0..items.len() {
            self.bind(&stmt.target, items[at].clone(), untrusted)?;
            if stmt.uses_loop {
                let state = loop_state(&items, at, depth)?;
                self.bind_name("loop", state, untrusted);
            }
            self.body(&stmt.body)?;
            self.locals.truncate(outer);
        }
        if stmt.recursive {
            self.loops.pop();
        }
        if items.is_empty() {
            self.body(&stmt.otherwise)?;
            self.locals.truncate(outer);
        }
        Ok(())
    }

    /// Returns the items that satisfy the condition of a loop.
    fn filter_items(
        &mut self,
        stmt: &'a For,
        condition: &'a Node,
        items: Vec<Value<'a>>,
        untrusted: bool,
    ) -> Outcome<Vec<Value<'a>>> {
        let outer = self.locals.len();
        let mut kept = Vec::new();
        for item in items {
            self.bind(&stmt.target, item.clone(), untrusted)?;
            if self.truth(condition)? {
                kept.push(item);
            }
            self.locals.truncate(outer);
        }
        Ok(kept)
    }

    fn bind_name(&mut self, name: &'a str, value: Value<'a>, untrusted: bool) {
        self.locals.push(Local {
            name,
            value,
            untrusted,
        });
    }

    fn bind(&mut self, target: &'a Node, value: Value<'a>, untrusted: bool) -> Outcome<()> {
        match &target.kind {
            NodeKind::Name(name) => {
                self.bind_name(name, value, untrusted);
                Ok(())
            }
            NodeKind::List(targets) | NodeKind::Tuple(targets) => {
                let items = iterate::items(&value, &self.budget);
                let items = items.map_err(|fault| fault.with_span(&target.span))?;
                if items.len() != targets.len() {
                    let (given, wanted) = (items.len(), targets.len());
                    let message = format!("cannot unpack {given} values into {wanted} names");
                    return Err(Fault::other(message).with_span(&target.span));
                }
                for (target, item) in targets.iter().zip(items) {
                    self.bind(target, item, untrusted)?;
                }
                Ok(())
            }
            NodeKind::Attr(owner, name) => self.set_attribute(owner, name, value, untrusted),
            _ => Err(Fault::unsupported_python("assigning to this").with_span(&target.span)),
        }
    }

    /// Applies `upper` or `upper | trim` to captured text.
    fn filter_chain(&mut self, node: &'a Node, input: Value<'a>) -> Outcome<Value<'a>> {
        let NodeKind::Filter(apply) = &node.kind else {
            return Err(Fault::unsupported_python("this filter"));
        };
        let input = match &apply.input {
            Some(inner) => self.filter_chain(inner, input)?,
            None => input,
        };
        let args: Args<'a> = self.args(&apply.args)?;
        filters::apply(&apply.name, input, args, &self.budget)
            .map_err(|fault| fault.with_span(&node.span))
    }
}

/// Returns the value of `loop` for one item.
fn loop_state<'a>(items: &[Value<'a>], at: usize, depth: usize) -> Outcome<Value<'a>> {
    let len = items.len();
    let mut table = Table::default();
    let mut field =
        |name: &'static str, value: Value<'a>| table.insert(Value::Str(Text::Ref(name)), value);
    field("index", Value::int(at + 1))?;
    field("index0", Value::int(at))?;
    field("revindex", Value::int(len - at))?;
    field("revindex0", Value::int(len - at - 1))?;
    field("first", Value::Bool(at == 0))?;
    field("last", Value::Bool(at + 1 == len))?;
    field("length", Value::int(len))?;
    field("depth", Value::int(depth + 1))?;
    field("depth0", Value::int(depth))?;
    if let Some(before) = at.checked_sub(1) {
        field("previtem", items[before].clone())?;
    }
    if let Some(next) = items.get(at + 1) {
        field("nextitem", next.clone())?;
    }
    Ok(table.finish())
}
