//! The import statement: a look-up among the modules that the zygote has loaded.
//!
//! Code may import what the table calls public. Modules of the standard library may import whatever
//! was loaded with them; they are told apart by their globals. Nothing is ever loaded here.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use rustpython_vm::builtins::PyDictRef;
use rustpython_vm::function::FuncArgs;
use rustpython_vm::{AsObject as _, PyObjectRef, PyResult, VirtualMachine};

use super::modules::{INNER, module_names};

/// What can be imported, and by whom.
pub(super) struct Imports {
    /// Modules that code gets.
    public: HashMap<String, PyObjectRef>,
    /// Modules that the standard library gets.
    loaded: HashMap<String, PyObjectRef>,
    /// The globals of the modules of the standard library.
    trusted: HashSet<usize>,
}

thread_local! {
    /// Leaked, so that nothing of the interpreter is dropped behind its back.
    static IMPORTS: Cell<Option<&'static Imports>> = const { Cell::new(None) };
}

impl Imports {
    /// From the dictionary of loaded modules, with the `io` that code gets.
    pub(super) fn new(
        loaded: &PyDictRef,
        text_io: &PyObjectRef,
        vm: &VirtualMachine,
    ) -> PyResult<Imports> {
        let mut all = HashMap::new();
        let mut trusted = HashSet::new();
        for (name, module) in loaded.items_vec() {
            trusted.insert(module.get_attr("__dict__", vm)?.get_id());
            all.insert(name.str_utf8(vm)?.as_str().to_owned(), module);
        }
        let mut public = HashMap::new();
        for name in module_names().chain(INNER.iter().copied()) {
            if let Some(module) = all.get(name) {
                public.insert(name.to_owned(), module.clone());
            }
        }
        public.insert("io".to_owned(), text_io.clone());
        Ok(Imports {
            public,
            loaded: all,
            trusted,
        })
    }

    /// Replaces `__import__`.
    pub(super) fn install(self, vm: &VirtualMachine) -> PyResult<()> {
        IMPORTS.set(Some(Box::leak(Box::new(self))));
        let hook = vm.new_function("__import__", import);
        vm.builtins.set_attr("__import__", hook, vm)
    }
}

/// `__import__(name, globals=None, locals=None, fromlist=(), level=0)`
fn import(args: FuncArgs, vm: &VirtualMachine) -> PyResult {
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
    let module = table.get(&name).ok_or_else(|| refused(&name, ours, vm))?;
    match name.split_once('.') {
        Some((first, _)) if !call.from && call.level == 0 => table
            .get(first)
            .cloned()
            .ok_or_else(|| refused(first, ours, vm)),
        _ => Ok(module.clone()),
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
            .downcast::<rustpython_vm::builtins::PyStr>()
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
            .and_then(|package| package.downcast::<rustpython_vm::builtins::PyStr>().ok())
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

fn refused(
    name: &str,
    ours: bool,
    vm: &VirtualMachine,
) -> rustpython_vm::builtins::PyBaseExceptionRef {
    let text = if ours {
        format!("No module named '{name}'")
    } else {
        let known: Vec<&str> = module_names().collect();
        let known = known.join(", ");
        format!("module `{name}` is not available in compute blocks; these are: {known}")
    };
    vm.new_import_error(text, vm.ctx.new_str(name))
}
