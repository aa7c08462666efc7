//! The parser behind the module `yaml`: converts text to a list of events.
//!
//! It is the parser that also reads skill files. Not here: the meaning of scalars (YAML 1.1, in
//! `lib/yaml.py`), and writing.

use granit_parser::{Event, Options, Parser, ScalarStyle, Tag};
use rustpython_vm::builtins::{PyDictRef, PyStrRef};
use rustpython_vm::{PyObjectRef, PyResult, VirtualMachine};

/// Passes the parser to the prelude.
pub(super) fn install(natives: &PyDictRef, vm: &VirtualMachine) -> PyResult<()> {
    let function = vm.new_function("events", events);
    natives.set_item("yaml_events", function.into(), vm)
}

/// Returns a tuple for each event: its kind; for a scalar its text and whether it is plain; then tag and
/// anchor number for events that can have them.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the interpreter hands its arguments over"
)]
fn events(text: PyStrRef, vm: &VirtualMachine) -> PyResult {
    let text = text.to_string_lossy();
    let mut options = Options::default();
    options.set_emit_comments(false);
    let mut found = Vec::new();
    for event in Parser::new_from_str_with_options(&text, options) {
        let (event, _) = event.map_err(|problem| {
            let (line, column) = (problem.marker().line(), problem.marker().col() + 1);
            vm.new_value_error(format!("line {line}, column {column}: {}", problem.info()))
        })?;
        found.extend(tuple(event, vm));
    }
    Ok(vm.ctx.new_list(found).into())
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the parser may add events, and Python is told of these only"
)]
fn tuple(event: Event<'_>, vm: &VirtualMachine) -> Option<PyObjectRef> {
    let word = |text: &str| PyObjectRef::from(vm.ctx.new_str(text));
    let number = |number: usize| PyObjectRef::from(vm.ctx.new_int(number));
    let named = |tag: Option<&Tag>| match tag {
        Some(tag) => word(&tag.to_string()),
        None => vm.ctx.none(),
    };
    let parts = match event {
        Event::DocumentStart(..) => vec![word("document")],
        Event::Scalar(text, style, anchor, tag) => {
            let plain = vm.ctx.new_bool(style == ScalarStyle::Plain).into();
            let tag = named(tag.as_deref());
            vec![word("scalar"), word(&text), plain, tag, number(anchor)]
        }
        Event::SequenceStart(_, anchor, tag) => {
            vec![word("sequence"), named(tag.as_deref()), number(anchor)]
        }
        Event::MappingStart(_, anchor, tag) => {
            vec![word("mapping"), named(tag.as_deref()), number(anchor)]
        }
        Event::SequenceEnd | Event::MappingEnd => vec![word("end")],
        Event::Alias(anchor) => vec![word("alias"), number(anchor)],
        _ => return None,
    };
    Some(vm.ctx.new_tuple(parts).into())
}
