//! Conversion of exceptions and syntax errors to wire format: type, message, line, and a short traceback.
//!
//! Code of the exception's class creates the message and may fail; then the message is empty.

use deft_model::clip;
use std::cell::Cell;

use rustpython_vm::builtins::{PyBaseExceptionRef, PyDictRef};
use rustpython_vm::vm::VmCompileError;
use rustpython_vm::{AsObject as _, PyObjectRef, PyResult, VirtualMachine};

use super::SOURCE;
use crate::wire::Fault;

thread_local! {
    /// `sys.exception`; leaked, because interpreter objects must not be dropped outside of the interpreter.
    static HANDLED: Cell<Option<&'static PyObjectRef>> = const { Cell::new(None) };
}

/// Passes `sys.exception` to the prelude, as a function that gives no access to `sys`.
pub(super) fn install(natives: &PyDictRef, vm: &VirtualMachine) -> PyResult<()> {
    let plain = vm.sys_module.get_attr("exception", vm)?;
    HANDLED.set(Some(Box::leak(Box::new(plain))));
    let function = vm.new_function("exception", exception);
    natives.set_item("exception", function.into(), vm)
}

fn exception(vm: &VirtualMachine) -> PyResult {
    match HANDLED.get() {
        Some(plain) => plain.call((), vm),
        None => Ok(vm.ctx.none()),
    }
}

/// Maximum length of a message; longer ones are truncated.
const MESSAGE: usize = 2000;

/// Maximum number of frames; in a deep recursion the middle ones are left out.
const FRAMES: usize = 8;

/// Converts an exception.
pub(crate) fn from_exception(exception: &PyBaseExceptionRef, vm: &VirtualMachine) -> Fault {
    if exception.fast_isinstance(vm.ctx.exceptions.memory_error) {
        return Fault::Memory;
    }
    let message = exception
        .as_object()
        .str(vm)
        .map(|text| text.to_string_lossy().into_owned())
        .unwrap_or_default();
    let (line, trace) = way(exception);
    Fault::Python {
        kind: exception.class().name().to_string(),
        message: clip(&message, MESSAGE),
        line,
        trace,
    }
}

/// Returns the last line of the code in the traceback, and the lines and functions that led to it.
fn way(exception: &PyBaseExceptionRef) -> (Option<u32>, String) {
    let mut steps = Vec::new();
    let mut last = None;
    if let Some(traceback) = exception.__traceback__() {
        for step in traceback.iter() {
            let code = step.frame.f_code();
            if code.source_path().as_str() == SOURCE {
                let line = u32::try_from(step.lineno.get()).unwrap_or(u32::MAX);
                last = Some(line);
                steps.push(format!("line {line}, in {}", code.obj_name.as_str()));
            }
        }
    }
    if steps.len() > FRAMES {
        let left_out = steps.len() - FRAMES;
        let half = FRAMES / 2;
        steps.splice(half..half + left_out, [format!("… {left_out} more …")]);
    }
    (last, steps.join("\n"))
}

/// Converts an error of the compiler.
pub(crate) fn from_syntax(error: VmCompileError, vm: &VirtualMachine) -> Fault {
    let error = match error {
        VmCompileError::Compile(error) => error,
        // Earlier code of the session has turned warnings into errors.
        warning @ VmCompileError::Warning(_) => {
            return from_exception(&warning.into_pyexception(vm, None), vm);
        }
    };
    let (line, column) = error.python_location();
    Fault::Syntax {
        message: error.to_string(),
        line: u32::try_from(line).unwrap_or(1).max(1),
        column: u32::try_from(column).unwrap_or(1).max(1),
    }
}
