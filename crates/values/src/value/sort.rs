//! A stable sort that can fail.
//!
//! The sort of the standard library may panic if the order is inconsistent, and Python's values have such
//! orders: NaN, and sets.

use super::Value;
use super::budget::Budget;
use super::compare::{Order, compare_order};
use crate::fault::Outcome;

/// Items with their keys.
pub type KeyedValues<'a> = Vec<(Value<'a>, Value<'a>)>;

/// Sorts by key; equal keys keep their order, even when reversed.
pub fn sort<'a>(
    items: KeyedValues<'a>,
    reverse: bool,
    budget: &Budget,
) -> Outcome<KeyedValues<'a>> {
    let order = if reverse { Order::Greater } else { Order::Less };
    split(items, order, budget)
}

fn split<'a>(mut left: KeyedValues<'a>, order: Order, budget: &Budget) -> Outcome<KeyedValues<'a>> {
    if left.len() < 2 {
        return Ok(left);
    }
    let right = left.split_off(left.len() / 2);
    let left = split(left, order, budget)?;
    let right = split(right, order, budget)?;
    merge(left, right, order, budget)
}

fn merge<'a>(
    left: KeyedValues<'a>,
    right: KeyedValues<'a>,
    order: Order,
    budget: &Budget,
) -> Outcome<KeyedValues<'a>> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let mut left = left.into_iter().peekable();
    let mut right = right.into_iter().peekable();
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        budget.spend(1)?;
        let next = if compare_order(order, &b.0, &a.0, budget)? {
            right.next()
        } else {
            left.next()
        };
        merged.extend(next);
    }
    merged.extend(left);
    merged.extend(right);
    Ok(merged)
}
