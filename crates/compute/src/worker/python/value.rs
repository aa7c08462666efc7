//! Conversion to JSON: writes a Python object, up to a size and a depth.
//!
//! Built-in containers are read directly, not through methods that code may have replaced. Rules:
//!
//! - tuples, sets, deques, ranges, views, iterators and generators are lists; sets are sorted when
//!   their elements can be compared
//! - dates and times are ISO strings; `timedelta`, `Decimal`, `Fraction`, `UUID` are written with `str`
//! - members of an `Enum` are their values, data classes are objects
//! - NaN and the infinities are null
//! - integers beyond 64 bits are numbers, which most readers of JSON round; those beyond the range of
//!   a float are an error, and so are bytes and objects of other classes

use rustpython_vm::builtins::{
    PyBaseExceptionRef, PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList,
    PySet, PyStr, PyTuple, PyType,
};
use rustpython_vm::{AsObject as _, PyObject, PyObjectRef, PyResult, VirtualMachine};

use super::types::Types;
use super::{LoadedInterpreter, from_exception};
use crate::wire::Fault;

/// Maximum nesting of a value. JSON parsers stop at 128.
const DEPTH: usize = 100;

/// Integers must have fewer bits than this.
const INTEGER_BITS: u64 = 1023;

/// Why a value cannot be written.
pub(crate) enum Stop {
    /// It exceeds the size limit.
    Large,
    /// Python raised an exception.
    Raised(PyBaseExceptionRef),
}

impl From<PyBaseExceptionRef> for Stop {
    fn from(exception: PyBaseExceptionRef) -> Stop {
        Stop::Raised(exception)
    }
}

/// Writes JSON to the end of a buffer.
pub(crate) struct Writer<'a> {
    out: Vec<u8>,
    /// Maximum length of the buffer.
    limit: usize,
    types: &'a Types,
    vm: &'a VirtualMachine,
}

