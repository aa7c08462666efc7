//! Restoration of modules and classes that a job changed, for the next job of the session.
//!
//! Dictionaries of modules and attributes of classes are restored entry by entry. Changes inside other
//! objects of the standard library, such as caches, last until the session ends; they cannot leave it.

use rustpython_vm::builtins::{PyDictRef, PyType, PyTypeRef};
use rustpython_vm::types::PyTypeFlags;
use rustpython_vm::{AsObject as _, Py, PyObjectRef, PyResult, VirtualMachine};

/// The original state of modules and classes.
pub(crate) struct Snapshot {
    dictionaries: Vec<(PyDictRef, Vec<(PyObjectRef, PyObjectRef)>)>,
    classes: Vec<(PyTypeRef, Vec<Attribute>)>,
    /// `type.__setattr__` and `type.__delattr__`, because those of a metaclass may refuse.
    set: PyObjectRef,
    delete: PyObjectRef,
}

type Attribute = (PyObjectRef, PyObjectRef);

impl Snapshot {
    /// Records every entry of the dictionaries, and the attributes of all mutable classes.
    pub(super) fn take(dictionaries: &[PyDictRef], vm: &VirtualMachine) -> PyResult<Snapshot> {
        let dictionaries = dictionaries
            .iter()
            .map(|dictionary| (dictionary.clone(), dictionary.items_vec()))
            .collect();
        let mut classes = Vec::new();
        collect(vm.ctx.types.object_type, &mut classes);
        let kind = vm.ctx.types.type_type.as_object();
        Ok(Snapshot {
            dictionaries,
            classes,
            set: kind.get_attr("__setattr__", vm)?,
            delete: kind.get_attr("__delattr__", vm)?,
        })
    }

    /// Restores everything that has changed.
    pub(crate) fn restore(&self, vm: &VirtualMachine) -> PyResult<()> {
        for (class, attributes) in &self.classes {
            if !same_attributes(class, attributes) {
                self.restore_class(class, attributes, vm);
            }
        }
        for (dictionary, items) in &self.dictionaries {
            if !same_items(dictionary, items) {
                dictionary.clear();
                for (key, value) in items {
                    dictionary.set_item(&**key, value.clone(), vm)?;
                }
            }
        }
        Ok(())
    }

    /// Restores the attributes of a class one by one, because the interpreter keeps tables next to them.
    fn restore_class(&self, class: &PyTypeRef, attributes: &[Attribute], vm: &VirtualMachine) {
        let now: Vec<Attribute> = class.attributes.entries();
        for (name, _) in &now {
            if !attributes.iter().any(|(old, _)| name.is(old)) {
                // An attribute that cannot be removed stays; the session is the boundary.
                drop(self.delete.call((class.clone(), name.clone()), vm));
            }
        }
        for (name, value) in attributes {
            let kept = now.iter().any(|(new, now)| new.is(name) && now.is(value));
            if !kept {
                drop(
                    self.set
                        .call((class.clone(), name.clone(), value.clone()), vm),
                );
            }
        }
    }
}

fn collect(class: &Py<PyType>, found: &mut Vec<(PyTypeRef, Vec<Attribute>)>) {
    let subclasses: Vec<PyObjectRef> = class
        .subclasses
        .read()
        .iter()
        .filter_map(|subclass| subclass.upgrade())
        .collect();
    for subclass in subclasses {
        let Ok(subclass) = subclass.downcast::<PyType>() else {
            continue;
        };
        if found.iter().any(|(known, _)| known.is(&subclass)) {
            continue;
        }
        if subclass.slots.flags.has_feature(PyTypeFlags::HEAPTYPE) {
            found.push((subclass.clone(), subclass.attributes.entries()));
        }
        collect(&subclass, found);
    }
}

fn same_attributes(class: &PyTypeRef, attributes: &[Attribute]) -> bool {
    let now = class.attributes.entries();
    now.len() == attributes.len()
        && now
            .iter()
            .zip(attributes)
            .all(|((name, value), (old, then))| name.is(old) && value.is(then))
}

fn same_items(dictionary: &PyDictRef, items: &[(PyObjectRef, PyObjectRef)]) -> bool {
    dictionary.__len__() == items.len()
        && dictionary
            .into_iter()
            .zip(items)
            .all(|((key, value), (old_key, old_value))| key.is(old_key) && value.is(old_value))
}
