//! Free names of a condition: those that it reads and does not bind itself.
//!
//! The walk follows the order of evaluation: `n` is bound after `(n := 1)`, but free before it. Python's
//! three rules about `:=` in comprehensions are checked here too, because they need the same scopes.
//! Builtins are not reported. Not here: whether a name exists.

use std::ops::Range;

use deft_values::ast::{
    Argument, Clause, Constant, DictItem, Expr, ExprKind, FStringPart, Ident, Param, Target,
};

use crate::error::SyntaxError;
use crate::names::{NameUse, in_text_order};

/// The builtins of Python that a condition may use, sorted.
///
/// `id` and `input` are missing on purpose: in skills they are usually names of values.
#[rustfmt::skip]
const BUILTINS: [&str; 48] = [
    "abs", "all", "any", "ascii", "bin", "bool", "bytearray", "bytes", "callable", "chr",
    "complex", "dict", "divmod", "enumerate", "filter", "float", "format", "frozenset", "getattr",
    "hasattr", "hash", "hex", "int", "isinstance", "issubclass", "iter", "len", "list", "map",
    "max", "min", "next", "object", "oct", "ord", "pow", "range", "repr", "reversed", "round",
    "set", "slice", "sorted", "str", "sum", "tuple", "type", "zip",
];

/// Builtins that require full Python, sorted.
const FULL: [&str; 7] = [
    "bytearray",
    "bytes",
    "complex",
    "frozenset",
    "hash",
    "object",
    "slice",
];

/// Returns the free names of a condition in text order.
pub(super) fn collect(expr: &Expr) -> Result<Names, SyntaxError> {
    let mut walk = Walk::default();
    walk.expr(expr);
    match walk.error {
        Some(error) => Err(error),
        None => Ok(Names {
            free: in_text_order(walk.uses),
            read: walk.read.into_iter().map(str::to_owned).collect(),
            unsupported: walk.unsupported,
        }),
    }
}

/// The names in a condition.
pub(super) struct Names {
    /// Every use of a name that is neither bound nor a builtin.
    pub(super) free: Vec<NameUse>,
    /// Every name once, including bound ones and builtins, because a scope may define these too.
    pub(super) read: Box<[String]>,
    /// The first part that requires full Python, whatever its values are.
    pub(super) unsupported: Option<(String, Range<usize>)>,
}

/// Returns the name of a builtin of Python.
pub(super) fn builtin(name: &str) -> Option<&'static str> {
    let at = BUILTINS.binary_search(&name).ok()?;
    Some(BUILTINS[at])
}

type Attribute = Option<(String, Range<usize>)>;

#[derive(Default)]
struct Walk<'e> {
    uses: Vec<NameUse>,
    /// All names that are read, each once.
    read: Vec<&'e str>,
    /// Parameters and targets whose scope is open.
    bound: Vec<&'e str>,
    /// Names assigned with `:=`, which outlive their comprehension.
    assigned: Vec<&'e str>,
    /// Targets of the enclosing comprehensions, up to the next lambda.
    targets: Vec<&'e str>,
    /// Whether the walk is inside the part of a comprehension after `in`.
    in_iter: bool,
    unsupported: Option<(String, Range<usize>)>,
    /// The first error. The walk continues after it, which keeps the stack frames small.
    error: Option<SyntaxError>,
}

