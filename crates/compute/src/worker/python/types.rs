//! Standard library classes with a special JSON form. If the module of a class is not loaded, no object of
//! it can exist.

use rustpython_vm::builtins::{PyDictRef, PyTypeRef};
use rustpython_vm::{PyObjectRef, PyResult, TryFromObject as _, VirtualMachine};

/// The classes that the JSON writer handles.
#[derive(Default)]
pub(super) struct Types {
    /// Written with `isoformat()`.
    pub(super) dated: Vec<PyTypeRef>,
    /// Written with `str()`.
    pub(super) text: Vec<PyTypeRef>,
    /// `Enum`, written as its value.
    pub(super) enumeration: Option<PyTypeRef>,
    /// `deque`, written as a list.
    pub(super) deque: Option<PyTypeRef>,
    /// The functions `is_dataclass` and `fields`.
    pub(super) record: Option<(PyObjectRef, PyObjectRef)>,
}

const DATED: [(&str, &str); 2] = [("datetime", "date"), ("datetime", "time")];

const TEXT: [(&str, &str); 5] = [
    ("datetime", "timedelta"),
    ("uuid", "UUID"),
    ("decimal", "Decimal"),
    ("fractions", "Fraction"),
    ("pathlib", "PurePath"),
];

impl Types {
    /// Looks up the classes in the loaded modules.
    pub(super) fn find(modules: &PyDictRef, vm: &VirtualMachine) -> PyResult<Types> {
        let find = |(module, name): (&'static str, &'static str)| match modules
            .get_item_opt(module, vm)?
        {
            Some(module) => module.get_attr(name, vm).map(Some),
            None => Ok(None),
        };
        let class = |place| -> PyResult<Option<PyTypeRef>> {
            find(place)?
                .map(|class| PyTypeRef::try_from_object(vm, class))
                .transpose()
        };
        let classes = |places: &[(&'static str, &'static str)]| -> PyResult<Vec<PyTypeRef>> {
            let found: PyResult<Vec<_>> = places.iter().map(|place| class(*place)).collect();
            Ok(found?.into_iter().flatten().collect())
        };
        Ok(Types {
            dated: classes(&DATED)?,
            text: classes(&TEXT)?,
            enumeration: class(("enum", "Enum"))?,
            deque: class(("_collections", "deque"))?,
            record: find(("dataclasses", "is_dataclass"))?.zip(find(("dataclasses", "fields"))?),
        })
    }
}
