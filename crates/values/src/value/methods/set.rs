//! Methods of sets, and of set-like views of a dict.
//!
//! `add`, `update` and the like are not supported, because values are immutable.

use crate::ast::BinaryOp;
use crate::fault::Outcome;
use crate::value::args::Args;
use crate::value::budget::Budget;
use crate::value::compare::subset;
use crate::value::operate::sets;
use crate::value::{Set, Value, iterate};

pub(super) fn call<'a>(
    receiver: &Value<'a>,
    name: &str,
    args: Args<'a>,
    budget: &Budget,
) -> Outcome<Option<Value<'a>>> {
    let op = match name {
        "union" => BinaryOp::BitOr,
        "intersection" => BinaryOp::BitAnd,
        "difference" => BinaryOp::Subtract,
        "symmetric_difference" => BinaryOp::BitXor,
        "issubset" | "issuperset" | "isdisjoint" => {
            return relation(receiver, name, args, budget).map(Some);
        }
        "copy" => {
            args.none(name)?;
            return Ok(Some(receiver.clone()));
        }
        _ => return Ok(None),
    };
    let mut result = receiver.clone();
    for other in args.take_positional(name)? {
        result = sets(op, &result, &other, budget)?;
    }
    Ok(Some(result))
}

fn relation<'a>(
    receiver: &Value<'a>,
    name: &str,
    args: Args<'a>,
    budget: &Budget,
) -> Outcome<Value<'a>> {
    let ours = Set::collect(iterate::items(receiver, budget)?)?;
    let theirs = Set::collect(iterate::items(&args.one(name)?, budget)?)?;
    Ok(Value::Bool(match name {
        "issubset" => subset(&ours.items, &theirs, budget)?,
        "issuperset" => subset(&theirs.items, &ours, budget)?,
        _ => {
            for item in &theirs.items {
                if ours.contains(item)? {
                    return Ok(Value::Bool(false));
                }
            }
            true
        }
    }))
}
