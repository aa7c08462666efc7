//! Calls of types: `int("1")`, `list(x)`, `dict(a=1)`, …

use deft_values::args::{self, Args};
use deft_values::convert::{parse_int, truncate};
use deft_values::iterate::{self, Stream};
use deft_values::number::Number;
use deft_values::table::{Set, Table};
use deft_values::{Dict, Kind, Value, deeper, float, show};
use deft_values::{Fault, Outcome};

use super::Machine;
use super::frame::word;

impl<'a> Machine<'a> {
    pub(super) fn construct(&mut self, kind: Kind, mut args: Args<'a>) -> Outcome<Value<'a>> {
        let name = kind.name();
        match kind {
            Kind::Str => self.text(args),
            Kind::Int => integer(args),
            Kind::Float => {
                let [value] = args.bind(name, ["/"], 0)?;
                value.map_or(Ok(Value::Float(0.0)), |value| real(&value))
            }
            Kind::Bool => {
                let [value] = args.bind(name, ["/"], 0)?;
                let truth = value.map_or(Ok(false), |value| {
                    value.usable()?;
                    value.truth()
                });
                truth.map(Value::Bool)
            }
            Kind::List => Value::list(self.contents(name, args)?),
            Kind::Tuple => Value::tuple(self.contents(name, args)?),
            Kind::Set => Ok(Set::collect(self.contents(name, args)?)?.finish()),
            Kind::Dict => self.mapping(args),
            Kind::Range => range(&args.take_positional(name)?),
            Kind::Type => args.one(name).and_then(|value| {
                value.usable()?;
                Ok(Value::Type(value.kind()))
            }),
            Kind::Map => self.map(args),
            Kind::Filter => {
                let [function, source] = args.bind(name, ["/", "/"], 2)?;
                let source = iterate::open(&source.unwrap_or(Value::None))?;
                let depth = deeper([source.borrow().depth()].into_iter())?;
                let function = function.unwrap_or(Value::None);
                Ok(Value::Iter(
                    Stream::Filter(function, source, depth).handle(),
                ))
            }
            Kind::Zip => {
                let strict = args
                    .take("strict")
                    .map_or(Ok(false), |strict| strict.truth())?;
                let (sources, depth) = sources(&args.take_positional(name)?)?;
                Ok(Value::Iter(Stream::Zip(sources, strict, depth).handle()))
            }
            Kind::Enumerate => {
                let [source, start] = args.bind(name, ["iterable", "start"], 1)?;
                let start = start.map_or(Ok(0), |start| args::size(&start))?;
                let source = iterate::open(&source.unwrap_or(Value::None))?;
                let depth = deeper([source.borrow().depth()].into_iter())?;
                Ok(Value::Iter(
                    Stream::Enumerate(source, i128::from(start), depth).handle(),
                ))
            }
            Kind::Reversed => self.reverse(&args.one(name)?),
            _ => Err(Fault::unsupported_python(format!("making a `{name}`"))),
        }
    }

    fn contents(&mut self, name: &str, args: Args<'a>) -> Outcome<Vec<Value<'a>>> {
        let [source] = args.bind(name, ["/"], 0)?;
        match source {
            Some(source) => self.drain(&source),
            None => Ok(Vec::new()),
        }
    }

    fn text(&mut self, args: Args<'a>) -> Outcome<Value<'a>> {
        let [value] = args.bind("str", ["object"], 0)?;
        match value {
            None => Ok(word("")),
            // `str` of a string returns the same object, whatever its length.
            Some(Value::Str(text)) => Ok(Value::Str(text)),
            Some(value) => show::to_str(&value, &self.budget).map(Value::str),
        }
    }

    fn mapping(&mut self, mut args: Args<'a>) -> Outcome<Value<'a>> {
        let named = std::mem::take(&mut args.named);
        let [source] = args.bind("dict", ["/"], 0)?;
        let mut table = Table::default();
        match source {
            None => {}
            Some(Value::Dict(dict)) => self.copy_entries(&dict, &mut table)?,
            Some(source) => {
                for (at, pair) in self.drain(&source)?.iter().enumerate() {
                    let mut pair = self.drain(pair)?.into_iter();
                    let (Some(key), Some(value), None) = (pair.next(), pair.next(), pair.next())
                    else {
                        return Err(Fault::other(format!(
                            "dictionary update sequence element #{at} has the wrong length; 2 is required"
                        )));
                    };
                    table.insert(key, value)?;
                }
            }
        }
        for (name, value) in named {
            table.insert(Value::Str(name), value)?;
        }
        Ok(table.finish())
    }

    fn copy_entries(&mut self, dict: &Dict<'a>, table: &mut Table<'a>) -> Outcome<()> {
        self.budget.items(2 * dict.len())?;
        for (key, value) in dict.iter() {
            table.insert(key, value)?;
        }
        Ok(())
    }

    fn map(&mut self, args: Args<'a>) -> Outcome<Value<'a>> {
        let mut values = args.take_positional("map")?;
        if values.len() < 2 {
            return Err(Fault::type_error("map() must have at least two arguments"));
        }
        let function = values.remove(0);
        let (sources, depth) = sources(&values)?;
        let depth = deeper([depth.saturating_sub(1), function.depth()].into_iter())?;
        Ok(Value::Iter(Stream::Map(function, sources, depth).handle()))
    }

    fn reverse(&mut self, value: &Value<'a>) -> Outcome<Value<'a>> {
        if let Value::Set(_) | Value::Iter(_) = value {
            let name = value.type_name();
            return Err(Fault::type_error(format!(
                "'{name}' object is not reversible"
            )));
        }
        let mut items = self.drain(value).map_err(|fault| match value.usable() {
            Ok(()) => {
                let name = value.type_name();
                Fault::type_error(format!("'{name}' object is not reversible"))
            }
            Err(_) => fault,
        })?;
        items.reverse();
        let items = Value::list(items)?;
        Ok(Value::Iter(
            Stream::Items(Kind::Reversed, items, 0).handle(),
        ))
    }
}

/// Opens an iterator over each value; also returns a depth one above the deepest.
fn sources<'a>(values: &[Value<'a>]) -> Outcome<(Vec<iterate::Handle<'a>>, u16)> {
    let sources: Vec<_> = values.iter().map(iterate::open).collect::<Outcome<_>>()?;
    let depth = deeper(
        sources
            .iter()
            .map(|source| source.try_borrow().map_or(0, |s| s.depth())),
    )?;
    Ok((sources, depth))
}

pub(super) fn range<'a>(args: &[Value<'a>]) -> Outcome<Value<'a>> {
    let bound = |value: &Value<'a>| {
        let int = args::int(value)?;
        i64::try_from(int).map_err(|_| Fault::unsupported_python("a range beyond 64 bits"))
    };
    let (start, end, step) = match args {
        [end] => (0, bound(end)?, 1),
        [start, end] => (bound(start)?, bound(end)?, 1),
        [start, end, step] => (bound(start)?, bound(end)?, bound(step)?),
        [] => {
            return Err(Fault::type_error(
                "range expected at least 1 argument, got 0",
            ));
        }
        more => {
            let count = more.len();
            return Err(Fault::type_error(format!(
                "range expected at most 3 arguments, got {count}"
            )));
        }
    };
    if step == 0 {
        return Err(Fault::other("range() arg 3 must not be zero"));
    }
    Ok(Value::Range(start, end, step))
}

