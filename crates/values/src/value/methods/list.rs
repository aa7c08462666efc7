//! Methods of lists and tuples.
//!
//! `append`, `sort` and the like are not supported, because values are immutable.

use crate::fault::{Fault, Outcome};
use crate::value::args::{self, Args};
use crate::value::budget::Budget;
use crate::value::compare::equal;
use crate::value::{Seq, Value, show};

pub(super) fn call<'a>(
    receiver: &Value<'a>,
    seq: &Seq<'a>,
    name: &str,
    args: Args<'a>,
    budget: &Budget,
) -> Outcome<Option<Value<'a>>> {
    Ok(Some(match name {
        "count" => {
            let wanted = args.one(name)?;
            let mut count = 0;
            for item in seq.iter() {
                budget.spend(1)?;
                count += usize::from(equal(&item, &wanted, budget)?);
            }
            Value::int(count)
        }
        "index" => index(receiver, seq, args, budget)?,
        "copy" => {
            args.none(name)?;
            receiver.clone()
        }
        _ => return Ok(None),
    }))
}

fn index<'a>(
    receiver: &Value<'a>,
    seq: &Seq<'a>,
    args: Args<'a>,
    budget: &Budget,
) -> Outcome<Value<'a>> {
    let [wanted, start, stop] = args.bind("index", ["/", "/", "/"], 1)?;
    let wanted = wanted.unwrap_or(Value::None);
    let len = seq.len();
    let place = |bound: Option<Value<'a>>, otherwise: usize| match bound {
        Some(bound) => Ok::<_, Fault>(clip(args::size(&bound)?, len)),
        None => Ok(otherwise),
    };
    let (start, stop) = (place(start, 0)?, place(stop, len)?);
    for (at, item) in seq.iter().enumerate().take(stop).skip(start) {
        budget.spend(1)?;
        if equal(&item, &wanted, budget)? {
            return Ok(Value::int(at));
        }
    }
    let name = receiver.type_name();
    Err(Fault::other(match name {
        "list" => format!("{} is not in list", show::to_repr(&wanted, budget)?),
        _ => format!("{name}.index(x): x not in {name}"),
    }))
}

/// Converts a bound, which may count from the end, to a position within the sequence.
pub(super) fn clip(bound: i64, len: usize) -> usize {
    if bound < 0 {
        let back = usize::try_from(bound.unsigned_abs()).unwrap_or(usize::MAX);
        return len.saturating_sub(back);
    }
    usize::try_from(bound).unwrap_or(usize::MAX).min(len)
}
