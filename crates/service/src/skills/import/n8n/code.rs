//! Converts the Python of a `code` node into a compute block.

use deft_model::StepKind;

use super::document::Node;
use super::expression::{Scope, whole};

/// Names of n8n that a compute block provides.
const KNOWN: &[&str] = &["_items", "_item"];

pub(super) fn compute(node: &Node<'_>, scope: &dyn Scope) -> Result<StepKind, String> {
    let is_python = node
        .text(&["language"])
        .is_some_and(|language| language.starts_with("python"));
    let code = node.text(&["pythonCode"]).filter(|_| is_python);
    let Some(code) = code else {
        return Err("it is JavaScript; deft runs Python".to_owned());
    };
    if let Some(name) = unknown_name(code) {
        return Err(format!(
            "its code reads `{name}` of n8n; deft has `_items` and `_item`"
        ));
    }
    let body: String = code.lines().map(|line| format!("    {line}\n")).collect();
    let input = whole(scope.input())?;
    let block = format!(
        "_items = [{{\"json\": {input}}}]\n\
         _item = _items[0]\n\n\
         def _run():\n{body}\n\
         _output = _run()\n\
         if isinstance(_output, list):\n\
         \x20   if len(_output) != 1:\n\
         \x20       raise ValueError(\"the code must return one item\")\n\
         \x20   _output = _output[0]\n\
         result = _output[\"json\"] if \"json\" in _output else _output\n"
    );
    Ok(StepKind::Compute { code: block })
}

/// Returns the first name that only n8n provides; such names begin with an underscore.
fn unknown_name(code: &str) -> Option<&str> {
    let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    let mut special = words.filter(|word| word.starts_with('_') && word.len() > 1);
    special.find(|word| !KNOWN.contains(word))
}
