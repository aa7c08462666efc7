//! Finds the names that a compute block sets and reads.
//!
//! A name that is set anywhere counts as set everywhere: whether it is set before it is read is ignored. Not
//! here: which names are available in a step.

use std::collections::HashSet;
use std::ops::Range;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Alias, ExceptHandler, Expr, Parameter, Pattern, Stmt};
use ruff_python_parser::parse_module;

use crate::compute;

/// The names in a block.
#[derive(Default)]
pub(crate) struct Names {
    bound: HashSet<String>,
    read: Vec<(String, Range<usize>)>,
    /// Whether names may be set in other ways: `from x import *`, `globals()`, …
    open: bool,
}

/// Finds the names in a block. `None` if the block is not valid Python, or nested too deeply.
pub(crate) fn find(code: &str) -> Option<Names> {
    if !compute::is_walkable(code) {
        return None;
    }
    let module = parse_module(code).ok()?;
    let mut names = Names::default();
    names.visit_body(&module.syntax().body);
    Some(names)
}

impl Names {
    /// Returns whether the block sets a name.
    pub(crate) fn binds(&self, name: &str) -> bool {
        self.open || self.bound.contains(name)
    }

    /// Returns the names that are read but neither set nor built in, each with the position of its first use.
    pub(crate) fn free(&self) -> impl Iterator<Item = (&str, &Range<usize>)> {
        let mut seen = HashSet::new();
        let read = self.read.iter().filter(|_| !self.open);
        read.filter(move |(name, _)| {
            let known = self.bound.contains(name) || BUILTINS.binary_search(&name.as_str()).is_ok();
            !known && seen.insert(name)
        })
        .map(|(name, span)| (name.as_str(), span))
    }

    fn bind(&mut self, name: &str) {
        self.bound.insert(name.to_owned());
    }

    fn bind_alias(&mut self, alias: &Alias) {
        match &alias.asname {
            Some(name) => self.bind(name),
            None if &*alias.name == "*" => self.open = true,
            None => self.bind(alias.name.split('.').next().unwrap_or_default()),
        }
    }
}

impl<'a> Visitor<'a> for Names {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the syntax tree belongs to the Python parser"
    )]
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => self.bind(&function.name),
            Stmt::ClassDef(class) => self.bind(&class.name),
            Stmt::Global(global) => global.names.iter().for_each(|name| self.bind(name)),
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr {
            if name.ctx.is_load() {
                let span = name.range.start().to_usize()..name.range.end().to_usize();
                self.open |= matches!(name.id.as_str(), "globals" | "locals" | "vars" | "exec");
                self.read.push((name.id.to_string(), span));
            } else {
                self.bind(&name.id);
            }
        }
        visitor::walk_expr(self, expr);
    }

    fn visit_alias(&mut self, alias: &'a Alias) {
        self.bind_alias(alias);
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.bind(&parameter.name);
        visitor::walk_parameter(self, parameter);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(caught) = handler;
        if let Some(name) = &caught.name {
            self.bind(name);
        }
        visitor::walk_except_handler(self, handler);
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the syntax tree belongs to the Python parser"
    )]
    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(found) => found.name.as_ref(),
            Pattern::MatchStar(found) => found.name.as_ref(),
            Pattern::MatchMapping(found) => found.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.bind(name);
        }
        visitor::walk_pattern(self, pattern);
    }
}

/// Python's built-in names, sorted. Includes those that the sandbox rejects, because it reports that itself.
#[rustfmt::skip]
const BUILTINS: &[&str] = &[
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BaseExceptionGroup",
    "BlockingIOError", "BrokenPipeError", "BufferError", "BytesWarning", "ChildProcessError",
    "ConnectionAbortedError", "ConnectionError", "ConnectionRefusedError", "ConnectionResetError",
    "DeprecationWarning", "EOFError", "Ellipsis", "EncodingWarning", "EnvironmentError", "Exception",
    "ExceptionGroup", "False", "FileExistsError", "FileNotFoundError", "FloatingPointError",
    "FutureWarning", "GeneratorExit", "IOError", "ImportError", "ImportWarning", "IndentationError",
    "IndexError", "InterruptedError", "IsADirectoryError", "KeyError", "KeyboardInterrupt",
    "LookupError", "MemoryError", "ModuleNotFoundError", "NameError", "None", "NotADirectoryError",
    "NotImplemented", "NotImplementedError", "OSError", "OverflowError", "PendingDeprecationWarning",
    "PermissionError", "ProcessLookupError", "RecursionError", "ReferenceError", "ResourceWarning",
    "RuntimeError", "RuntimeWarning", "StopAsyncIteration", "StopIteration", "SyntaxError",
    "SyntaxWarning", "SystemError", "SystemExit", "TabError", "TimeoutError", "True", "TypeError",
    "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError",
    "UnicodeTranslateError", "UnicodeWarning", "UserWarning", "ValueError", "Warning",
    "ZeroDivisionError", "__build_class__", "__builtins__", "__debug__", "__doc__", "__file__",
    "__import__", "__name__", "abs", "aiter", "all", "anext", "any", "ascii", "bin", "bool",
    "breakpoint", "bytearray", "bytes", "callable", "chr", "classmethod", "compile", "complex",
    "copyright", "credits", "delattr", "dict", "dir", "divmod", "enumerate", "eval", "exec", "exit",
    "filter", "float", "format", "frozenset", "getattr", "globals", "hasattr", "hash", "help", "hex",
    "id", "input", "int", "isinstance", "issubclass", "iter", "len", "license", "list", "locals",
    "map", "max", "memoryview", "min", "next", "object", "oct", "open", "ord", "pow", "print",
    "property", "quit", "range", "repr", "reversed", "round", "set", "setattr", "slice", "sorted",
    "staticmethod", "str", "sum", "super", "tuple", "type", "vars", "zip",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn free(code: &str) -> Vec<String> {
        let names = find(code).unwrap();
        names.free().map(|(name, _)| name.to_owned()).collect()
    }

    #[test]
    fn builtins_are_sorted() {
        assert!(BUILTINS.is_sorted());
    }

    #[test]
    fn assigned_names_are_not_free() {
        for (code, expected) in [
            ("result = a + b", vec!["a", "b"]),
            ("import os.path, json as j\nresult = os, j", vec![]),
            ("from re import sub as s, match\nresult = s, match", vec![]),
            ("for x, *y in z:\n  result = x, y", vec!["z"]),
            ("result = [x for x in xs if (n := x)], n", vec!["xs"]),
            (
                "def f(a, *b, c=1, **d):\n  return a, b, c, d, e\nresult = f",
                vec!["e"],
            ),
            (
                "try:\n  pass\nexcept ValueError as e:\n  result = e",
                vec![],
            ),
            ("with a as b:\n  result = b", vec!["a"]),
            (
                "match a:\n  case {'k': v, **rest}: result = v, rest\n  case [*xs]: result = xs",
                vec!["a"],
            ),
            ("result = lambda q: q + w", vec!["w"]),
            ("from x import *\nresult = anything", vec![]),
            ("result = f'{a!r:>{b}}'", vec!["a", "b"]),
        ] {
            assert_eq!(free(code), expected, "{code}");
        }
        assert!(find("x = 1").is_some_and(|names| !names.binds("result")));
        assert!(find("def").is_none());
    }
}
