//! Export of a condition's tree as JSON, in the format that `cpython.py` uses for Python's tree.

use deft_template::{
    Argument, BinaryOp, BoolOp, Clause, CompareOp, ComprehensionKind, Constant, Conversion,
    DictItem, Expr, ExprKind, FStringPart, Param, ParamKind, Target, UnaryOp,
};
use serde_json::{Value, json};

pub(crate) fn expr(node: &Expr) -> Value {
    match &node.kind {
        ExprKind::Name(name) => json!(["name", name]),
        ExprKind::Constant(value) => constant(value),
        ExprKind::FString(parts) => json!(["fstring", fstring(parts)]),
        ExprKind::Bool { op, values } => json!([bool_op(*op), exprs(values)]),
        ExprKind::Unary { op, operand } => json!([unary_op(*op), expr(operand)]),
        ExprKind::Binary { op, left, right } => json!([binary_op(*op), expr(left), expr(right)]),
        ExprKind::Compare { left, rest } => {
            let rest: Vec<_> = rest
                .iter()
                .map(|(op, e)| json!([compare_op(*op), expr(e)]))
                .collect();
            json!(["compare", expr(left), rest])
        }
        ExprKind::Conditional {
            test,
            then,
            otherwise,
        } => {
            json!(["if", expr(test), expr(then), expr(otherwise)])
        }
        ExprKind::Lambda { params, body } => {
            json!([
                "lambda",
                params.iter().map(param).collect::<Vec<_>>(),
                expr(body)
            ])
        }
        ExprKind::Walrus { target, value } => json!(["walrus", target.name, expr(value)]),
        ExprKind::Call { callee, args } => call(callee, args),
        ExprKind::Attribute { value, name } => json!(["attribute", expr(value), name.name]),
        ExprKind::Subscript { value, index } => json!(["subscript", expr(value), expr(index)]),
        ExprKind::Slice { start, stop, step } => {
            let part = |part: &Option<Box<Expr>>| part.as_ref().map(|e| expr(e));
            json!(["slice", part(start), part(stop), part(step)])
        }
        ExprKind::List(items) => json!(["list", exprs(items)]),
        ExprKind::Tuple(items) => json!(["tuple", exprs(items)]),
        ExprKind::Set(items) => json!(["set", exprs(items)]),
        ExprKind::Starred(value) => json!(["star", expr(value)]),
        ExprKind::Dict(items) => json!(["dict", items.iter().map(dict_item).collect::<Vec<_>>()]),
        ExprKind::Comprehension {
            kind,
            element,
            clauses,
        } => {
            let name = match kind {
                ComprehensionKind::List => "listcomp",
                ComprehensionKind::Set => "setcomp",
                ComprehensionKind::Generator => "generator",
            };
            json!([name, expr(element), all_clauses(clauses)])
        }
        ExprKind::DictComprehension {
            key,
            value,
            clauses,
        } => {
            json!(["dictcomp", expr(key), expr(value), all_clauses(clauses)])
        }
    }
}

fn exprs(items: &[Expr]) -> Vec<Value> {
    items.iter().map(expr).collect()
}

fn constant(value: &Constant) -> Value {
    match value {
        Constant::None => json!(["none"]),
        Constant::Bool(value) => json!(["bool", value]),
        Constant::Ellipsis => json!(["ellipsis"]),
        Constant::Int(value) => json!(["int", value.to_string()]),
        Constant::BigInt { digits, radix } => {
            json!([
                "int",
                u128::from_str_radix(digits, *radix).unwrap().to_string()
            ])
        }
        Constant::Float(value) => json!(["float", value.to_bits().to_string()]),
        Constant::Imaginary(value) => json!(["imaginary", value.to_bits().to_string()]),
        Constant::Str(value) => json!(["str", value]),
        Constant::Bytes(value) => json!(["bytes", value]),
    }
}

