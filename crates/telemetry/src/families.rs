//! All metrics: their names in OTLP and Prometheus, their labels and help texts.

use crate::conventions::{attribute, metric as names};

/// A metric family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Runs that ended.
    Runs,
    /// Duration of runs.
    RunDuration,
    /// Delay between a slot and the start of its run.
    Lag,
    /// Slots without a run because deft was not running.
    Missed,
    /// When a skill fires next.
    NextFire,
    /// State of a scheduled skill.
    ScheduleState,
    /// Failures in a row.
    Failures,
    /// Calls of tools.
    ToolCalls,
    /// Duration of tool calls.
    ToolDuration,
    /// Tokens of models.
    Tokens,
    /// Cost of models.
    Cost,
    /// Pending approvals.
    Approvals,
    /// Whether an MCP server is connected.
    ServerUp,
    /// Notices that were sent or given up.
    Deliveries,
    /// Clients of the live feed.
    FeedClients,
    /// Spans accepted by the OTLP receiver.
    SpansExported,
    /// Spans lost before the receiver accepted them.
    SpansDropped,
    /// Version of deft.
    Build,
    /// From the conventions: duration of model requests.
    ModelOperation,
    /// From the conventions: tokens of a model request.
    ModelTokens,
    /// From the conventions: duration of agents.
    AgentOperation,
    /// From the conventions: duration of calls of built-in tools.
    ToolOperation,
    /// From the conventions: duration of workflows.
    WorkflowOperation,
    /// From the conventions: duration of calls over MCP.
    McpOperation,
}

/// Type of a metric family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FamilyKind {
    Counter,
    Gauge,
    /// A histogram, with the upper bounds of its buckets.
    Histogram(&'static [f64]),
}

/// Description of a metric family, for both formats.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) metric: Metric,
    /// Name in OTLP.
    pub(crate) name: &'static str,
    /// Name in Prometheus; `None` for metrics that only the conventions require.
    pub(crate) prometheus: Option<&'static str>,
    pub(crate) kind: FamilyKind,
    pub(crate) unit: &'static str,
    pub(crate) help: &'static str,
    pub(crate) labels: &'static [&'static str],
}

/// Bucket bounds for runs and calls, in seconds: from 5 ms to an hour.
const SECONDS: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0,
];

/// Bucket bounds that the conventions recommend for models, in seconds.
const MODEL_SECONDS: &[f64] = &[
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];

