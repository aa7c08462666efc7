//! The import statement: a lookup among the modules that the zygote has loaded.
//!
//! Code may import modules that the table calls public. Modules of the standard library, recognised by their
//! globals, may import any module that was loaded with them. Nothing is loaded here: if a module is missing
//! but available, its name is recorded, and the client runs the job again in a child that has it. Code has
//! no side effects, so running it twice is harmless.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use rustpython_vm::builtins::{PyBaseExceptionRef, PyDictRef, PyStr};
use rustpython_vm::function::FuncArgs;
use rustpython_vm::{AsObject as _, PyObjectRef, PyResult, VirtualMachine};

use super::modules::{CODECS, INNER, module_names};
use crate::wire::ALL_MODULES;

/// The modules that can be imported, for code and for the standard library.
pub(super) struct Imports {
    /// Modules that code may import.
    public: HashMap<String, PyObjectRef>,
    /// Modules that the standard library may import.
    loaded: HashMap<String, PyObjectRef>,
    /// Ids of the globals of the standard library's modules.
    trusted: HashSet<usize>,
    /// Whether all modules are loaded.
    whole: bool,
}

thread_local! {
    /// Leaked, because interpreter objects must not be dropped outside of the interpreter.
    static IMPORTS: Cell<Option<&'static Imports>> = const { Cell::new(None) };
    /// The original `__import__`, which loads modules; leaked too.
    static PLAIN: Cell<Option<&'static PyObjectRef>> = const { Cell::new(None) };
    /// Whether the loader is running.
    static LOADING: Cell<bool> = const { Cell::new(false) };
    /// The first available module that the job could not import.
    static MISSED: RefCell<Option<String>> = const { RefCell::new(None) };
}

impl Imports {
    /// Builds the tables from the loaded modules; code gets `text_io` as `io`.
    pub(super) fn new(
        loaded: &PyDictRef,
        text_io: &PyObjectRef,
        whole: bool,
        vm: &VirtualMachine,
    ) -> PyResult<Imports> {
        let mut all = HashMap::new();
        let mut trusted = HashSet::new();
        for (name, module) in loaded.items_vec() {
            trusted.insert(module.get_attr("__dict__", vm)?.get_id());
            all.insert(name.str_utf8(vm)?.as_str().to_owned(), module);
        }
        // Codecs are looked up by a function that does not reveal the importing module.
        let codecs = CODECS.iter().map(|codec| format!("encodings.{codec}"));
        let names = module_names().chain(INNER.iter().copied());
        let mut public = HashMap::new();
        for name in names.map(str::to_owned).chain(codecs) {
            if let Some(module) = all.get(&name) {
                public.insert(name, module.clone());
            }
        }
        public.insert("io".to_owned(), text_io.clone());
        let before = IMPORTS.get().is_some_and(|before| before.whole);
        Ok(Imports {
            public,
            loaded: all,
            trusted,
            whole: whole || before,
        })
    }

    /// Makes these the modules that can be imported.
    pub(super) fn install(self) {
        IMPORTS.set(Some(Box::leak(Box::new(self))));
    }
}

/// Replaces `__import__`.
pub(super) fn install(vm: &VirtualMachine) -> PyResult<()> {
    let plain = vm.builtins.get_attr("__import__", vm)?;
    PLAIN.set(Some(Box::leak(Box::new(plain))));
    let hook = vm.new_function("__import__", import);
    vm.builtins.set_attr("__import__", hook, vm)
}

/// Runs the loader, with the original `__import__`.
pub(super) fn while_loading<T>(load: impl FnOnce() -> T) -> T {
    LOADING.set(true);
    let done = load();
    LOADING.set(false);
    done
}

/// Whether a module can be loaded and is not loaded yet.
pub(super) fn needs_loading(name: &str) -> bool {
    let loaded = IMPORTS
        .get()
        .is_some_and(|imports| imports.whole || imports.loaded.contains_key(name));
    // `io` is always loaded, but code gets another module under that name.
    !loaded && (name == ALL_MODULES || can_load(name))
}

