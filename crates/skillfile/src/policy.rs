//! Parsing of the policy fields, shared by all dialects.

use std::sync::{Arc, LazyLock};

use deft_model::{Budget, BudgetPeriod, ExhaustedAction, Expect, FailureClass, Heal, Policy};
use serde_json::Value;

use crate::compute;
use crate::diagnostic::Sink;
use crate::embedded::find_json_error;
use crate::expressions;
use crate::fields::{BUDGET, EXPECT, HEAL, POLICY};
use crate::preflight::Check;
use crate::read::Fields;
use crate::rules::Rule;
use crate::yaml::{Entry, Mapping, Node};

/// Parses the policy; absent fields keep their defaults. Most skills have no policy fields and share one
/// default policy.
pub(crate) fn read(fields: &Fields<'_>, sink: &mut Sink) -> Arc<Policy> {
    static DEFAULT: LazyLock<Arc<Policy>> = LazyLock::new(Arc::default);
    let named = |entry: &Entry| POLICY.iter().any(|field| field.name == entry.key);
    if fields.map.entries.iter().any(named) {
        let policy = read_all(fields, sink);
        let strict = fields.strict();
        strict.check_limits(POLICY, || policy.entries(), sink);
        Arc::new(policy)
    } else {
        Arc::clone(&DEFAULT)
    }
}

/// A field that limits or prevents a run is read with `strict`: an invalid value is an error in all dialects.
/// With a warning, the skill would run without its limit.
fn read_all(fields: &Fields<'_>, sink: &mut Sink) -> Policy {
    let default = Policy::default();
    let strict = &fields.strict();
    Policy {
        enabled: strict.truth("enabled", sink).unwrap_or(default.enabled),
        agent_id: fields
            .filled_text("agent_id", sink)
            .unwrap_or(default.agent_id),
        max_steps: strict
            .positive("max_steps", sink)
            .unwrap_or(default.max_steps),
        notify_on_completion: fields
            .truth("notify_on_completion", sink)
            .unwrap_or(default.notify_on_completion),
        notify_interval_minutes: fields
            .count("notify_interval_minutes", sink)
            .unwrap_or(default.notify_interval_minutes),
        effects: strict.choice("effects", sink),
        heal: heals(strict, sink),
        max_heals: strict.count("max_heals", sink).unwrap_or(default.max_heals),
        expect: expect(strict, sink),
        budget: budget(strict, sink),
        misfire: strict.choice("misfire", sink).unwrap_or(default.misfire),
        misfire_window: strict
            .duration("misfire_window", sink)
            .unwrap_or(default.misfire_window),
        overlap: strict.choice("overlap", sink),
        preflight: preflight(strict, sink),
        timezone: fields.filled_text("timezone", sink),
        timeout: strict.duration("timeout", sink),
        concurrency: strict.positive("concurrency", sink),
        secrets: fields.texts("secrets", sink),
        tests: tests(fields, sink),
        expose: strict.truth("expose", sink).unwrap_or(default.expose),
        authority: None,
    }
}

/// Parses the preflight check: a name or a mapping. An unknown check is an error, because it would never run
/// and its absence would go unnoticed.
fn preflight(fields: &Fields<'_>, sink: &mut Sink) -> Option<Value> {
    let node = fields.node("preflight")?;
    let value = match node.as_scalar() {
        Some(scalar) => parse_check(&scalar.text),
        None => node.to_value(),
    };
    let part = |key: &str| node.as_mapping().and_then(|map| map.get(key));
    if let Some(condition) = part("condition").filter(|_| part("tool").is_some())
        && expressions::check_condition(condition, fields.file, sink).is_none()
    {
        return Some(value);
    }
    match Check::read(&value) {
        Ok(Check::Compute(_)) => {
            if let Some(code) = part("compute") {
                compute::check(code, fields.file, sink);
            }
        }
        Ok(_) => {}
        Err(why) => {
            sink.report_as(fields.severity, Rule::InvalidValue, node.span, why)
                .help(
                    "write `calendar: 2h`, `email: new`, `tool`, `args` and `condition`, or \
                     `compute`",
                );
        }
    }
    Some(value)
}

/// Parses a check given as one word, or as JSON in a text.
fn parse_check(text: &str) -> Value {
    let read = serde_json::from_str(text).ok();
    read.filter(Value::is_object)
        .unwrap_or_else(|| Value::from(text))
}

/// Parses the heal rules of a skill or a step.
pub(crate) fn heals(fields: &Fields<'_>, sink: &mut Sink) -> Vec<Heal> {
    mappings(fields, "heal", sink)
        .into_iter()
        .filter_map(|map| heal(map, fields, sink))
        .collect()
}

fn heal(map: &Mapping, outer: &Fields<'_>, sink: &mut Sink) -> Option<Heal> {
    let fields = Fields { map, ..*outer };
    fields.check_keys(&[HEAL], outer.severity, sink);
    let when = classes(&fields, sink);
    let Some(tool) = fields.filled_text("tool", sink) else {
        let span = map
            .entries
            .first()
            .map_or(outer.span("heal"), |entry| entry.key_span);
        sink.report_as(
            outer.severity,
            Rule::InvalidValue,
            span,
            "a heal rule has no `tool`",
        )
        .help("add the tool to call, for example `tool: vpn_connect`");
        return None;
    };
    if let Some(args) = fields.node("args") {
        expressions::check_templates(args, fields.file, sink);
    }
    Some(Heal {
        when,
        tool,
        args: fields.value("args").unwrap_or(Value::Null),
    })
}

