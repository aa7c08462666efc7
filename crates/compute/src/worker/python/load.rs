//! Creation of the interpreter: runs the prelude and loads the modules that children use.
//!
//! The objects that the host relies on are looked up once, here, so that code which replaces `json.dumps` or
//! `dict.items` does not affect the host. Modules are loaded only in the zygote, before any code of a skill
//! has run in the process.

use std::cell::OnceCell;

use rustpython_vm::builtins::{PyCode, PyDictRef, PyListRef, PyTypeRef};
use rustpython_vm::frozen::FrozenCodeObject;
use rustpython_vm::scope::Scope;
use rustpython_vm::{Interpreter, PyObjectRef, PyResult, Settings, TryFromObject, VirtualMachine};

use super::clock::natives;
use super::import::{self, Imports};
use super::modules::{CODECS, INNER, NATIVE, PUBLIC, REMOVED};
use super::restore::Snapshot;
use super::types::Types;
use super::{fault, growing, yaml};

// Only makes the build depend on these files; their compiled code is included elsewhere.
const _: &str = include_str!("prelude.py");
const _: &str = include_str!("loader.py");
const _: &str = include_str!("lib/yaml.py");

/// The objects of the loaded interpreter that the host uses.
pub(crate) struct LoadedInterpreter {
    pub(super) attr_dict: PyTypeRef,
    pub(super) builtins: PyDictRef,
    /// Called before each job with the seed and the zone.
    pub(crate) begin: PyObjectRef,
    /// Called after a restore; resets state that is not in a module or class.
    mend: PyObjectRef,
    /// Called for each job; returns the object that `print` writes to.
    pub(crate) printed: PyObjectRef,
    /// The `sys` module that code gets.
    pub(crate) shown: PyObjectRef,
    /// The `io` module that code gets.
    text_io: PyObjectRef,
    /// The globals of the prelude.
    prelude: PyDictRef,
    /// Loads modules.
    loader: PyObjectRef,
    /// The `sys.modules` that code gets.
    pub(super) modules: PyDictRef,
    pub(super) types: Types,
    /// The dictionaries that code may change and that are restored between jobs.
    kept: Vec<PyDictRef>,
    /// Taken in a child before the first code that could change modules or classes.
    snapshot: OnceCell<Snapshot>,
}

/// Creates an interpreter without access to the host, and returns it with the objects that the host uses.
pub(crate) fn load() -> Result<(Interpreter, LoadedInterpreter), String> {
    let interpreter = interpreter();
    let loaded = interpreter.enter(|vm| with_traceback(prelude(vm), vm))?;
    Ok((interpreter, loaded))
}

fn with_traceback<T>(result: PyResult<T>, vm: &VirtualMachine) -> Result<T, String> {
    result.map_err(|exception| {
        let mut text = String::new();
        // Only a broken prelude gets here; this is the only report of it.
        let _ = vm.write_exception(&mut text, &exception);
        format!("the prelude failed: {text}")
    })
}

fn interpreter() -> Interpreter {
    let mut settings = Settings::default();
    settings.isolated = true;
    settings.ignore_environment = true;
    settings.install_signal_handlers = false;
    settings.import_site = false;
    settings.user_site_directory = false;
    settings.write_bytecode = false;
    settings.allow_external_library = false;
    // Makes sets have the same order in every process.
    settings.hash_seed = Some(0);
    let builder = Interpreter::builder(settings);
    let natives: Vec<_> = rustpython_stdlib::stdlib_module_defs(&builder.ctx)
        .into_iter()
        .filter(|module| NATIVE.contains(&module.name.as_str()))
        .collect();
    builder
        .add_native_modules(&natives)
        .add_frozen_modules(include!(concat!(env!("OUT_DIR"), "/stdlib.rs")))
        // Ours come last and replace modules with the same name.
        .add_frozen_modules(rustpython_vm::py_freeze!(dir = "lib"))
        .build()
}

fn prelude(vm: &VirtualMachine) -> PyResult<LoadedInterpreter> {
    let native = natives(vm)?;
    yaml::install(&native, vm)?;
    fault::install(&native, vm)?;
    let prelude = module_globals("prelude", vm)?;
    prelude.set_item("native", native.clone().into(), vm)?;
    run(
        rustpython_vm::py_compile!(file = "prelude.py", module_name = "<prelude>"),
        &prelude,
        vm,
    )?;
    let exports = prelude.get_item("exports", vm)?;
    let names = PyListRef::try_from_object(vm, prelude.get_item("scaffolding", vm)?)?;
    let host = module_globals("loader", vm)?;
    host.set_item("native", native.into(), vm)?;
    host.set_item("prelude", prelude.clone().into(), vm)?;
    host.set_item("exports", exports.clone(), vm)?;
    let public: Vec<&str> = PUBLIC.iter().map(|(name, _)| *name).collect();
    for (name, names) in [
        ("public", public.as_slice()),
        ("inner", INNER),
        ("codecs", CODECS),
        ("removed", REMOVED),
    ] {
        host.set_item(name, list(names, vm), vm)?;
    }
    run(
        rustpython_vm::py_compile!(file = "loader.py", module_name = "<loader>"),
        &host,
        vm,
    )?;
    for name in names.borrow_vec().to_vec() {
        prelude.del_item(&*name, vm)?;
    }
    import::install(vm)?;
    let get = |name: &str| exports.get_item(name, vm);
    growing::install(PyTypeRef::try_from_object(vm, get("growing")?)?, vm)?;
    let mut loaded = LoadedInterpreter {
        attr_dict: PyTypeRef::try_from_object(vm, get("attr_dict")?)?,
        builtins: vm.builtins.dict(),
        begin: get("begin")?,
        mend: get("mend")?,
        printed: get("printed")?,
        shown: get("shown")?,
        text_io: get("text_io")?,
        loader: host.get_item("load", vm)?,
        modules: vm.ctx.new_dict(),
        types: Types::default(),
        kept: Vec::new(),
        snapshot: OnceCell::new(),
        prelude,
    };
    loaded.take_in(&[], vm)?;
    Ok(loaded)
}