fn integer(args: Args<'_>) -> Outcome<Value<'_>> {
    let [value, base] = args.bind("int", ["/", "base"], 0)?;
    let Some(value) = value else {
        return Ok(Value::Int(0));
    };
    match (&value, base) {
        (Value::Str(text), base) => {
            let base = base.map_or(Ok(10), |base| args::size(&base))?;
            parse_int(text, base)
        }
        (_, Some(_)) => Err(Fault::type_error(
            "int() can't convert non-string with explicit base",
        )),
        (Value::Int(_) | Value::Bool(_), None) => args::int(&value).map(Value::Int),
        (Value::Float(number), None) => truncate(*number),
        (_, None) => {
            value.usable()?;
            Err(Fault::type_error(format!(
                "int() argument must be a string, a bytes-like object or a real number, not '{}'",
                value.type_name()
            )))
        }
    }
}

fn real<'a>(value: &Value<'a>) -> Outcome<Value<'a>> {
    if let Some(number) = Number::from_value(value) {
        return Ok(Value::Float(number.to_float()));
    }
    let Value::Str(text) = value else {
        value.usable()?;
        return Err(Fault::type_error(format!(
            "float() argument must be a string or a real number, not '{}'",
            value.type_name()
        )));
    };
    match float::parse(text) {
        Some(number) => Ok(Value::Float(number)),
        None if !text.is_ascii() => Err(Fault::unsupported_python("a float in other digits")),
        None => {
            let mut shown = String::new();
            show::quote(&mut shown, text, false);
            Err(Fault::other(format!(
                "could not convert string to float: {shown}"
            )))
        }
    }
}
