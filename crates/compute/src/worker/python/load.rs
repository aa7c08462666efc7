//! Builds the interpreter and runs the prelude: everything that children find loaded.
//!
//! Objects that the host relies on are taken out here once and never looked up again, so that code
//! which replaces `json.dumps` or `dict.items` does not change what the host does.

use rustpython_vm::builtins::{PyDictRef, PyListRef, PyTypeRef};
use rustpython_vm::compiler::Mode;
use rustpython_vm::scope::Scope;
use rustpython_vm::{Interpreter, PyObjectRef, PyResult, Settings, TryFromObject, VirtualMachine};

use super::clock::natives;
use super::import::Imports;
use super::modules::{CODECS, INNER, NATIVE, PUBLIC, REMOVED};
use super::restore::Snapshot;
use super::rounding;

/// The prelude.
const PRELUDE: &str = include_str!("prelude.py");

/// What the host keeps of the loaded interpreter.
pub(crate) struct Loaded {
    pub(super) attr_dict: PyTypeRef,
    pub(super) builtins: PyDictRef,
    /// Called before each job, with the seed and the zone.
    pub(crate) begin: PyObjectRef,
    /// Called after a restore, for state that is not in a module or class.
    pub(crate) mend: PyObjectRef,
    /// Called for each job: what `print` writes to.
    pub(crate) printed: PyObjectRef,
    /// The `sys` that code sees.
    pub(crate) shown: PyObjectRef,
    /// The `sys.modules` that code sees.
    pub(super) modules: PyDictRef,
    pub(super) types: Types,
    pub(crate) snapshot: Snapshot,
}

/// Classes with a form of their own in JSON.
pub(super) struct Types {
    /// `isoformat()`.
    pub(super) dated: [PyTypeRef; 2],
    /// `str()`.
    pub(super) text: [PyTypeRef; 4],
    /// The value.
    pub(super) enumeration: PyTypeRef,
    /// A list.
    pub(super) deque: PyTypeRef,
    pub(super) fields: PyObjectRef,
    pub(super) is_dataclass: PyObjectRef,
}

/// An interpreter with nothing of the host in it, and what the host keeps.
pub(crate) fn load() -> Result<(Interpreter, Loaded), String> {
    let interpreter = interpreter();
    let loaded = interpreter.enter(|vm| {
        prelude(vm).map_err(|exception| {
            let mut text = String::new();
            // Only a broken prelude gets here, and then this is all there is to say.
            let _ = vm.write_exception(&mut text, &exception);
            format!("the prelude failed: {text}")
        })
    })?;
    Ok((interpreter, loaded))
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
    // Sets have the same order in every process.
    settings.hash_seed = Some(0);
    let builder = Interpreter::builder(settings);
    let natives: Vec<_> = rustpython_stdlib::stdlib_module_defs(&builder.ctx)
        .into_iter()
        .filter(|module| NATIVE.contains(&module.name.as_str()))
        .collect();
    builder
        .add_native_modules(&natives)
        .add_frozen_modules(rustpython_pylib::FROZEN_STDLIB)
        .build()
}

fn prelude(vm: &VirtualMachine) -> PyResult<Loaded> {
    let globals = vm.ctx.new_dict();
    rounding::install(vm)?;
    globals.set_item("__name__", vm.ctx.new_str("compute").into(), vm)?;
    globals.set_item("__builtins__", vm.builtins.clone().into(), vm)?;
    globals.set_item("native", natives(vm)?.into(), vm)?;
    let public = PUBLIC.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    for (name, names) in [
        ("public", public.as_slice()),
        ("inner", INNER),
        ("codecs", CODECS),
        ("removed", REMOVED),
    ] {
        globals.set_item(name, list(names, vm), vm)?;
    }
    let code = vm
        .compile(PRELUDE, Mode::Exec, "<prelude>".to_owned())
        .map_err(|error| error.into_pyexception(vm, Some(PRELUDE)))?;
    vm.run_code_obj(code, Scope::with_builtins(None, globals.clone(), vm))?;
    finish(&globals, vm)
}

/// Takes what the host keeps, replaces the import, and remembers how everything looks now.
fn finish(globals: &PyDictRef, vm: &VirtualMachine) -> PyResult<Loaded> {
    let exports = globals.get_item("exports", vm)?;
    let get = |name: &str| exports.get_item(name, vm);
    let class = |name: &str| PyTypeRef::try_from_object(vm, get(name)?);
    let modules = PyDictRef::try_from_object(vm, get("loaded")?)?;
    let names = PyListRef::try_from_object(vm, globals.get_item("scaffolding", vm)?)?;
    let types = Types {
        dated: [class("date")?, class("time")?],
        text: [
            class("timedelta")?,
            class("uuid")?,
            class("decimal")?,
            class("fraction")?,
        ],
        enumeration: class("enum")?,
        deque: class("deque")?,
        fields: get("fields")?,
        is_dataclass: get("is_dataclass")?,
    };
    let (attr_dict, begin, mend) = (class("attr_dict")?, get("begin")?, get("mend")?);
    let (printed, shown, text_io) = (get("printed")?, get("shown")?, get("text_io")?);
    Imports::new(&modules, &text_io, vm)?.install(vm)?;
    for name in names.borrow_vec().to_vec() {
        globals.del_item(&*name, vm)?;
    }
    let dict = |object: PyObjectRef| PyDictRef::try_from_object(vm, object);
    let modules_shown = dict(shown.get_attr("modules", vm)?)?;
    let mut kept = vec![globals.clone(), vm.builtins.dict(), vm.sys_module.dict()];
    kept.push(dict(vm.sys_module.get_attr("modules", vm)?)?);
    kept.push(modules_shown.clone());
    for module in modules
        .values_vec()
        .into_iter()
        .chain([shown.clone(), text_io])
    {
        kept.push(dict(module.get_attr("__dict__", vm)?)?);
    }
    Ok(Loaded {
        attr_dict,
        builtins: vm.builtins.dict(),
        begin,
        mend,
        printed,
        shown,
        modules: modules_shown,
        types,
        snapshot: Snapshot::take(kept, vm)?,
    })
}

fn list(names: &[&str], vm: &VirtualMachine) -> PyObjectRef {
    let names = names
        .iter()
        .map(|name| vm.ctx.new_str(*name).into())
        .collect();
    vm.ctx.new_list(names).into()
}