impl<'e> Walk<'e> {
    fn expr(&mut self, expr: &'e Expr) {
        match &expr.kind {
            ExprKind::Name(name) => self.read(name, &expr.span, None),
            ExprKind::Constant(constant) => self.constant(constant, &expr.span),
            ExprKind::FString(parts) => self.fstring(parts),
            ExprKind::Bool { values: items, .. }
            | ExprKind::List(items)
            | ExprKind::Tuple(items)
            | ExprKind::Set(items) => self.exprs(items),
            ExprKind::Unary { operand: inner, .. } | ExprKind::Starred(inner) => {
                self.expr(inner);
            }
            ExprKind::Binary { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Compare { left, rest } => {
                self.expr(left);
                self.exprs(rest.iter().map(|(_, operand)| operand));
            }
            ExprKind::Conditional {
                test,
                then,
                otherwise,
            } => {
                self.expr(test);
                self.expr(then);
                self.expr(otherwise);
            }
            ExprKind::Lambda { params, body } => {
                self.note_unsupported("a lambda", &expr.span);
                self.lambda(params, body);
            }
            ExprKind::Walrus { target, value } => self.walrus(target, value),
            ExprKind::Call { callee, args } => self.call(callee, args),
            ExprKind::Attribute { value, name } => {
                self.member(value, || Some((name.name.clone(), name.span.clone())));
            }
            ExprKind::Subscript { value, index } => {
                self.member(value, || literal_key(index));
                self.expr(index);
            }
            ExprKind::Slice { start, stop, step } => {
                self.exprs([start, stop, step].into_iter().flatten().map(AsRef::as_ref));
            }
            ExprKind::Dict(items) => self.dict(items),
            ExprKind::Comprehension {
                element, clauses, ..
            } => self.comprehension(clauses, &[element]),
            ExprKind::DictComprehension {
                key,
                value,
                clauses,
            } => self.comprehension(clauses, &[key, value]),
        }
    }

    fn constant(&mut self, constant: &Constant, span: &Range<usize>) {
        let what = match constant {
            Constant::Bytes(_) => "a value of bytes",
            Constant::Imaginary(_) => "a complex number",
            _ => return,
        };
        self.note_unsupported(what, span);
    }

    fn note_unsupported(&mut self, what: &str, span: &Range<usize>) {
        self.unsupported
            .get_or_insert((what.to_owned(), span.clone()));
    }

    fn exprs(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        for expr in exprs {
            self.expr(expr);
        }
    }

    fn read(&mut self, name: &'e str, span: &Range<usize>, attribute: Attribute) {
        if !self.read.contains(&name) {
            self.read.push(name);
        }
        let known = self.bound.contains(&name)
            || self.assigned.contains(&name)
            || BUILTINS.binary_search(&name).is_ok();
        if !known {
            self.uses.push(NameUse {
                name: name.to_owned(),
                span: span.clone(),
                // In a condition, a missing result evaluates to `None`.
                guarded: true,
                printed: false,
                attribute,
            });
        }
    }

    /// Walks the owner of an attribute or key.
    fn member(&mut self, value: &'e Expr, attribute: impl FnOnce() -> Attribute) {
        match &value.kind {
            ExprKind::Name(name) => self.read(name, &value.span, attribute()),
            _ => self.expr(value),
        }
    }

    fn call(&mut self, callee: &'e Expr, args: &'e [Argument]) {
        match &callee.kind {
            // A method name is not an attribute of the data.
            ExprKind::Attribute { value, .. } => self.expr(value),
            ExprKind::Name(name) => {
                self.full(name, &callee.span);
                self.expr(callee);
            }
            _ => self.expr(callee),
        }
        self.exprs(args.iter().map(|arg| match arg {
            Argument::Positional(value)
            | Argument::Star(value)
            | Argument::Keyword { value, .. }
            | Argument::DoubleStar(value) => value,
        }));
    }

    /// Records a call of a builtin that requires full Python, unless the condition binds the name.
    fn full(&mut self, name: &str, span: &Range<usize>) {
        let own = self.bound.contains(&name) || self.assigned.contains(&name);
        if !own && FULL.binary_search(&name).is_ok() {
            let what = format!("the function `{name}`");
            self.unsupported.get_or_insert((what, span.clone()));
        }
    }

    fn dict(&mut self, items: &'e [DictItem]) {
        for item in items {
            match item {
                DictItem::Pair(key, value) => self.exprs([key, value]),
                DictItem::Spread(mapping) => self.expr(mapping),
            }
        }
    }

    fn fstring(&mut self, parts: &'e [FStringPart]) {
        for part in parts {
            match part {
                FStringPart::Literal(_) => {}
                FStringPart::Value { expr, format, .. } => {
                    self.expr(expr);
                    self.fstring(format.as_deref().unwrap_or_default());
                }
            }
        }
    }

    fn lambda(&mut self, params: &'e [Param], body: &'e Expr) {
        self.exprs(params.iter().filter_map(|param| param.default.as_ref()));
        let targets = std::mem::take(&mut self.targets);
        let (bound, assigned) = (self.bound.len(), self.assigned.len());
        self.bound
            .extend(params.iter().map(|param| param.name.name.as_str()));
        self.expr(body);
        self.bound.truncate(bound);
        self.assigned.truncate(assigned);
        self.targets = targets;
    }

    fn comprehension(&mut self, clauses: &'e [Clause], elements: &[&'e Expr]) {
        let (bound, targets) = (self.bound.len(), self.targets.len());
        let assigned = self.assigned.len();
        for clause in clauses {
            let outer = std::mem::replace(&mut self.in_iter, true);
            self.expr(&clause.iter);
            self.in_iter = outer;
            self.bind(&clause.target, assigned);
            self.exprs(&clause.conditions);
        }
        self.exprs(elements.iter().copied());
        self.bound.truncate(bound);
        self.targets.truncate(targets);
    }