/// Bucket bounds that the conventions recommend for tokens.
const TOKENS: &[f64] = &[
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1024.0,
    4096.0,
    16384.0,
    65536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// Bucket bounds that the conventions recommend for MCP, in seconds.
const MCP_SECONDS: &[f64] = &[
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
];

const fn family(
    metric: Metric,
    names: (&'static str, Option<&'static str>),
    kind: FamilyKind,
    unit: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Family {
    Family {
        metric,
        name: names.0,
        prometheus: names.1,
        kind,
        unit,
        help,
        labels,
    }
}

use FamilyKind::{Counter, Gauge, Histogram};

/// All families, in output order.
#[rustfmt::skip]
pub(crate) const FAMILIES: &[Family] = &[
    family(Metric::Build, ("deft.build.info", Some("deft_build_info")), Gauge, "1",
        &["version"], "The version of deft; always 1."),
    family(Metric::Runs, ("deft.skill.runs", Some("deft_skill_runs_total")), Counter, "{run}",
        &["skill", "tier", "trigger", "status"], "Runs that ended."),
    family(Metric::RunDuration, ("deft.skill.run.duration", Some("deft_skill_run_duration_seconds")), Histogram(SECONDS), "s",
        &["skill", "tier"], "Run duration including waits."),
    family(Metric::Failures, ("deft.skill.consecutive_failures", Some("deft_skill_consecutive_failures")), Gauge, "{failure}",
        &["skill"], "Failures in a row of a stored skill."),
    family(Metric::Lag, ("deft.schedule.lag", Some("deft_schedule_lag_seconds")), Histogram(SECONDS), "s",
        &["skill"], "How late runs began after their slot."),
    family(Metric::Missed, ("deft.schedule.missed", Some("deft_schedule_missed_total")), Counter, "{slot}",
        &["skill"], "Slots missed because deft was not running."),
    family(Metric::NextFire, ("deft.schedule.next_fire", Some("deft_schedule_next_fire_timestamp_seconds")), Gauge, "s",
        &["skill"], "When a scheduled skill fires next, in seconds since 1970."),
    family(Metric::ScheduleState, ("deft.schedule.state", Some("deft_schedule_state")), Gauge, "1",
        &["skill", "state"], "1 for the state of a scheduled skill: new, up, late, down or paused."),
    family(Metric::ToolCalls, ("deft.tool.calls", Some("deft_tool_calls_total")), Counter, "{call}",
        &["server", "tool", "outcome"], "Calls of tools by runs; the outcome is success or the type of the error."),
    family(Metric::ToolDuration, ("deft.tool.call.duration", Some("deft_tool_call_duration_seconds")), Histogram(SECONDS), "s",
        &["server", "tool"], "How long calls of tools took."),
    family(Metric::Tokens, ("deft.llm.tokens", Some("deft_llm_tokens_total")), Counter, "{token}",
        &["provider", "model", "type"], "Tokens that models read and wrote."),
    family(Metric::Cost, ("deft.llm.cost", Some("deft_llm_cost_usd_total")), Counter, "{USD}",
        &["provider", "model"], "Cost of models in US dollars, where prices are known."),
    family(Metric::Approvals, ("deft.approvals.pending", Some("deft_approvals_pending")), Gauge, "{approval}",
        &[], "Pending approvals."),
    family(Metric::ServerUp, ("deft.mcp.server.up", Some("deft_mcp_server_up")), Gauge, "1",
        &["server"], "1 if the MCP server is connected or can be started, 0 if it keeps failing."),
    family(Metric::Deliveries, ("deft.deliveries", Some("deft_deliveries_total")), Counter, "{message}",
        &["status"], "Notices that were delivered, or failed permanently."),
    family(Metric::FeedClients, ("deft.ws.clients", Some("deft_ws_clients")), Gauge, "{client}",
        &[], "Clients of the live feed."),
    family(Metric::SpansExported, ("deft.telemetry.spans.exported", Some("deft_telemetry_spans_exported_total")), Counter, "{span}",
        &[], "Spans that the OTLP receiver accepted."),
    family(Metric::SpansDropped, ("deft.telemetry.spans.dropped", Some("deft_telemetry_spans_dropped_total")), Counter, "{span}",
        &[], "Spans that were lost because the OTLP receiver did not accept them."),
    family(Metric::ModelOperation, (names::MODEL, None), Histogram(MODEL_SECONDS), "s",
        &[attribute::OPERATION, attribute::PROVIDER, attribute::REQUEST_MODEL, attribute::ERROR_TYPE], "GenAI operation duration."),
    family(Metric::ModelTokens, (names::MODEL_TOKENS, None), Histogram(TOKENS), "{token}",
        &[attribute::OPERATION, attribute::PROVIDER, attribute::REQUEST_MODEL, attribute::TOKEN_TYPE], "Number of input and output tokens used."),
    family(Metric::AgentOperation, (names::AGENT, None), Histogram(MODEL_SECONDS), "s",
        &[attribute::OPERATION, attribute::AGENT_NAME, attribute::ERROR_TYPE], "Duration of agent invocations."),
    family(Metric::ToolOperation, (names::TOOL, None), Histogram(MODEL_SECONDS), "s",
        &[attribute::OPERATION, attribute::TOOL_NAME, attribute::ERROR_TYPE], "Duration of tool executions."),
    family(Metric::WorkflowOperation, (names::WORKFLOW, None), Histogram(MODEL_SECONDS), "s",
        &[attribute::OPERATION, attribute::WORKFLOW_NAME, attribute::ERROR_TYPE], "Duration of workflows."),
    family(Metric::McpOperation, (names::MCP, None), Histogram(MCP_SECONDS), "s",
        &[attribute::MCP_METHOD, attribute::TOOL_NAME, attribute::ERROR_TYPE], "Duration of MCP requests, as the client sees it."),
];

impl Metric {
    /// Returns the description of the family.
    pub(crate) fn family(self) -> &'static Family {
        FAMILIES
            .iter()
            .find(|family| family.metric == self)
            .unwrap_or(&FAMILIES[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_follow_the_rules_of_prometheus() {
        let mut seen = std::collections::BTreeSet::new();
        for family in FAMILIES {
            assert!(seen.insert(family.name), "{} is there twice", family.name);
            assert_eq!(family.metric.family().name, family.name);
            let Some(name) = family.prometheus else {
                continue;
            };
            assert!(name.starts_with("deft_"), "{name}");
            let is_counter = family.kind == Counter;
            assert_eq!(name.ends_with("_total"), is_counter, "{name}");
            assert!(
                family.labels.iter().all(|label| !label.contains('.')),
                "{name}"
            );
        }
    }
}
