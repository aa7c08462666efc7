//! Finds the names of which a compute block reads a member (an attribute, an item or a method), and the names
//! that it tests.
//!
//! A test anywhere in the block counts everywhere: the order of statements is ignored. Not here: which names
//! may be None.

use std::collections::HashSet;
use std::ops::Range;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Comprehension, Expr, Stmt};
use ruff_python_parser::parse_module;

use crate::compute;

/// The members that a block reads, and the names that it tests.
#[derive(Default)]
pub(crate) struct Members {
    read: Vec<(String, Range<usize>)>,
    tested: HashSet<String>,
    /// The number of enclosing `try` blocks with handlers.
    handled: usize,
}

/// Finds the members that a block reads. `None` if the block is not valid Python, or nested too deeply.
pub(crate) fn find(code: &str) -> Option<Members> {
    if !compute::is_walkable(code) {
        return None;
    }
    let module = parse_module(code).ok()?;
    let mut members = Members::default();
    members.visit_body(&module.syntax().body);
    Some(members)
}

impl Members {
    /// Returns where the block first reads a member of a name that it never tests.
    pub(crate) fn first_unguarded(&self, name: &str) -> Option<&Range<usize>> {
        if self.tested.contains(name) {
            return None;
        }
        let mut read = self.read.iter();
        read.find(|(read, _)| read == name).map(|(_, span)| span)
    }

    fn read_member_of(&mut self, value: &Expr) {
        if let Expr::Name(name) = value
            && self.handled == 0
        {
            let span = name.range.start().to_usize()..name.range.end().to_usize();
            self.read.push((name.id.to_string(), span));
        }
    }

    /// Records the names that a test depends on: every name in it except those whose members it reads.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the syntax tree belongs to the Python parser"
    )]
    fn test(&mut self, test: &Expr) {
        match test {
            Expr::Name(name) => drop(self.tested.insert(name.id.to_string())),
            Expr::BoolOp(both) => both.values.iter().for_each(|value| self.test(value)),
            Expr::UnaryOp(unary) => self.test(&unary.operand),
            Expr::Named(named) => self.test(&named.value),
            Expr::Call(call) => call.arguments.args.iter().for_each(|arg| self.test(arg)),
            Expr::Compare(compare) => {
                self.test(&compare.left);
                compare.comparators.iter().for_each(|side| self.test(side));
            }
            _ => {}
        }
    }
}

impl<'a> Visitor<'a> for Members {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the syntax tree belongs to the Python parser"
    )]
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::If(branch) => {
                self.test(&branch.test);
                let others = branch.elif_else_clauses.iter();
                others
                    .filter_map(|other| other.test.as_ref())
                    .for_each(|test| self.test(test));
            }
            Stmt::While(repeat) => self.test(&repeat.test),
            Stmt::Assert(assert) => self.test(&assert.test),
            Stmt::Match(cases) => self.test(&cases.subject),
            Stmt::Try(attempt) if !attempt.handlers.is_empty() => {
                self.handled += 1;
                visitor::walk_stmt(self, stmt);
                self.handled -= 1;
                return;
            }
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the syntax tree belongs to the Python parser"
    )]
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Attribute(attribute) => self.read_member_of(&attribute.value),
            Expr::Subscript(item) => self.read_member_of(&item.value),
            Expr::If(choice) => self.test(&choice.test),
            Expr::BoolOp(_) | Expr::Compare(_) => self.test(expr),
            Expr::UnaryOp(unary) if unary.op.is_not() => self.test(expr),
            _ => {}
        }
        visitor::walk_expr(self, expr);
    }

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        comprehension.ifs.iter().for_each(|test| self.test(test));
        visitor::walk_comprehension(self, comprehension);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_access_is_required_unless_the_block_tests_it() {
        for (code, expected) in [
            ("result = a.x", Some(9..10)),
            ("result = a['x']", Some(9..10)),
            ("result = a.get('x')", Some(9..10)),
            ("result = [n for n in a.names]", Some(21..22)),
            ("if a.x:\n  result = 1", Some(3..4)),
            ("if not a.x:\n  result = 1", Some(7..8)),
            ("result = a", None),
            ("result = (a or {}).get('x')", None),
            ("result = a.x if a else 0", None),
            ("result = a.x if a is not None else 0", None),
            ("result = a and a.x", None),
            ("result = 0 if not a else a.x", None),
            ("if b:\n  pass\nelif a:\n  result = a.x", None),
            ("while a:\n  result = a.pop()", None),
            ("if isinstance(a, dict):\n  result = a.x", None),
            ("result = [n for n in b if a and a.x]", None),
            (
                "try:\n  result = a.x\nexcept AttributeError:\n  result = 0",
                None,
            ),
            (
                "match a:\n  case None: result = 0\n  case _: result = a.x",
                None,
            ),
            ("if (b := a):\n  result = a.x", None),
        ] {
            let found = find(code).unwrap();
            assert_eq!(found.first_unguarded("a").cloned(), expected, "{code}");
        }
        assert!(find("def").is_none());
    }
}
