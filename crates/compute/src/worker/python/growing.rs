//! Fast string appends in loops: `s += part` takes time proportional to `part`, not to `s`.
//!
//! `CPython` appends in place when there is no other reference to the string. `RustPython` 0.6.0 copies it
//! each time, so that a loop takes quadratic time. This module rewrites such loops before compiling: while a
//! name grows it holds a list of parts, and wherever it is read the parts are joined first. `s += part`
//! becomes `s = __grow__(s, (part))`, and `s` becomes `__text__(s)`; line numbers do not change.
//!
//! Only names that are assigned a string somewhere and grow in a loop are rewritten, and only where code
//! cannot notice: the code contains nothing that lists or evaluates names, and the name is not `global`,
//! `nonlocal` or in a class. For values other than strings both functions behave like `+=`.

use std::cell::Cell;
use std::collections::BTreeSet;

use rustpython_vm::builtins::{PyList, PyStr, PyTypeRef};
use rustpython_vm::common::wtf8::Wtf8Buf;
use rustpython_vm::compiler::ast::visitor::{Visitor, walk_expr, walk_stmt};
use rustpython_vm::compiler::ast::{Expr, ExprContext, Operator, Stmt};
use rustpython_vm::compiler::parser::parse_module;
use rustpython_vm::{AsObject as _, PyObjectRef, PyPayload as _, PyResult, VirtualMachine};

/// Shorter strings are copied.
const COPY_LIMIT: usize = 256;

/// This many parts are joined into one, to save memory.
const PARTS: usize = 4096;

/// Code that contains one of these may access names indirectly.
const DYNAMIC: [&str; 8] = [
    "__", "dir(", "eval", "exec", "globals", "locals", "vars", "=}",
];

thread_local! {
    /// The class of growing strings. Leaked, because interpreter objects must not be dropped outside of the
    /// interpreter.
    static GROWING: Cell<Option<&'static PyTypeRef>> = const { Cell::new(None) };
}

/// Adds the two functions to the builtins.
pub(super) fn install(class: PyTypeRef, vm: &VirtualMachine) -> PyResult<()> {
    GROWING.set(Some(Box::leak(Box::new(class))));
    let builtins = vm.builtins.dict();
    builtins.set_item("__grow__", vm.new_function("__grow__", grow).into(), vm)?;
    builtins.set_item("__text__", vm.new_function("__text__", text).into(), vm)
}

fn is_growing(object: &PyObjectRef) -> bool {
    GROWING.get().is_some_and(|class| object.class().is(class))
}

/// Implements `s += part`.
fn grow(whole: PyObjectRef, part: PyObjectRef, vm: &VirtualMachine) -> PyResult {
    let is_text = part.downcast_ref_if_exact::<PyStr>(vm).is_some();
    if is_text
        && is_growing(&whole)
        && let Some(parts) = whole.downcast_ref::<PyList>()
    {
        parts.borrow_vec_mut().push(part);
        if parts.borrow_vec().len() >= PARTS {
            join(parts, vm);
        }
        return Ok(whole);
    }
    let whole = text(whole, vm);
    let long = |text: &PyStr| text.byte_len() >= COPY_LIMIT;
    match (whole.downcast_ref_if_exact::<PyStr>(vm), GROWING.get()) {
        (Some(start), Some(class)) if is_text && long(start) => {
            let parts = PyList::from(vec![whole, part]);
            Ok(parts.into_ref_with_type(vm, class.clone())?.into())
        }
        _ => vm._iadd(&whole, &part),
    }
}

/// Returns the string of an object that may be growing; other objects are returned unchanged.
pub(crate) fn text(object: PyObjectRef, vm: &VirtualMachine) -> PyObjectRef {
    if is_growing(&object)
        && let Some(parts) = object.downcast_ref::<PyList>()
    {
        return join(parts, vm);
    }
    object
}

/// Joins all parts into one.
fn join(parts: &PyList, vm: &VirtualMachine) -> PyObjectRef {
    let mut parts = parts.borrow_vec_mut();
    if let [only] = parts.as_slice() {
        return only.clone();
    }
    let mut whole = Wtf8Buf::new();
    for part in parts.iter() {
        if let Some(part) = part.downcast_ref::<PyStr>() {
            whole.push_wtf8(part.as_wtf8());
        }
    }
    let whole: PyObjectRef = vm.ctx.new_str(whole).into();
    *parts = vec![whole.clone()];
    whole
}

/// Returns the code with its loops rewritten, or `None` if nothing is to be rewritten.
pub(crate) fn rewrite(code: &str) -> Option<String> {
    let loops = code.contains("for ") || code.contains("while ");
    if !loops || !code.contains("+=") || DYNAMIC.iter().any(|word| code.contains(word)) {
        return None;
    }
    let tree = parse_module(code).ok()?;
    let mut found = NameUsage::default();
    tree.syntax()
        .body
        .iter()
        .for_each(|stmt| found.visit_stmt(stmt));
    let names: BTreeSet<&str> = found.grown.difference(&found.other).copied().collect();
    let names: BTreeSet<&str> = names.intersection(&found.given).copied().collect();
    if names.is_empty() {
        return None;
    }
    let mut edits = Edits {
        code,
        names,
        found: Vec::new(),
        strange: false,
    };
    tree.syntax()
        .body
        .iter()
        .for_each(|stmt| edits.visit_stmt(stmt));
    if edits.strange {
        return None;
    }
    edits.found.sort();
    let (mut out, mut at) = (String::with_capacity(code.len() * 2), 0);
    for (from, to, with) in edits.found {
        out.push_str(code.get(at..from)?);
        out.push_str(&with);
        at = to;
    }
    out.push_str(code.get(at..)?);
    Some(out)
}

