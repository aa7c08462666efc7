//! Execution of one job: compile, run, write the value, clean up. The reply is sent only after all of this,
//! so that code which ends the process in its clean-up ends its own job.

use rustpython_vm::builtins::{PyCode, PyDictRef, PyList, PyStr};
use rustpython_vm::compiler::Mode;
use rustpython_vm::scope::Scope;
use rustpython_vm::{Interpreter, PyObjectRef, PyRef, PyResult, VirtualMachine};

use super::python::{
    self, LoadedInterpreter, Moment, Writer, from_exception, from_syntax, may_tamper, take_missed,
};
use crate::job::Kind;
use crate::wire::{Fault, PREFIX, PRINTED_BYTES, Reply, Run, set_length};

pub use super::python::modules::module_names;

/// The loaded interpreter.
pub(super) struct Engine {
    // Never dropped: a child exits without unwinding, and the zygote keeps it until its process ends.
    interpreter: &'static Interpreter,
    loaded: LoadedInterpreter,
}

impl Engine {
    /// Loads the interpreter and the modules that every job needs.
    pub(super) fn load() -> Result<Engine, String> {
        let (interpreter, loaded) = python::load()?;
        Ok(Engine {
            interpreter: Box::leak(Box::new(interpreter)),
            loaded,
        })
    }

    /// Loads more modules; called in the zygote only.
    pub(super) fn add(&mut self, modules: &[String]) -> Result<(), String> {
        self.interpreter.enter(|vm| self.loaded.add(modules, vm))
    }

    /// Checks that the code compiles.
    pub(super) fn check(&self, code: &str, kind: Kind) -> Reply {
        self.interpreter.enter(|vm| match compile(code, kind, vm) {
            Ok(_) => Reply::Compiled,
            Err(fault) => Reply::Failed(fault),
        })
    }

    /// Runs the job and returns a framed reply with its value.
    pub(super) fn run(&self, run: &Run) -> Result<Vec<u8>, Fault> {
        self.interpreter.enter(|vm| {
            let code = compile(&run.code, run.kind, vm)?;
            Moment::set(run.now, &run.zone, run.seed).map_err(|why| Fault::Refused { why })?;
            let raised = |exception| from_exception(&exception, vm);
            let printed = self.begin(run, vm).map_err(raised)?;
            let globals = python::globals(&run.scope, &self.loaded, vm).map_err(raised)?;
            let tampers = may_tamper(&code);
            if tampers {
                self.loaded.remember(vm).map_err(raised)?;
            }
            let written = self.evaluate(run, code, &globals, vm);
            let printed = text_of(&printed, vm);
            // Functions refer to the globals, which contain them; this breaks the cycle.
            globals.clear();
            drop(globals);
            if tampers {
                self.loaded.restore(vm).map_err(raised)?;
            }
            match take_missed() {
                // Reported whatever the result of the code is.
                Some(module) => Err(Fault::Unloaded { module }),
                None => Ok(seal(written?, &printed)),
            }
        })
    }

    /// Prepares a job: sets the zone and the seed, and returns the object that collects printed text.
    fn begin(&self, run: &Run, vm: &VirtualMachine) -> PyResult<PyObjectRef> {
        let (zone, offset) = Moment::zone();
        self.loaded.begin.call((run.seed, zone, offset), vm)?;
        let printed = self.loaded.printed.call((PRINTED_BYTES,), vm)?;
        for name in ["stdout", "stderr"] {
            self.loaded.shown.set_attr(name, printed.clone(), vm)?;
        }
        Ok(printed)
    }

    /// Runs the code and returns the reply up to the end of the value.
    fn evaluate(
        &self,
        run: &Run,
        code: PyRef<PyCode>,
        globals: &PyDictRef,
        vm: &VirtualMachine,
    ) -> Result<Vec<u8>, Fault> {
        let raised = |exception| from_exception(&exception, vm);
        let scope = Scope::with_builtins(None, globals.clone(), vm);
        let value = vm.run_code_obj(code, scope).map_err(raised)?;
        let value = match run.kind {
            Kind::Expression => value,
            Kind::Condition => vm
                .ctx
                .new_bool(value.try_to_bool(vm).map_err(raised)?)
                .into(),
            Kind::Block => globals
                .get_item_opt("result", vm)
                .map_err(raised)?
                .map_or_else(|| vm.ctx.none(), |value| python::text(value, vm)),
        };
        let mut bytes = vec![0; PREFIX];
        bytes.extend_from_slice(br#"{"done":{"value":"#);
        Writer::new(bytes, run.output_bytes, &self.loaded, vm).finish(&value)
    }
}

fn compile(code: &str, kind: Kind, vm: &VirtualMachine) -> Result<PyRef<PyCode>, Fault> {
    let (text, mode) = match kind {
        Kind::Block => (code, Mode::Exec),
        Kind::Condition | Kind::Expression => (code.trim(), Mode::Eval),
    };
    let compile = |text: &str| vm.compile(text, mode, python::SOURCE.to_owned());
    let rewritten = python::rewrite(text).filter(|_| kind == Kind::Block);
    // If the rewritten code does not compile, the error must be about the original code.
    if let Some(Ok(code)) = rewritten.map(|text| compile(&text)) {
        return Ok(code);
    }
    compile(text).map_err(|error| from_syntax(error, vm))
}

/// Completes the reply after the value.
fn seal(mut bytes: Vec<u8>, printed: &str) -> Vec<u8> {
    bytes.extend_from_slice(br#","printed":"#);
    // Writing to a vector cannot fail.
    drop(serde_json::to_writer(&mut bytes, printed));
    bytes.extend_from_slice(b"}}");
    set_length(&mut bytes);
    bytes
}

/// Returns the printed text, or what is left of it if code has tampered with the object.
fn text_of(printed: &PyObjectRef, vm: &VirtualMachine) -> String {
    let mut text = String::new();
    if let Ok(parts) = printed.get_attr("parts", vm)
        && let Some(parts) = parts.downcast_ref::<PyList>()
    {
        for part in parts.borrow_vec().iter() {
            if let Some(part) = part.downcast_ref::<PyStr>() {
                text.push_str(&part.to_string_lossy());
            }
            if text.len() > PRINTED_BYTES {
                break;
            }
        }
    }
    text.truncate(text.floor_char_boundary(PRINTED_BYTES));
    text
}