impl<'a> Writer<'a> {
    /// Creates a writer that appends up to `bytes` bytes.
    pub(crate) fn new(
        out: Vec<u8>,
        bytes: usize,
        loaded: &'a LoadedInterpreter,
        vm: &'a VirtualMachine,
    ) -> Writer<'a> {
        let limit = out.len().saturating_add(bytes);
        Writer {
            out,
            limit,
            types: &loaded.types,
            vm,
        }
    }

    /// Writes the object and returns the buffer.
    pub(crate) fn finish(mut self, object: &PyObject) -> Result<Vec<u8>, Fault> {
        let start = self.out.len();
        match self.write(object, 0) {
            Ok(()) => Ok(self.out),
            Err(Stop::Large) => Err(Fault::TooLarge {
                bytes: self.out.len() - start,
            }),
            Err(Stop::Raised(exception)) => Err(from_exception(&exception, self.vm)),
        }
    }

    fn write(&mut self, object: &PyObject, depth: usize) -> Result<(), Stop> {
        if self.out.len() > self.limit {
            return Err(Stop::Large);
        }
        if depth > DEPTH {
            let text =
                format!("the value is nested deeper than {DEPTH} levels, or contains itself");
            return Err(self.vm.new_value_error(text).into());
        }
        if self.vm.is_none(object) {
            self.raw("null");
        } else if let Some(text) = object.downcast_ref::<PyStr>() {
            self.text(&text.to_string_lossy());
        } else if self
            .types
            .enumeration
            .as_ref()
            .is_some_and(|class| object.fast_isinstance(class))
        {
            let value = object.get_attr("value", self.vm)?;
            return self.write(&value, depth + 1);
        } else if let Some(number) = object.downcast_ref::<PyInt>() {
            self.integer(object, number)?;
        } else if let Some(number) = object.downcast_ref::<PyFloat>() {
            self.float(number.to_f64());
        } else if let Some(mapping) = object.downcast_ref::<PyDict>() {
            return self.object(&mapping.items_vec(), depth);
        } else {
            return self.container(object, depth);
        }
        self.check()
    }

    fn container(&mut self, object: &PyObject, depth: usize) -> Result<(), Stop> {
        if let Some(list) = object.downcast_ref::<PyList>() {
            let items = list.borrow_vec().to_vec();
            self.array(&items, depth)
        } else if let Some(tuple) = object.downcast_ref::<PyTuple>() {
            self.array(tuple.as_slice(), depth)
        } else if let Some(set) = object.downcast_ref::<PySet>() {
            let items = self.sort_items(set.elements());
            self.array(&items, depth)
        } else if let Some(set) = object.downcast_ref::<PyFrozenSet>() {
            let items = self.sort_items(set.elements());
            self.array(&items, depth)
        } else {
            self.other(object, depth)
        }
    }

    /// Writes standard library classes with a special form, and iterables.
    fn other(&mut self, object: &PyObject, depth: usize) -> Result<(), Stop> {
        let is = |class: &rustpython_vm::builtins::PyTypeRef| object.fast_isinstance(class);
        if self.types.dated.iter().any(is) {
            let text = self.vm.call_method(object, "isoformat", ())?;
            self.text(&text.str(self.vm)?.to_string_lossy());
            return self.check();
        }
        if self.types.text.iter().any(is) {
            self.text(&object.str(self.vm)?.to_string_lossy());
            return self.check();
        }
        if object.downcast_ref::<PyType>().is_none()
            && let Some(entries) = self.record(object)?
        {
            return self.object(&entries, depth);
        }
        if self.types.deque.as_ref().is_some_and(is) || self.is_listed(object) {
            return self.stream(object, depth);
        }
        Err(self.misfit(object).into())
    }

    /// Returns the fields of an instance of a data class.
    fn record(&self, object: &PyObject) -> PyResult<Option<Vec<(PyObjectRef, PyObjectRef)>>> {
        let Some((is_dataclass, fields)) = &self.types.record else {
            return Ok(None);
        };
        if !is_dataclass
            .call((object.to_owned(),), self.vm)?
            .try_to_bool(self.vm)?
        {
            return Ok(None);
        }
        let fields = fields.call((object.to_owned(),), self.vm)?;
        let mut entries = Vec::new();
        for field in fields.try_to_value::<Vec<PyObjectRef>>(self.vm)? {
            let name = field.get_attr("name", self.vm)?;
            let value = object.get_attr(&*name.str(self.vm)?, self.vm)?;
            entries.push((name, value));
        }
        Ok(Some(entries))
    }

    /// Whether the object is an iterator, a range or a view. Other iterables are not written as lists.
    fn is_listed(&self, object: &PyObject) -> bool {
        const NAMES: [&str; 4] = ["range", "dict_keys", "dict_values", "dict_items"];
        let class = object.class();
        NAMES.contains(&&*class.name()) || object.get_attr("__next__", self.vm).is_ok()
    }

    fn misfit(&self, object: &PyObject) -> PyBaseExceptionRef {
        let bytes = object.downcast_ref::<PyBytes>().is_some()
            || object.downcast_ref::<PyByteArray>().is_some();
        let name = object.class().name().to_string();
        self.vm.new_type_error(if bytes {
            format!("the value contains `{name}`; decode it, or encode it as base64")
        } else {
            format!("the value contains an object of type `{name}`, which is not JSON")
        })
    }

    fn array(&mut self, items: &[PyObjectRef], depth: usize) -> Result<(), Stop> {
        self.raw("[");
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.raw(",");
            }
            self.write(item, depth + 1)?;
        }
        self.raw("]");
        self.check()
    }

    /// Writes an iterable as an array without collecting its items, which may be endless.
    fn stream(&mut self, object: &PyObject, depth: usize) -> Result<(), Stop> {
        let vm = self.vm;
        let iterator = object.to_owned().get_iter(vm)?;
        let mut first = true;
        self.raw("[");
        for item in iterator.iter::<PyObjectRef>(vm)? {
            if !first {
                self.raw(",");
            }
            first = false;
            let item: PyObjectRef = item?;
            self.write(&item, depth + 1)?;
        }
        self.raw("]");
        self.check()
    }

    fn object(&mut self, entries: &[(PyObjectRef, PyObjectRef)], depth: usize) -> Result<(), Stop> {
        self.raw("{");
        for (index, (key, value)) in entries.iter().enumerate() {
            if index > 0 {
                self.raw(",");
            }
            self.key(key)?;
            self.raw(":");
            self.write(value, depth + 1)?;
        }
        self.raw("}");
        self.check()
    }

    /// Writes a key as `json.dumps` does; dates and the like are written as in values.
    fn key(&mut self, key: &PyObject) -> Result<(), Stop> {
        if let Some(text) = key.downcast_ref::<PyStr>() {
            self.text(&text.to_string_lossy());
            return Ok(());
        }
        if !self.is_scalar(key) {
            let name = key.class().name().to_string();
            let text = format!("keys must be str, int, float, bool or None, not {name}");
            return Err(self.vm.new_type_error(text).into());
        }
        let from = self.out.len();
        self.write(key, DEPTH)?;
        if self.out.get(from) != Some(&b'"') {
            self.out.insert(from, b'"');
            self.raw("\"");
        }
        Ok(())
    }

    fn is_scalar(&self, key: &PyObject) -> bool {
        let classes = self.types.dated.iter().chain(&self.types.text);
        self.vm.is_none(key)
            || key.downcast_ref::<PyInt>().is_some()
            || key.downcast_ref::<PyFloat>().is_some()
            || classes.into_iter().any(|class| key.fast_isinstance(class))
    }

    fn integer(&mut self, object: &PyObject, number: &PyInt) -> PyResult<()> {
        if object.downcast_ref::<PyBool>().is_some()
            || object.class().is(self.vm.ctx.types.bool_type)
        {
            self.raw(if number.as_bigint().bits() == 0 {
                "false"
            } else {
                "true"
            });
        } else if number.as_bigint().bits() > INTEGER_BITS {
            let text = "the value contains an integer that is too large for a number; use str()";
            return Err(self.vm.new_overflow_error(text));
        } else {
            self.raw(&number.as_bigint().to_string());
        }
        Ok(())
    }

    fn float(&mut self, number: f64) {
        match serde_json::Number::from_f64(number) {
            Some(number) => self.raw(&number.to_string()),
            None => self.raw("null"),
        }
    }

    fn sort_items(&self, items: Vec<PyObjectRef>) -> Vec<PyObjectRef> {
        let list = self.vm.ctx.new_list(items.clone());
        match self.vm.call_method(list.as_object(), "sort", ()) {
            Ok(_) => list.borrow_vec().to_vec(),
            Err(_) => items,
        }
    }

    fn text(&mut self, text: &str) {
        // Writing to a vector cannot fail.
        drop(serde_json::to_writer(&mut self.out, text));
    }

    fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn check(&self) -> Result<(), Stop> {
        if self.out.len() > self.limit {
            return Err(Stop::Large);
        }
        Ok(())
    }
}
