//! Builtins that take single values; those that iterate are in `reduce`.

use deft_values::args::{self, Args};
use deft_values::ast::BinaryOp;
use deft_values::{Fault, Outcome};
use deft_values::{Kind, Value, convert, format, iterate, operate, show, spec};

use super::Machine;
use super::call::member;

impl<'a> Machine<'a> {
    pub(super) fn builtin(&mut self, name: &str, args: Args<'a>) -> Outcome<Value<'a>> {
        match name {
            "len" => iterate::length(&args.one(name)?).map(Value::int),
            "any" | "all" => self.any_all(name, args),
            "sum" => self.sum(args),
            "min" | "max" => self.extreme(name, args),
            "sorted" => self.sort_values(args),
            "next" => self.next_of(args),
            "iter" => {
                let source = args.one(name)?;
                Ok(Value::Iter(iterate::open(&source)?))
            }
            "abs" => convert::absolute(&args.one(name)?),
            "round" => round(args),
            "divmod" => {
                let [a, b] = args
                    .bind(name, ["/", "/"], 2)?
                    .map(|arg| arg.unwrap_or(Value::None));
                Value::tuple(vec![
                    operate::binary(BinaryOp::FloorDivide, &a, &b, &self.budget)?,
                    operate::binary(BinaryOp::Modulo, &a, &b, &self.budget)?,
                ])
            }
            "pow" => self.power(args),
            "repr" => show::to_repr(&args.one(name)?, &self.budget).map(Value::str),
            "ascii" => format::ascii(&args.one(name)?, &self.budget).map(Value::str),
            "format" => {
                let [value, spec] = args.bind(name, ["/", "/"], 1)?;
                let spec = spec.unwrap_or(Value::str(""));
                let spec = args::text(&spec, "format() argument 2")?;
                spec::apply(&value.unwrap_or(Value::None), spec, &self.budget).map(Value::str)
            }
            "chr" => chr(&args.one(name)?),
            "ord" => ord(&args.one(name)?),
            "bin" | "oct" | "hex" => format_base(name, &args.one(name)?),
            "callable" => {
                let value = args.one(name)?;
                value.usable()?;
                Ok(Value::Bool(matches!(
                    value,
                    Value::Func(_) | Value::Type(_)
                )))
            }
            "isinstance" | "issubclass" => is_instance(name, args),
            "hasattr" => {
                let [value, attribute] = args.bind(name, ["/", "/"], 2)?;
                self.get_attribute(value, attribute)
                    .map(|found| Value::Bool(found.is_some()))
            }
            "getattr" => self.getattr(args),
            _ => Err(Fault::unsupported_python(format!("the function `{name}`"))),
        }
    }

    fn get_attribute(
        &self,
        value: Option<Value<'a>>,
        attribute: Option<Value<'a>>,
    ) -> Outcome<Option<Value<'a>>> {
        let value = value.unwrap_or(Value::None);
        value.usable()?;
        let attribute = attribute.unwrap_or(Value::None);
        let name = args::text(&attribute, "attribute name")?;
        match member(&value, name) {
            None if name.starts_with("__") => Err(Fault::unsupported_python(format!(
                "the attribute `{}`",
                &**name
            ))),
            found => Ok(found),
        }
    }

    fn getattr(&self, args: Args<'a>) -> Outcome<Value<'a>> {
        let [value, attribute, otherwise] = args.bind("getattr", ["/", "/", "/"], 2)?;
        let kind = value.as_ref().map_or(Kind::None, Value::kind);
        match self.get_attribute(value, attribute)?.or(otherwise) {
            Some(found) => Ok(found),
            None => Err(Fault::type_error(format!(
                "'{}' object has no such attribute",
                kind.name()
            ))),
        }
    }

    fn power(&self, args: Args<'a>) -> Outcome<Value<'a>> {
        let [base, exponent, modulus] = args.bind("pow", ["base", "exp", "mod"], 2)?;
        if modulus.is_some_and(|modulus| !matches!(modulus, Value::None)) {
            return Err(Fault::unsupported_python("`pow` with a modulus"));
        }
        let (base, exponent) = (base.unwrap_or(Value::None), exponent.unwrap_or(Value::None));
        operate::binary(BinaryOp::Power, &base, &exponent, &self.budget)
    }
}

fn round(args: Args<'_>) -> Outcome<Value<'_>> {
    let [value, digits] = args.bind("round", ["number", "ndigits"], 1)?;
    let digits = match digits {
        None | Some(Value::None) => None,
        Some(digits) => Some(args::size(&digits)?),
    };
    convert::round(&value.unwrap_or(Value::None), digits)
}

fn chr<'a>(value: &Value<'a>) -> Outcome<Value<'a>> {
    let code = args::int(value)?;
    let code = u32::try_from(code).ok().filter(|code| *code < 0x11_0000);
    let Some(code) = code else {
        return Err(Fault::other("chr() arg not in range(0x110000)"));
    };
    match char::from_u32(code) {
        Some(c) => Ok(Value::str(c.to_string())),
        None => Err(Fault::unsupported_python("a lone surrogate")),
    }
}

fn ord<'a>(value: &Value<'a>) -> Outcome<Value<'a>> {
    let text = args::text(value, "ord() argument")?;
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => Ok(Value::Int(i128::from(u32::from(c)))),
        _ => {
            let len = text.chars().count();
            Err(Fault::type_error(format!(
                "ord() expected a character, but string of length {len} found"
            )))
        }
    }
}

fn format_base<'a>(name: &str, value: &Value<'a>) -> Outcome<Value<'a>> {
    let int = args::int(value)?;
    let sign = if int < 0 { "-" } else { "" };
    let size = int.unsigned_abs();
    Ok(Value::str(match name {
        "bin" => format!("{sign}0b{size:b}"),
        "oct" => format!("{sign}0o{size:o}"),
        _ => format!("{sign}0x{size:x}"),
    }))
}

fn is_instance<'a>(name: &str, args: Args<'a>) -> Outcome<Value<'a>> {
    let [value, wanted] = args.bind(name, ["/", "/"], 2)?;
    let (value, wanted) = (value.unwrap_or(Value::None), wanted.unwrap_or(Value::None));
    value.usable()?;
    let kind = match (name, &value) {
        ("issubclass", Value::Type(kind)) => *kind,
        ("issubclass", _) => return Err(Fault::type_error("issubclass() arg 1 must be a class")),
        _ => value.kind(),
    };
    fits(name, kind, &wanted).map(Value::Bool)
}

fn fits(name: &str, kind: Kind, wanted: &Value<'_>) -> Outcome<bool> {
    match wanted {
        Value::Type(wanted) => Ok(kind.is_a(*wanted)),
        Value::Tuple(options) => {
            for option in options.iter() {
                if fits(name, kind, &option)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ => Err(Fault::type_error(format!(
            "{name}() arg 2 must be a type, a tuple of types, or a union"
        ))),
    }
}