/// Returns globals for one of our own modules.
fn module_globals(name: &str, vm: &VirtualMachine) -> PyResult<PyDictRef> {
    let globals = vm.ctx.new_dict();
    globals.set_item("__name__", vm.ctx.new_str(name).into(), vm)?;
    globals.set_item("__builtins__", vm.builtins.clone().into(), vm)?;
    Ok(globals)
}

fn run(code: FrozenCodeObject<&[u8]>, globals: &PyDictRef, vm: &VirtualMachine) -> PyResult<()> {
    let code = PyCode::new_ref_from_frozen(vm, code);
    vm.run_code_obj(code, Scope::with_builtins(None, globals.clone(), vm))?;
    Ok(())
}

impl LoadedInterpreter {
    /// Loads the named modules that are available and not loaded yet.
    pub(crate) fn add(&mut self, names: &[String], vm: &VirtualMachine) -> Result<(), String> {
        let wanted: Vec<&str> = names
            .iter()
            .map(String::as_str)
            .filter(|name| import::needs_loading(name))
            .collect();
        if wanted.is_empty() {
            return Ok(());
        }
        with_traceback(self.take_in(&wanted, vm), vm)
    }

    /// Loads modules and updates the tables that depend on them.
    fn take_in(&mut self, names: &[&str], vm: &VirtualMachine) -> PyResult<()> {
        let modules = import::while_loading(|| self.loader.call((list(names, vm),), vm))?;
        let modules = PyDictRef::try_from_object(vm, modules)?;
        Imports::new(&modules, &self.text_io, names.contains(&"*"), vm)?.install();
        self.types = Types::find(&modules, vm)?;
        let dict = |object: PyObjectRef| PyDictRef::try_from_object(vm, object);
        self.modules = dict(self.shown.get_attr("modules", vm)?)?;
        self.kept = vec![
            self.prelude.clone(),
            vm.builtins.dict(),
            vm.sys_module.dict(),
            dict(vm.sys_module.get_attr("modules", vm)?)?,
            self.modules.clone(),
        ];
        let ours = [self.shown.clone(), self.text_io.clone()];
        for module in modules.values_vec().into_iter().chain(ours) {
            self.kept.push(dict(module.get_attr("__dict__", vm)?)?);
        }
        Ok(())
    }

    /// Takes a snapshot of modules and classes, once per child.
    pub(crate) fn remember(&self, vm: &VirtualMachine) -> PyResult<()> {
        if self.snapshot.get().is_none() {
            let snapshot = Snapshot::take(&self.kept, vm)?;
            // It is empty, and there is only one thread.
            drop(self.snapshot.set(snapshot));
        }
        Ok(())
    }

    /// Restores modules and classes from the snapshot.
    pub(crate) fn restore(&self, vm: &VirtualMachine) -> PyResult<()> {
        if let Some(snapshot) = self.snapshot.get() {
            snapshot.restore(vm)?;
            self.mend.call((), vm)?;
        }
        Ok(())
    }
}

fn list(names: &[&str], vm: &VirtualMachine) -> PyObjectRef {
    let names = names
        .iter()
        .map(|name| vm.ctx.new_str(*name).into())
        .collect();
    vm.ctx.new_list(names).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Native modules that are compiled in besides those of `NATIVE`. Each was reviewed in `RustPython`
    /// 0.6.0: none opens a file, a socket or a process. `_imp`, `_interpreters`, `gc` and `marshal` give
    /// access to the interpreter and are removed.
    const BUILT_IN: [&str; 30] = [
        "_abc",
        "_ast",
        "_codecs",
        "_collections",
        "_functools",
        "_imp",
        "_interpchannels",
        "_interpqueues",
        "_interpreters",
        "_io",
        "_operator",
        "_sre",
        "_stat",
        "_string",
        "_symtable",
        "_sysconfig",
        "_sysconfigdata",
        "_testinternalcapi",
        "_types",
        "_typing",
        "_warnings",
        "_weakref",
        "atexit",
        "builtins",
        "errno",
        "gc",
        "itertools",
        "marshal",
        "sys",
        "time",
    ];

    #[test]
    fn the_native_modules_are_the_reviewed_ones() {
        let found = interpreter().enter(|vm| {
            let names = vm.sys_module.get_attr("builtin_module_names", vm)?;
            names
                .try_to_value::<Vec<PyObjectRef>>(vm)?
                .iter()
                .map(|name| Ok(name.str_utf8(vm)?.as_str().to_owned()))
                .collect::<PyResult<Vec<String>>>()
        });
        let mut found = found.unwrap_or_else(|_| panic!("no list of modules"));
        // The name of one module contains the platform.
        found.retain(|name| !name.starts_with("_sysconfigdata_"));
        let mut expected: Vec<&str> = BUILT_IN.iter().chain(NATIVE).copied().collect();
        found.sort();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}