fn fstring(parts: &[FStringPart]) -> Vec<Value> {
    parts
        .iter()
        .map(|part| match part {
            FStringPart::Literal(text) => json!(["str", text]),
            FStringPart::Value {
                expr: value,
                conversion,
                format,
            } => {
                let conversion = conversion.map(|conversion| match conversion {
                    Conversion::Str => "s",
                    Conversion::Repr => "r",
                    Conversion::Ascii => "a",
                });
                json!([
                    "value",
                    expr(value),
                    conversion,
                    format.as_ref().map(|f| fstring(f))
                ])
            }
        })
        .collect()
}

/// Python keeps positional and keyword arguments in separate lists, so only the order within each is
/// compared.
fn call(callee: &Expr, args: &[Argument]) -> Value {
    let mut positional = Vec::new();
    let mut keywords = Vec::new();
    for arg in args {
        match arg {
            Argument::Positional(value) => positional.push(expr(value)),
            Argument::Star(value) => positional.push(json!(["star", expr(value)])),
            Argument::Keyword { name, value } => keywords.push(json!([name.name, expr(value)])),
            Argument::DoubleStar(value) => keywords.push(json!([null, expr(value)])),
        }
    }
    json!(["call", expr(callee), positional, keywords])
}

fn dict_item(item: &DictItem) -> Value {
    match item {
        DictItem::Pair(key, value) => json!([expr(key), expr(value)]),
        DictItem::Spread(mapping) => json!([null, expr(mapping)]),
    }
}

fn all_clauses(clauses: &[Clause]) -> Vec<Value> {
    let clause = |c: &Clause| json!([target(&c.target), expr(&c.iter), exprs(&c.conditions)]);
    clauses.iter().map(clause).collect()
}

fn target(node: &Target) -> Value {
    match node {
        Target::Name(ident) => json!(["name", ident.name]),
        Target::Tuple(items) => json!(["tuple", items.iter().map(target).collect::<Vec<_>>()]),
        Target::Starred(inner) => json!(["star", target(inner)]),
    }
}

fn param(param: &Param) -> Value {
    let kind = match param.kind {
        ParamKind::PositionalOnly => "posonly",
        ParamKind::Standard => "standard",
        ParamKind::VarArgs => "varargs",
        ParamKind::KeywordOnly => "kwonly",
        ParamKind::VarKeywords => "varkw",
    };
    json!([kind, param.name.name, param.default.as_ref().map(expr)])
}

fn bool_op(op: BoolOp) -> &'static str {
    match op {
        BoolOp::And => "And",
        BoolOp::Or => "Or",
    }
}

fn unary_op(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Not => "Not",
        UnaryOp::Negate => "USub",
        UnaryOp::Plus => "UAdd",
        UnaryOp::Invert => "Invert",
    }
}

fn binary_op(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::BitOr => "BitOr",
        BinaryOp::BitXor => "BitXor",
        BinaryOp::BitAnd => "BitAnd",
        BinaryOp::ShiftLeft => "LShift",
        BinaryOp::ShiftRight => "RShift",
        BinaryOp::Add => "Add",
        BinaryOp::Subtract => "Sub",
        BinaryOp::Multiply => "Mult",
        BinaryOp::Divide => "Div",
        BinaryOp::FloorDivide => "FloorDiv",
        BinaryOp::Modulo => "Mod",
        BinaryOp::MatrixMultiply => "MatMult",
        BinaryOp::Power => "Pow",
    }
}

fn compare_op(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Equal => "Eq",
        CompareOp::NotEqual => "NotEq",
        CompareOp::Less => "Lt",
        CompareOp::LessEqual => "LtE",
        CompareOp::Greater => "Gt",
        CompareOp::GreaterEqual => "GtE",
        CompareOp::In => "In",
        CompareOp::NotIn => "NotIn",
        CompareOp::Is => "Is",
        CompareOp::IsNot => "IsNot",
    }
}