fn classes(fields: &Fields<'_>, sink: &mut Sink) -> Vec<FailureClass> {
    let words = fields.texts("when", sink);
    if words.is_empty() {
        let span = fields
            .map
            .entries
            .first()
            .map_or(fields.span("tool"), |entry| entry.key_span);
        sink.report_as(
            fields.severity,
            Rule::InvalidValue,
            span,
            "a heal rule has no `when`",
        )
        .help("add the failure classes that trigger it, for example `when: network`");
    }
    let class = |word: &String| -> Option<FailureClass> {
        let class = deft_model::Choice::from_word(word);
        if class.is_none() {
            let words = <FailureClass as deft_model::Choice>::WORDS
                .iter()
                .map(|(word, _)| *word);
            let near = deft_model::nearest(word, words.clone());
            let all: Vec<&str> = words.collect();
            let help = near.map_or_else(
                || format!("it takes {}", all.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            let message = format!("`{word}` is not a class of failure");
            let span = fields.item_span("when", word);
            sink.report_as(fields.severity, Rule::InvalidValue, span, message)
                .help(help);
        }
        class
    };
    words.iter().filter_map(class).collect()
}

/// Parses the conditions under `expect` of a skill or a step.
pub(crate) fn expect(outer: &Fields<'_>, sink: &mut Sink) -> Option<Expect> {
    let map = outer.mapping("expect", sink)?;
    let fields = Fields {
        map: &map,
        ..*outer
    };
    fields.check_keys(&[EXPECT], outer.severity, sink);
    if let Some(node) = fields.node("that") {
        expressions::check_condition(node, fields.file, sink);
    }
    if let Some(node) = fields.node("schema") {
        check_schema(node, outer, sink);
    }
    Some(Expect {
        called: fields.texts("called", sink),
        that: fields.filled_text("that", sink),
        schema: fields.node("schema").map(Node::to_value),
    })
}

/// Reports an invalid schema, which would otherwise only fail when the skill runs.
fn check_schema(node: &Node, outer: &Fields<'_>, sink: &mut Sink) {
    let schema = node.to_value();
    let Err(error) = jsonschema::options().offline().build(&schema) else {
        return;
    };
    let path = error.instance_path().to_string();
    let message = format!(
        "`expect.schema` is not a JSON Schema: {}",
        error.masked_with("this")
    );
    let span = inner(node, &path).span;
    let help = "types are `string`, `number`, `integer`, `boolean`, `array`, `object` and `null`";
    let help = path.ends_with("/type").then(|| help.to_owned());
    sink.report_as(outer.severity, Rule::InvalidValue, span, message)
        .maybe_help(help);
}

/// Returns the innermost node on the path of a JSON pointer.
fn inner<'n>(node: &'n Node, pointer: &str) -> &'n Node {
    let mut found = node;
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        let below = match (found.as_mapping(), found.as_sequence()) {
            (Some(map), _) => map.get(&part),
            (_, Some(items)) => part.parse::<usize>().ok().and_then(|at| items.get(at)),
            (None, None) => None,
        };
        match below {
            Some(below) => found = below,
            None => return found,
        }
    }
    found
}

/// Parses the `budget` of a skill or an agent.
pub(crate) fn budget(outer: &Fields<'_>, sink: &mut Sink) -> Option<Budget> {
    let map = outer.mapping("budget", sink)?;
    let fields = Fields {
        map: &map,
        ..*outer
    };
    fields.check_keys(&[BUDGET], outer.severity, sink);
    Some(Budget {
        tokens: fields.positive("tokens", sink),
        cost_usd: cost(&fields, sink),
        per: fields.choice("per", sink).unwrap_or(BudgetPeriod::Run),
        on_exhausted: fields
            .choice("on_exhausted", sink)
            .unwrap_or(ExhaustedAction::Pause),
    })
}

fn cost(fields: &Fields<'_>, sink: &mut Sink) -> Option<f64> {
    let node = fields.node("cost_usd")?;
    let amount = node
        .as_scalar()
        .and_then(|scalar| scalar.text.trim().parse::<f64>().ok())
        .filter(|amount| amount.is_finite() && *amount >= 0.0);
    if amount.is_none() {
        fields.wrong::<()>("cost_usd", node, "an amount of dollars of at least 0", sink);
    }
    amount
}

fn tests(fields: &Fields<'_>, sink: &mut Sink) -> Vec<Value> {
    let Some(node) = fields.node("tests") else {
        return Vec::new();
    };
    match node.as_sequence() {
        Some(items) => items.iter().map(Node::to_value).collect(),
        None => fields
            .wrong("tests", node, "a list of cases", sink)
            .unwrap_or_default(),
    }
}

/// Returns the mappings of a list and reports other items.
pub(crate) fn mappings<'a>(fields: &Fields<'a>, key: &str, sink: &mut Sink) -> Vec<&'a Mapping> {
    let Some(node) = fields.node(key) else {
        return Vec::new();
    };
    let Some(items) = node.as_sequence() else {
        if let Some(broken) = find_json_error(node, fields.file) {
            return fields.not_json(key, broken, sink).unwrap_or_default();
        }
        let wanted = "a list of mappings";
        return fields.wrong(key, node, wanted, sink).unwrap_or_default();
    };
    let mapping = |item: &'a Node| {
        let mapping = item.as_mapping();
        if mapping.is_none() {
            fields.wrong::<()>(key, item, "a list of mappings", sink);
        }
        mapping
    };
    items.iter().filter_map(mapping).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::{Field, read_sample, sample};

    /// Each row of the table survives a round trip.
    #[test]
    fn all_rows_are_read_and_written() {
        let value = |field: &Field| (field.name, sample(field));
        let given: Vec<(&str, Value)> = POLICY.iter().map(value).collect();
        assert_eq!(read_sample(&given, read).entries(), given);
    }
}
