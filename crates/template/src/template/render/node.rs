//! The tree that is rendered; it does not borrow from the text.
//!
//! `lower` creates it once, with only what the renderer needs. Operators are Python's, because Jinja's have
//! Python's semantics.

use std::ops::Range;

use deft_values::ast::{BinaryOp, CompareOp};

/// A compiled template.
#[derive(Debug)]
pub(crate) struct Program {
    pub(super) body: Vec<Stmt>,
    /// Every name in it once, for the cache of values read from the scope.
    pub(super) read: Box<[String]>,
}

#[derive(Debug)]
pub(super) enum Stmt {
    Text(String),
    Emit(Node),
    For(Box<For>),
    If {
        test: Node,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    With {
        assignments: Vec<(Node, Node)>,
        body: Vec<Stmt>,
    },
    Set {
        target: Node,
        value: Node,
    },
    /// Text that is assigned to `target`, or filtered and written if there is no target.
    Capture {
        target: Option<Node>,
        filter: Option<Node>,
        body: Vec<Stmt>,
    },
    Body(Vec<Stmt>),
    Do(Node),
    Macro(Box<Macro>),
}

/// A macro; the defaults belong to its last parameters.
#[derive(Debug)]
pub(super) struct Macro {
    pub(super) name: String,
    pub(super) params: Vec<String>,
    pub(super) defaults: Vec<Node>,
    pub(super) body: Vec<Stmt>,
}

#[derive(Debug)]
pub(super) struct For {
    pub(super) target: Node,
    pub(super) iter: Node,
    pub(super) condition: Option<Node>,
    pub(super) body: Vec<Stmt>,
    pub(super) otherwise: Vec<Stmt>,
    /// Whether `loop` is read; its value takes time to build.
    pub(super) uses_loop: bool,
    pub(super) recursive: bool,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    pub(super) span: Range<usize>,
}

#[derive(Debug)]
pub(super) enum NodeKind {
    Name(String),
    Const(Const),
    Attr(Box<Node>, String),
    Item(Box<Node>, Box<Node>),
    Slice(Box<Slice>),
    Not(Box<Node>),
    Negate(Box<Node>),
    And(Box<(Node, Node)>),
    Or(Box<(Node, Node)>),
    Binary(BinaryOp, Box<(Node, Node)>),
    /// `a ~ b`
    Concat(Box<(Node, Node)>),
    Compare(Box<Node>, Vec<(CompareOp, Node)>),
    If(Box<Branches>),
    Filter(Box<Apply>),
    Test(Box<Apply>),
    Call(Box<Node>, Vec<Arg>),
    List(Vec<Node>),
    Tuple(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

#[derive(Debug)]
pub(super) enum Const {
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    Str(String),
}

#[derive(Debug)]
pub(super) struct Slice {
    pub(super) value: Node,
    pub(super) start: Option<Node>,
    pub(super) stop: Option<Node>,
    pub(super) step: Option<Node>,
}

#[derive(Debug)]
pub(super) struct Branches {
    pub(super) test: Node,
    pub(super) then: Node,
    pub(super) otherwise: Option<Node>,
}

/// A filter or test; without an input it applies to captured text.
#[derive(Debug)]
pub(super) struct Apply {
    pub(super) input: Option<Node>,
    pub(super) name: String,
    pub(super) args: Vec<Arg>,
}

#[derive(Debug)]
pub(super) enum Arg {
    Positional(Node),
    Named(String, Node),
    Star(Node),
    DoubleStar(Node),
}

impl Node {
    /// Returns the path of a plain expression for messages: `a.b[0]`.
    pub(super) fn path(&self) -> String {
        match &self.kind {
            NodeKind::Name(name) => name.clone(),
            NodeKind::Attr(value, name) => format!("{}.{name}", value.path()),
            NodeKind::Item(value, index) => match &index.kind {
                NodeKind::Const(Const::Str(key)) => format!("{}.{key}", value.path()),
                NodeKind::Const(Const::Int(at)) => format!("{}[{at}]", value.path()),
                _ => format!("{}[…]", value.path()),
            },
            _ => "…".to_owned(),
        }
    }
}
