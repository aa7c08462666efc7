//! Exceptions and syntax errors as they travel: type, message, line, and a short way there.
//!
//! The message is made by code of the exception's class, which may itself fail; then it is empty.

use std::cell::Cell;

use rustpython_vm::builtins::{PyBaseExceptionRef, PyDictRef};
use rustpython_vm::vm::VmCompileError;
use rustpython_vm::{AsObject as _, PyObjectRef, PyResult, VirtualMachine};

use super::SOURCE;
use crate::wire::Fault;

thread_local! {
    /// `sys.exception`; leaked, so that nothing of the interpreter is dropped behind its back.
    static HANDLED: Cell<Option<&'static PyObjectRef>> = const { Cell::new(None) };
}

/// Hands `sys.exception` to the prelude, as a function that does not lead to `sys`.
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

/// A longer message is cut.
const MESSAGE: usize = 2000;

/// More frames than this are left out, in the middle of a deep recursion.
const FRAMES: usize = 8;

/// What an exception tells.
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
        message: message.chars().take(MESSAGE).collect(),
        line,
        trace,
    }
}

/// The last line of the code that was involved, and the lines on the way.
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

/// What the compiler tells.
pub(crate) fn from_syntax(error: VmCompileError, vm: &VirtualMachine) -> Fault {
    let error = match error {
        VmCompileError::Compile(error) => error,
        // Code of the same session has asked for warnings to be errors.
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
