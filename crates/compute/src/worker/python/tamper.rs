//! Detection of code that may change a module or a class.
//!
//! Comparing everything with the snapshot touches most of the interpreter's memory, which a child shares
//! with the zygote until then. Most code sets no attributes, and then nothing has to be restored. Code that
//! evades this check harms only later jobs of its own run.

use std::borrow::Borrow as _;

use rustpython_vm::builtins::{PyCode, PyStr};
use rustpython_vm::bytecode::Instruction;
use rustpython_vm::{Py, PyObject};

/// Names that lead from a value to the dictionaries and classes behind it, or that set attributes.
const NAMES: [&str; 24] = [
    "__base__",
    "__bases__",
    "__builtins__",
    "__class__",
    "__closure__",
    "__code__",
    "__defaults__",
    "__delattr__",
    "__dict__",
    "__func__",
    "__getattribute__",
    "__globals__",
    "__import__",
    "__kwdefaults__",
    "__mro__",
    "__self__",
    "__setattr__",
    "__subclasses__",
    "compile",
    "delattr",
    "eval",
    "exec",
    "setattr",
    "vars",
];

/// Whether the code sets an attribute, or could do so indirectly.
pub(crate) fn may_tamper(code: &Py<PyCode>) -> bool {
    let sets = code.code.instructions.iter().any(|unit| {
        matches!(
            unit.op,
            Instruction::StoreAttr { .. } | Instruction::DeleteAttr { .. }
        )
    });
    sets || code
        .code
        .names
        .iter()
        .any(|name| NAMES.contains(&name.as_str()))
        || code
            .code
            .constants
            .iter()
            .any(|constant| suspicious(constant.borrow()))
}

/// Whether a constant makes code suspicious. Functions and classes are constants with their own code;
/// `getattr` takes names as strings.
fn suspicious(constant: &PyObject) -> bool {
    if let Some(code) = constant.downcast_ref::<PyCode>() {
        return may_tamper(code);
    }
    constant
        .downcast_ref::<PyStr>()
        .is_some_and(|text| text.to_string_lossy().contains("__"))
}