fn can_load(name: &str) -> bool {
    let is_codec = |codec: &str| CODECS.contains(&codec);
    INNER.contains(&name)
        || module_names().any(|public| public == name)
        || name.strip_prefix("encodings.").is_some_and(is_codec)
}

/// Returns and resets the module that a job could not import.
pub(crate) fn take_missed() -> Option<String> {
    MISSED.take()
}

/// `__import__(name, globals=None, locals=None, fromlist=(), level=0)`
fn import(args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    if LOADING.get()
        && let Some(plain) = PLAIN.get()
    {
        return plain.call(args, vm);
    }
    let Some(imports) = IMPORTS.get() else {
        return Err(vm.new_import_error("there are no modules", vm.ctx.new_str("")));
    };
    let call = Call::read(args, vm)?;
    let ours = call
        .globals
        .as_ref()
        .is_some_and(|globals| imports.trusted.contains(&globals.get_id()));
    let table = if ours {
        &imports.loaded
    } else {
        &imports.public
    };
    let name = call.absolute(vm);
    let refused = |name: &str| imports.refuse(name, ours, vm);
    let module = table.get(&name).ok_or_else(|| refused(&name))?;
    match name.split_once('.') {
        Some((first, _)) if !call.from && call.level == 0 => {
            table.get(first).cloned().ok_or_else(|| refused(first))
        }
        _ => Ok(module.clone()),
    }
}

impl Imports {
    fn refuse(&self, name: &str, ours: bool, vm: &VirtualMachine) -> PyBaseExceptionRef {
        if !self.whole && (ours || can_load(name)) {
            // The standard library may import one of its own modules that the table does not list.
            let missed = if can_load(name) { name } else { ALL_MODULES };
            MISSED.with_borrow_mut(|first| first.get_or_insert_with(|| missed.to_owned()).len());
        }
        let text = if ours {
            format!("No module named '{name}'")
        } else {
            let known: Vec<&str> = module_names().collect();
            let known = known.join(", ");
            format!("module `{name}` is not available in compute blocks; these are: {known}")
        };
        vm.new_import_error(text, vm.ctx.new_str(name))
    }
}
struct Call {
    name: String,
    globals: Option<PyObjectRef>,
    /// Whether names are imported from the module.
    from: bool,
    level: usize,
}

impl Call {
    fn read(mut args: FuncArgs, vm: &VirtualMachine) -> PyResult<Call> {
        let mut take = |name: &str| args.take_positional().or_else(|| args.take_keyword(name));
        let name = take("name")
            .ok_or_else(|| vm.new_type_error("__import__() missing required argument 'name'"))?;
        let globals = take("globals");
        let _locals = take("locals");
        let from = match take("fromlist") {
            Some(list) => list.try_to_bool(vm)?,
            None => false,
        };
        let level = match take("level") {
            Some(level) => level.try_into_value::<usize>(vm)?,
            None => 0,
        };
        let name = name
            .downcast::<PyStr>()
            .map_err(|_| vm.new_type_error("module name must be a string"))?
            .to_string_lossy()
            .into_owned();
        Ok(Call {
            name,
            globals: globals.filter(|globals| !vm.is_none(globals)),
            from,
            level,
        })
    }

    /// Returns the full name of the module; in `from . import x`, dots count from the package of the
    /// globals.
    fn absolute(&self, vm: &VirtualMachine) -> String {
        if self.level == 0 {
            return self.name.clone();
        }
        let package = self
            .globals
            .as_ref()
            .and_then(|globals| globals.get_item("__package__", vm).ok())
            .and_then(|package| package.downcast::<PyStr>().ok())
            .map(|package| package.to_string_lossy().into_owned())
            .unwrap_or_default();
        let mut parts: Vec<&str> = package.split('.').filter(|part| !part.is_empty()).collect();
        parts.truncate(parts.len().saturating_sub(self.level - 1));
        if !self.name.is_empty() {
            parts.push(&self.name);
        }
        parts.join(".")
    }
}