    /// Binds the target of a clause; `assigned` is the number of `:=` before the comprehension.
    fn bind(&mut self, target: &'e Target, assigned: usize) {
        match target {
            Target::Name(ident) => {
                if self.assigned[assigned..].contains(&ident.name.as_str()) {
                    self.fail(rebound(ident));
                }
                self.bound.push(&ident.name);
                self.targets.push(&ident.name);
            }
            Target::Tuple(items) => {
                for item in items {
                    self.bind(item, assigned);
                }
            }
            Target::Starred(inner) => self.bind(inner, assigned),
        }
    }

    fn walrus(&mut self, target: &'e Ident, value: &'e Expr) {
        if self.in_iter {
            let message = "`:=` is not allowed after `in` in a comprehension";
            self.fail(SyntaxError::new(message, target.span.clone()));
        } else if self.targets.contains(&target.name.as_str()) {
            self.fail(rebound(target));
        }
        self.expr(value);
        self.assigned.push(&target.name);
    }

    fn fail(&mut self, error: SyntaxError) {
        self.error.get_or_insert(error);
    }
}

fn rebound(ident: &Ident) -> SyntaxError {
    let message = format!(
        "`{}` is both a loop variable and assigned with `:=`",
        ident.name
    );
    SyntaxError::new(message, ident.span.clone())
}

/// Returns the key of `x["key"]`, with the span of the key without its quotes if possible.
fn literal_key(index: &Expr) -> Attribute {
    let ExprKind::Constant(Constant::Str(key)) = &index.kind else {
        return None;
    };
    let mut span = index.span.clone();
    if span.len() == key.len() + 2 {
        span = span.start + 1..span.end - 1;
    }
    Some((key.clone(), span))
}

#[cfg(test)]
mod tests {
    use super::{BUILTINS, FULL, builtin};
    use crate::{Condition, EvalKind, Lookup, Scope};

    struct Nothing;

    impl Scope for Nothing {
        fn get(&self, _: &str) -> Lookup {
            Lookup::Unknown
        }
    }

    /// Whether every plausible call of `name` is unsupported.
    fn takes_python(name: &str) -> bool {
        let ways = [
            "", "1", "'a'", "[1]", "'a', 'b'", "1, 2", "str, 'a'", "str, str",
        ];
        ways.iter().all(|args| {
            let condition = Condition::parse(&format!("{name}({args})")).unwrap();
            let result = condition.is_true(&Nothing);
            result.is_err_and(|error| matches!(error.kind, EvalKind::Unsupported))
        })
    }

    #[test]
    fn the_builtins_that_need_the_sandbox_are_known() {
        let full: Vec<&str> = BUILTINS
            .into_iter()
            .filter(|name| takes_python(name))
            .collect();
        assert_eq!(full, FULL);
        assert!(FULL.iter().all(|name| builtin(name).is_some()));
    }

    #[test]
    fn expressions_that_need_the_sandbox_have_a_position() {
        for (text, expected) in [
            ("x == b'a'", Some(("a value of bytes", 5..9))),
            (
                "all(hash(y) for y in x)",
                Some(("the function `hash`", 4..8)),
            ),
            ("2j in x", Some(("a complex number", 0..2))),
            ("isinstance(x, bytes)", None),
            ("(lambda hash: hash(1))(len)", Some(("a lambda", 1..21))),
            ("any(y.title() for y in x)", None),
        ] {
            let condition = Condition::parse(text).unwrap();
            let found = condition.first_unsupported();
            let found = found.map(|(what, span)| (what.as_str(), span.clone()));
            assert_eq!(found, expected, "{text}");
        }
    }
}
