//! Updates of metrics from activities.

use deft_model::{Choice, TokenUsage};

use crate::activity::{Activity, ModelTurn, Names, RunFacts, Work};
use crate::conventions::{operation, provider};
use crate::families::Metric;
use crate::registry::Registry;

/// Updates the metrics for an activity of a run.
pub fn measure(registry: &Registry, facts: &RunFacts, activity: &Activity, names: &dyn Names) {
    let seconds = activity.seconds();
    let error = activity.error_type().unwrap_or_default();
    match &activity.work {
        Work::Run {
            outcome,
            has_agents,
            ..
        } => {
            let (skill, tier) = (facts.skill.as_str(), facts.tier.word());
            let labels = [skill, tier, trigger(&facts.cause), outcome.word()];
            registry.add(Metric::Runs, &labels, 1.0);
            registry.observe(Metric::RunDuration, &[skill, tier], seconds);
            if *has_agents && facts.tier == deft_model::Tier::Workflow {
                let labels = [operation::INVOKE_WORKFLOW, skill, error];
                registry.observe(Metric::WorkflowOperation, &labels, seconds);
            }
            // The start of a resumed run says nothing about its slot.
            if let (Some(slot), 1) = (facts.slot, activity.attempt) {
                let lag = activity.start.duration_since(slot).as_secs_f64();
                registry.observe(Metric::Lag, &[skill], lag.max(0.0));
            }
        }
        Work::Agent { name, .. } => {
            let labels = [operation::INVOKE_AGENT, name, error];
            registry.observe(Metric::AgentOperation, &labels, seconds);
        }
        Work::Model(turn) => measure_model(registry, turn, (seconds, error), names),
        Work::Tool {
            tool,
            cached: false,
            ..
        } => {
            let found = names.tool(tool);
            let (server, tool) = (found.server.as_str(), found.tool.as_str());
            let outcome = if error.is_empty() { "success" } else { error };
            registry.add(Metric::ToolCalls, &[server, tool, outcome], 1.0);
            registry.observe(Metric::ToolDuration, &[server, tool], seconds);
            if found.is_mcp {
                let labels = [operation::TOOLS_CALL, tool, error];
                registry.observe(Metric::McpOperation, &labels, seconds);
            } else {
                let labels = [operation::EXECUTE_TOOL, tool, error];
                registry.observe(Metric::ToolOperation, &labels, seconds);
            }
        }
        // A reused result involves no call.
        Work::Tool { cached: true, .. } | Work::Skill { .. } | Work::Compute => {}
    }
}

fn measure_model(
    registry: &Registry,
    turn: &ModelTurn,
    (seconds, error): (f64, &str),
    names: &dyn Names,
) {
    let found = names.model(&turn.model);
    let (word, model) = (found.provider.as_str(), found.model.as_str());
    let operated = [operation::CHAT, provider(word), model, error];
    registry.observe(Metric::ModelOperation, &operated, seconds);
    if let Some(TokenUsage { input, output, .. }) = turn.usage {
        for (kind, count) in [("input", input), ("output", output)] {
            let count = f64::from(u32::try_from(count).unwrap_or(u32::MAX));
            registry.add(Metric::Tokens, &[word, model, kind], count);
            let labels = [operation::CHAT, provider(word), model, kind];
            registry.observe(Metric::ModelTokens, &labels, count);
        }
    }
    if let Some(cost) = turn.cost {
        registry.add(Metric::Cost, &[word, model], cost.dollars());
    }
}

/// Returns the kind of a run's cause, without names: `api`, `schedule`, …
fn trigger(cause: &str) -> &str {
    cause.split([' ', ':']).next().unwrap_or(cause)
}
