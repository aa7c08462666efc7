//! The syntax tree of a condition: a Python 3.11 expression with byte spans.
//!
//! The tree is designed for an evaluator: literals are decoded, chains of `and`, `or` and comparisons are
//! flat, and assignment targets have their own type. It does not keep parentheses, comments or the notation
//! of literals. The parser limits its height, so recursion over it is safe.

use std::ops::Range;

/// An expression and its span.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The form of the expression.
    pub kind: ExprKind,
    /// Its byte range in the condition, without enclosing parentheses.
    pub span: Range<usize>,
}

/// A name and its span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Its byte range in the condition.
    pub span: Range<usize>,
}

/// The forms of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A variable.
    Name(String),
    /// A literal.
    Constant(Constant),
    /// An f-string with at least one `{…}`; without one it is a [`Constant::Str`].
    FString(Vec<FStringPart>),
    /// `a and b and c`: two or more values under one operator.
    Bool {
        /// `and` or `or`.
        op: BoolOp,
        /// The operands from left to right.
        values: Vec<Expr>,
    },
    /// `not a`, `-a`, …
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Its operand.
        operand: Box<Expr>,
    },
    /// `a + b`, …
    Binary {
        /// The operator.
        op: BinaryOp,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
    /// `a < b <= c`: every operator compares its operand with the previous one.
    Compare {
        /// The first operand.
        left: Box<Expr>,
        /// The operators, each with the operand to its right.
        rest: Vec<(CompareOp, Expr)>,
    },
    /// `then if test else otherwise`.
    Conditional {
        /// Decides which branch is evaluated.
        test: Box<Expr>,
        /// The value when the test is true.
        then: Box<Expr>,
        /// The value when the test is false.
        otherwise: Box<Expr>,
    },
    /// `lambda params: body`. Only its names are analysed; evaluating it requires full Python.
    Lambda {
        /// The parameters in order.
        params: Vec<Param>,
        /// The body.
        body: Box<Expr>,
    },
    /// `target := value`.
    Walrus {
        /// The assigned name.
        target: Ident,
        /// The value, which is also the value of the expression.
        value: Box<Expr>,
    },
    /// `callee(args)`.
    Call {
        /// The called expression.
        callee: Box<Expr>,
        /// The arguments in order.
        args: Vec<Argument>,
    },
    /// `value.name`.
    Attribute {
        /// The object.
        value: Box<Expr>,
        /// The attribute.
        name: Ident,
    },
    /// `value[index]`; the index may be a [`ExprKind::Slice`] or a tuple that contains slices.
    Subscript {
        /// The container.
        value: Box<Expr>,
        /// The index.
        index: Box<Expr>,
    },
    /// `start:stop:step`; only as an index.
    Slice {
        /// The lower bound.
        start: Option<Box<Expr>>,
        /// The upper bound.
        stop: Option<Box<Expr>>,
        /// The stride.
        step: Option<Box<Expr>>,
    },
    /// `[a, *b]`.
    List(Vec<Expr>),
    /// `(a, *b)`, also without parentheses.
    Tuple(Vec<Expr>),
    /// `{a, *b}`.
    Set(Vec<Expr>),
    /// `*a`; only as an element of a list, tuple or set.
    Starred(Box<Expr>),
    /// `{k: v, **d}`.
    Dict(Vec<DictItem>),
    /// `[element for …]`, `{element for …}` or `(element for …)`.
    Comprehension {
        /// The kind of comprehension.
        kind: ComprehensionKind,
        /// The element expression, evaluated once per item.
        element: Box<Expr>,
        /// One or more `for` clauses, outermost first.
        clauses: Vec<Clause>,
    },
    /// `{key: value for …}`.
    DictComprehension {
        /// The key expression, evaluated once per item.
        key: Box<Expr>,
        /// The value expression, evaluated once per item.
        value: Box<Expr>,
        /// One or more `for` clauses, outermost first.
        clauses: Vec<Clause>,
    },
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// `...`.
    Ellipsis,
    /// A non-negative integer that fits into an `i64`.
    Int(i64),
    /// A larger integer.
    BigInt {
        /// The digits without prefix and underscores, lower case.
        digits: String,
        /// 2, 8, 10 or 16.
        radix: u32,
    },
    /// A float.
    Float(f64),
    /// The imaginary part of a complex literal such as `2j`.
    Imaginary(f64),
    /// A string with its escapes decoded.
    Str(String),
    /// A bytes literal with its escapes decoded.
    Bytes(Vec<u8>),
}

/// `and` or `or`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoolOp {
    /// `and`
    And,
    /// `or`
    Or,
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `not`
    Not,
    /// `-`
    Negate,
    /// `+`
    Plus,
    /// `~`
    Invert,
}

/// An arithmetic or bit operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `&`
    BitAnd,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `//`
    FloorDivide,
    /// `%`
    Modulo,
    /// `@`
    MatrixMultiply,
    /// `**`
    Power,
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOp {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `in`
    In,
    /// `not in`
    NotIn,
    /// `is`
    Is,
    /// `is not`
    IsNot,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// `f(a)`
    Positional(Expr),
    /// `f(*a)`
    Star(Expr),
    /// `f(name=value)`
    Keyword {
        /// The parameter.
        name: Ident,
        /// The value.
        value: Expr,
    },
    /// `f(**a)`
    DoubleStar(Expr),
}

/// An entry of a dict display.
#[derive(Clone, Debug, PartialEq)]
pub enum DictItem {
    /// `key: value`
    Pair(Expr, Expr),
    /// `**mapping`
    Spread(Expr),
}

/// The kind of a comprehension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComprehensionKind {
    /// `[…]`
    List,
    /// `{…}`
    Set,
    /// `(…)`, or the only argument of a call.
    Generator,
}

/// `for target in iter if condition …`.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// The target that each item is assigned to.
    pub target: Target,
    /// The expression that is iterated over.
    pub iter: Expr,
    /// The `if` conditions of the clause.
    pub conditions: Vec<Expr>,
}

/// An assignment target of a comprehension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// One name.
    Name(Ident),
    /// `a, b` in any brackets, unpacked; contains at most one [`Target::Starred`].
    Tuple(Vec<Target>),
    /// `*rest` inside a tuple.
    Starred(Box<Target>),
}

/// A parameter of a lambda.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The name.
    pub name: Ident,
    /// How it accepts arguments.
    pub kind: ParamKind,
    /// The default value.
    pub default: Option<Expr>,
}

/// How a parameter accepts arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// Before `/`.
    PositionalOnly,
    /// By position or name.
    Standard,
    /// `*args`
    VarArgs,
    /// After `*`.
    KeywordOnly,
    /// `**kwargs`
    VarKeywords,
}

/// A part of an f-string.
#[derive(Clone, Debug, PartialEq)]
pub enum FStringPart {
    /// Text with its escapes decoded.
    Literal(String),
    /// `{value!r:format}`; `{value=}` is a literal `value=` before a value with `!r`.
    Value {
        /// The expression in the braces.
        expr: Box<Expr>,
        /// The conversion after `!`.
        conversion: Option<Conversion>,
        /// The format spec after `:`.
        format: Option<Vec<FStringPart>>,
    },
}

/// The conversion of an f-string value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// `!s`
    Str,
    /// `!r`
    Repr,
    /// `!a`
    Ascii,
}