/// How the names of the code are used.
#[derive(Default)]
struct NameUsage<'a> {
    looping: usize,
    classes: usize,
    /// Names that grow in a loop.
    grown: BTreeSet<&'a str>,
    /// Names that are assigned a string.
    given: BTreeSet<&'a str>,
    /// Names that other scopes can access.
    other: BTreeSet<&'a str>,
}

impl<'a> Visitor<'a> for NameUsage<'a> {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the grammar of Python has many statements, and few of them let a text grow"
    )]
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let is_loop = matches!(stmt, Stmt::For(_) | Stmt::While(_));
        let is_class = matches!(stmt, Stmt::ClassDef(_));
        match stmt {
            Stmt::AugAssign(grows) => {
                if let Expr::Name(name) = &*grows.target {
                    if self.classes > 0 {
                        self.other.insert(name.id.as_str());
                    } else if self.looping > 0 && grows.op == Operator::Add {
                        self.grown.insert(name.id.as_str());
                    }
                }
            }
            Stmt::Assign(given)
                if matches!(&*given.value, Expr::StringLiteral(_) | Expr::FString(_)) =>
            {
                let names = given.targets.iter().filter_map(Expr::as_name_expr);
                self.given.extend(names.map(|name| name.id.as_str()));
            }
            Stmt::Global(names) => self
                .other
                .extend(names.names.iter().map(|name| name.id.as_str())),
            Stmt::Nonlocal(names) => self
                .other
                .extend(names.names.iter().map(|name| name.id.as_str())),
            _ => {}
        }
        self.looping += usize::from(is_loop);
        self.classes += usize::from(is_class);
        walk_stmt(self, stmt);
        self.looping -= usize::from(is_loop);
        self.classes -= usize::from(is_class);
    }
}

/// The edits to the code: start, end, and new text.
struct Edits<'a> {
    code: &'a str,
    names: BTreeSet<&'a str>,
    found: Vec<(usize, usize, String)>,
    /// Whether the code contains a form that cannot be rewritten safely.
    strange: bool,
}

impl<'a> Visitor<'a> for Edits<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::AugAssign(grows) = stmt
            && let Expr::Name(name) = &*grows.target
            && self.names.contains(name.id.as_str())
        {
            let (start, end) = (grows.range.start().to_usize(), grows.range.end().to_usize());
            let (from, name) = (name.range.end().to_usize(), name.id.as_str());
            if grows.op == Operator::Add {
                let between = self
                    .code
                    .get(from..end)
                    .and_then(|rest| rest.split_once("+="));
                // With a bracket or a line end in between, the text cannot be split safely.
                let plain = between.is_some_and(|(before, _)| before.trim_matches(' ').is_empty());
                self.strange |= !plain || start + name.len() != from;
                let value = from + between.map_or(0, |(before, _)| before.len() + 2);
                self.found
                    .push((start, value, format!("{name} = __grow__({name}, (")));
                self.found.push((end, end, "))".to_owned()));
            } else {
                self.found
                    .push((start, start, format!("{name} = __text__({name}); ")));
            }
            self.visit_expr(&grows.value);
            return;
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr
            && name.ctx == ExprContext::Load
            && self.names.contains(name.id.as_str())
        {
            let (from, to) = (name.range.start().to_usize(), name.range.end().to_usize());
            self.found
                .push((from, to, format!("__text__({})", name.id)));
        }
        walk_expr(self, expr);
    }
}

#[cfg(test)]
mod tests {
    use super::rewrite;

    #[test]
    fn growing_strings_stay_in_parts_until_read() {
        let code = "s = ''\nfor i in x:\n    s += f'{i} ' if i else s[0]\nresult = s.strip()\n";
        let expected = "s = ''\nfor i in x:\n    s = __grow__(s, ( f'{i} ' if i else __text__(s)[0]))\n\
                        result = __text__(s).strip()\n";
        assert_eq!(rewrite(code).as_deref(), Some(expected));
        let code = "s = ''\nwhile x: s += 'a', ; s *= 2";
        let expected = "s = ''\nwhile x: s = __grow__(s, ( 'a',)) ; s = __text__(s); s *= 2";
        assert_eq!(rewrite(code).as_deref(), Some(expected));
    }

    #[test]
    fn other_code_is_unchanged() {
        for code in [
            "n = 0\nfor i in x:\n    n += 1",
            "s = ''\ns += 'a'",
            "s = ''\nfor i in x:\n    s += 'a'\nprint(locals())",
            "s = ''\nfor i in x:\n    s \\\n  += 'a'",
            "s = ''\nfor i in x:\n    (s) += 'a'",
            "s = ''\ndef f():\n    global s\n    for i in x:\n        s += 'a'",
            "class A:\n    s = ''\n    for i in 'ab':\n        s += i",
            "s = ''\nfor i in x:\n    s += f'{s=}'",
            "s = ''\nfor i in x:\n    s += (",
        ] {
            assert_eq!(rewrite(code), None, "{code}");
        }
    }
}
