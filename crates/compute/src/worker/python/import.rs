//! The import statement: a look-up among the modules that the zygote has loaded.
//!
//! Code may import what the table calls public. Modules of the standard library may import whatever
//! was loaded with them; they are told apart by their globals. Nothing is loaded here: a module that
//! could be there and is not is noted, and the client runs the job again in a child that has it. Code
//! has no effects, so running it twice does no harm.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use rustpython_vm::builtins::{PyBaseExceptionRef, PyDictRef, PyStr};
use rustpython_vm::function::FuncArgs;
use rustpython_vm::{AsObject as _, PyObjectRef, PyResult, VirtualMachine};

use super::modules::{CODECS, INNER, module_names};
use crate::wire::ALL_MODULES;

/// What can be imported, and by whom.
pub(super) struct Imports {
    /// Modules that code gets.
    public: HashMap<String, PyObjectRef>,
    /// Modules that the standard library gets.
    loaded: HashMap<String, PyObjectRef>,
    /// The globals of the modules of the standard library.
    trusted: HashSet<usize>,
    /// There is nothing more to load.
    whole: bool,
}

thread_local! {
    /// Leaked, so that nothing of the interpreter is dropped behind its back.
    static IMPORTS: Cell<Option<&'static Imports>> = const { Cell::new(None) };
    /// The import that loads; leaked too.
    static PLAIN: Cell<Option<&'static PyObjectRef>> = const { Cell::new(None) };
    /// The loader is at work.
    static LOADING: Cell<bool> = const { Cell::new(false) };
    /// What the job wanted and could have had.
    static MISSED: RefCell<Option<String>> = const { RefCell::new(None) };
}

impl Imports {
    /// From the dictionary of loaded modules, with the `io` that code gets.
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
        // Codecs are looked for by a function that does not say who asks.
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

    /// From now on these are what can be imported.
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

/// Runs the loader, for which an import is what it is elsewhere.
pub(super) fn while_loading<T>(load: impl FnOnce() -> T) -> T {
    LOADING.set(true);
    let done = load();
    LOADING.set(false);
    done
}

/// Whether a name is one that can be loaded and is not.
pub(super) fn is_wanted(name: &str) -> bool {
    let loaded = IMPORTS
        .get()
        .is_some_and(|imports| imports.whole || imports.loaded.contains_key(name));
    // `io` is always loaded, but what code gets of it is another module.
    !loaded && (name == ALL_MODULES || can_load(name))
}

fn can_load(name: &str) -> bool {
    let is_codec = |codec: &str| CODECS.contains(&codec);
    INNER.contains(&name)
        || module_names().any(|public| public == name)
        || name.strip_prefix("encodings.").is_some_and(is_codec)
}

/// The module that a job missed, if it did; the next one starts with a clean slate.
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
            // The standard library may ask for a part of itself that no table names.
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
    /// Whether names are taken from the module.
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

    /// The full name of the module; `from . import x` counts dots from the package of the globals.
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
