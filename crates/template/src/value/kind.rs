//! The types of values, with their names in Python.
//!
//! Not here: the operations of a type (`methods` and `operate`).

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Undefined,
    None,
    Ellipsis,
    Bool,
    Int,
    Float,
    Str,
    List,
    Tuple,
    Dict,
    Set,
    Range,
    DictKeys,
    DictValues,
    DictItems,
    Type,
    Object,
    Builtin,
    Method,
    Generator,
    Map,
    Filter,
    Zip,
    Enumerate,
    Reversed,
    Iterator,
    Secret,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Undefined => "Undefined",
            Kind::None => "NoneType",
            Kind::Ellipsis => "ellipsis",
            Kind::Bool => "bool",
            Kind::Int => "int",
            Kind::Float => "float",
            Kind::Str => "str",
            Kind::List => "list",
            Kind::Tuple => "tuple",
            Kind::Dict => "dict",
            Kind::Set => "set",
            Kind::Range => "range",
            Kind::DictKeys => "dict_keys",
            Kind::DictValues => "dict_values",
            Kind::DictItems => "dict_items",
            Kind::Type => "type",
            Kind::Object => "object",
            Kind::Builtin => "builtin_function_or_method",
            Kind::Method => "method",
            Kind::Generator => "generator",
            Kind::Map => "map",
            Kind::Filter => "filter",
            Kind::Zip => "zip",
            Kind::Enumerate => "enumerate",
            Kind::Reversed => "reversed",
            Kind::Iterator => "iterator",
            Kind::Secret => "secret",
        }
    }

    /// Returns the type with a builtin name, so that `str` and `int` can be called and compared.
    pub(crate) fn builtin(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => Kind::Bool,
            "int" => Kind::Int,
            "float" => Kind::Float,
            "str" => Kind::Str,
            "list" => Kind::List,
            "tuple" => Kind::Tuple,
            "dict" => Kind::Dict,
            "set" => Kind::Set,
            "range" => Kind::Range,
            "type" => Kind::Type,
            "object" => Kind::Object,
            "map" => Kind::Map,
            "filter" => Kind::Filter,
            "zip" => Kind::Zip,
            "enumerate" => Kind::Enumerate,
            "reversed" => Kind::Reversed,
            _ => return None,
        })
    }

    /// Whether every value of this type is an instance of `other`.
    pub(crate) fn is_a(self, other: Kind) -> bool {
        self == other || other == Kind::Object || (self == Kind::Bool && other == Kind::Int)
    }
}
