//! Classes with a form of their own in JSON, as far as the modules are loaded that they are in: of a
//! class that is not, there is no object.

use rustpython_vm::builtins::{PyDictRef, PyTypeRef};
use rustpython_vm::{PyObjectRef, PyResult, TryFromObject as _, VirtualMachine};

/// What the writer of JSON asks for.
#[derive(Default)]
pub(super) struct Types {
    /// `isoformat()`.
    pub(super) dated: Vec<PyTypeRef>,
    /// `str()`.
    pub(super) text: Vec<PyTypeRef>,
    /// The value.
    pub(super) enumeration: Option<PyTypeRef>,
    /// A list.
    pub(super) deque: Option<PyTypeRef>,
    /// `is_dataclass` and `fields`.
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
    /// Takes the classes out of the loaded modules.
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
