//! Repairs of arguments that a model wrote (S0.42, S0.43).
//!
//! A list of small named functions, applied in order; the reply names those that changed something.
//! They do not apply to arguments of a workflow. The chat, which comes last, is filled in for all
//! callers (`chat.rs`).

use deft_model::Object;
use serde_json::Value;

use super::schema::{accepts, properties};
use crate::options::Pipeline;

/// The inputs of a repair.
struct Scene<'a> {
    rules: &'a Pipeline,
    tool: &'a str,
    schema: &'a Value,
}

type Repair = fn(&Scene<'_>, &mut Object);

/// The repairs, in the order of the seeds.
const REPAIRS: [(&str, Repair); 3] = [
    ("coerce_string_booleans", coerce_string_booleans),
    ("strip_null_values", strip_null_values),
    ("strip_hallucinated_params", strip_hallucinated_params),
];

/// Repairs the arguments for a tool (by its bare name) and returns the names of the repairs that
/// changed something.
pub(super) fn repair(
    rules: &Pipeline,
    tool: &str,
    schema: &Value,
    arguments: &mut Object,
) -> Vec<&'static str> {
    let scene = Scene {
        rules,
        tool,
        schema,
    };
    let mut changed = Vec::new();
    for (name, repair) in REPAIRS {
        let before = arguments.clone();
        repair(&scene, arguments);
        if *arguments != before {
            changed.push(name);
        }
    }
    changed
}

/// Converts `"true"` to `true`, unless the tool expects a string there.
fn coerce_string_booleans(scene: &Scene<'_>, arguments: &mut Object) {
    let properties = properties(scene.schema);
    for (name, value) in arguments.iter_mut() {
        let property = properties.and_then(|all| all.get(name));
        let wants_text = property.is_some_and(|schema| {
            accepts(schema, "string") == Some(true) && accepts(schema, "boolean") != Some(true)
        });
        if wants_text {
            continue;
        }
        match value.as_str() {
            Some("true" | "True") => *value = Value::Bool(true),
            Some("false" | "False") => *value = Value::Bool(false),
            Some(_) | None => {}
        }
    }
}

/// Removes nulls: models send `null` for parameters that they mean to omit.
fn strip_null_values(_: &Scene<'_>, arguments: &mut Object) {
    arguments.retain(|_, value| !value.is_null());
}

/// Removes parameters that models are known to invent, unless the tool has them.
fn strip_hallucinated_params(scene: &Scene<'_>, arguments: &mut Object) {
    let known = properties(scene.schema);
    for rule in &scene.rules.hallucinated {
        if fits(&rule.tools, scene.tool) {
            arguments.retain(|name, _| {
                !rule.parameters.contains(name)
                    || known.is_some_and(|known| known.contains_key(name))
            });
        }
    }
}

fn fits(pattern: &str, tool: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => tool.starts_with(start),
        None => tool == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn apply(tool: &str, schema: &Value, arguments: Value) -> (Value, Vec<&'static str>) {
        let pipeline = Pipeline::default();
        let Value::Object(mut arguments) = arguments else {
            unreachable!()
        };
        let changed = repair(&pipeline, tool, schema, &mut arguments);
        (Value::Object(arguments), changed)
    }

    #[test]
    fn each_repair_has_its_effect() {
        let schema = json!({"properties": {"title": {"type": "string"}}});
        let given = json!({"draft": "true", "title": "true", "none": null, "slug": "x", "keep": 1});
        assert_eq!(
            apply("vercel_deploy", &schema, given),
            (
                json!({"draft": true, "title": "true", "keep": 1}),
                vec![
                    "coerce_string_booleans",
                    "strip_null_values",
                    "strip_hallucinated_params"
                ]
            )
        );
    }

    #[test]
    fn an_existing_parameter_is_not_renamed() {
        let schema = json!({"properties": {"slug": {"type": "string"}}});
        let given = json!({"slug": "x"});
        assert_eq!(
            apply("vercel_deploy", &schema, given.clone()),
            (given.clone(), vec![])
        );
        assert_eq!(
            apply("other_tool", &json!({}), given.clone()),
            (given, vec![])
        );
    }
}
