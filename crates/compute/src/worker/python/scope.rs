//! Conversion from JSON: the globals of a job, with mappings that can be read as attributes.

use deft_model::Object;
use rustpython_vm::builtins::{PyDict, PyDictRef};
use rustpython_vm::{PyObjectRef, PyPayload as _, PyResult, VirtualMachine};
use serde_json::Value;

use super::LoadedInterpreter;

/// Creates globals for a job: its scope, `__name__`, and its own copy of the builtins.
pub(crate) fn globals(
    scope: &Object,
    loaded: &LoadedInterpreter,
    vm: &VirtualMachine,
) -> PyResult<PyDictRef> {
    let globals = vm.ctx.new_dict();
    let builtins = loaded.builtins.copy().into_ref(&vm.ctx);
    globals.set_item("__name__", vm.ctx.new_str("__main__").into(), vm)?;
    globals.set_item("__builtins__", builtins.into(), vm)?;
    // Data classes and type hints look up their module by name.
    let main = vm.new_module("__main__", globals.clone(), None);
    loaded.modules.set_item("__main__", main.into(), vm)?;
    for (name, value) in scope {
        globals.set_item(name.as_str(), object(value, loaded, vm)?, vm)?;
    }
    Ok(globals)
}

/// Converts a JSON value. The parser of the request has limited the depth, and so this recursion.
fn object(value: &Value, loaded: &LoadedInterpreter, vm: &VirtualMachine) -> PyResult {
    Ok(match value {
        Value::Null => vm.ctx.none(),
        Value::Bool(flag) => vm.ctx.new_bool(*flag).into(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => vm.ctx.new_int(number).into(),
            (None, Some(number)) => vm.ctx.new_int(number).into(),
            (None, None) => vm.ctx.new_float(number.as_f64().unwrap_or(f64::NAN)).into(),
        },
        Value::String(text) => vm.ctx.new_str(text.as_str()).into(),
        Value::Array(items) => {
            let items: PyResult<Vec<PyObjectRef>> =
                items.iter().map(|item| object(item, loaded, vm)).collect();
            vm.ctx.new_list(items?).into()
        }
        Value::Object(entries) => {
            // Filling a plain dict and then changing its class is faster.
            let plain = vm.ctx.new_dict();
            for (key, value) in entries {
                plain.set_item(key.as_str(), object(value, loaded, vm)?, vm)?;
            }
            let copy: PyDict = plain.copy();
            copy.into_ref_with_type(vm, loaded.attr_dict.clone())?
                .into()
        }
    })
}
