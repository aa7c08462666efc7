//! `round` for floats, which `RustPython` 0.5 and 0.6 get wrong: it scales by a power of ten, so that
//! `round(2.675, 2)` is 2.68 where Python looks at the digits and says 2.67.

use std::cell::Cell;

use rustpython_vm::builtins::{PyFloat, PyInt};
use rustpython_vm::function::FuncArgs;
use rustpython_vm::{PyObject, PyObjectRef, PyResult, VirtualMachine};

/// A float has no digits beyond this many places.
const PLACES: usize = 323;

thread_local! {
    /// Leaked, so that nothing of the interpreter is dropped behind its back.
    static PLAIN: Cell<Option<&'static PyObjectRef>> = const { Cell::new(None) };
}

/// Replaces the built-in function, which serves everything but floats with places.
pub(super) fn install(vm: &VirtualMachine) -> PyResult<()> {
    let plain = vm.builtins.get_attr("round", vm)?;
    PLAIN.set(Some(Box::leak(Box::new(plain))));
    vm.builtins
        .set_attr("round", vm.new_function("round", round), vm)
}

fn round(args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    if let [number, places] = args.args.as_slice()
        && let Some(rounded) = float(number, places)
    {
        return Ok(vm.ctx.new_float(rounded).into());
    }
    match PLAIN.get() {
        Some(plain) => plain.call(args, vm),
        None => Err(vm.new_runtime_error("round is not loaded")),
    }
}

/// The digits of a float are exact and `format!` rounds them half to even, as Python does.
fn float(number: &PyObject, places: &PyObject) -> Option<f64> {
    let number = number.downcast_ref::<PyFloat>()?.to_f64();
    let places: usize = places
        .downcast_ref::<PyInt>()?
        .as_bigint()
        .try_into()
        .ok()?;
    if !number.is_finite() || places > PLACES {
        return Some(number);
    }
    format!("{number:.places$}").parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn ties_go_to_even_and_other_halves_by_their_digits() {
        let round = |number: f64, places: usize| format!("{number:.places$}");
        assert_eq!(round(2.675, 2), "2.67");
        assert_eq!(round(0.125, 2), "0.12");
        assert_eq!(round(0.375, 2), "0.38");
        assert_eq!(round(2.5, 0), "2");
    }
}
