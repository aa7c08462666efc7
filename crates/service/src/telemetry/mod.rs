//! Traces and metrics of a home: events of the store become spans for an OTLP receiver and metrics for
//! Prometheus.
//!
//! A process exports the traces of the runs whose end it stores; only a daemon counts metrics, for all
//! processes of its home. Not here: names, formats and the exporter (`deft-telemetry`), and the `/metrics`
//! page.

mod gauges;
mod metrics;
mod note;
mod traces;

use deft_config::{Config, Secrets, TelemetryConfig};
use deft_engine::Engine;
use deft_store::RunRow;
use deft_telemetry::{ExportOptions, ModelName, Names, Resource, RunFacts, ToolName};
use deft_tools::{BUILTIN_SERVER, ToolLookup};
use deft_wire::{Done, Failure};

pub use deft_telemetry::MEDIA_TYPE;
pub use metrics::Metrics;
pub(crate) use note::find as find_note;
pub(crate) use traces::TraceExport;

/// Whether traces are exported.
pub(crate) fn exports_traces(config: &TelemetryConfig) -> bool {
    config.endpoint.is_some() && config.traces
}

/// Returns the options of the configured receiver; `None` if nothing is exported.
pub(crate) fn receiver(config: &Config) -> Done<Option<ExportOptions>> {
    let telemetry = &config.telemetry;
    let Some(endpoint) = &telemetry.endpoint else {
        return Ok(None);
    };
    let secrets = Secrets::new(config);
    let headers = telemetry.headers.iter().map(|(name, reference)| {
        let what = format!("`telemetry.headers.{name}`");
        let value = reference.read(&secrets, &what).map_err(|failure| {
            Failure::input("config", failure.message).maybe_hint(failure.hint)
        })?;
        Ok((name.clone(), value.expose().to_owned()))
    });
    Ok(Some(ExportOptions {
        endpoint: endpoint.clone(),
        headers: headers.collect::<Done<_>>()?,
        resource: Resource::new(&telemetry.service, telemetry.attributes.clone()),
    }))
}

/// Resolves the tools and models of an engine.
struct EngineNames<'a>(&'a Engine);

impl Names for EngineNames<'_> {
    fn tool(&self, name: &str) -> ToolName {
        match self.0.router().find(name) {
            ToolLookup::Tool(info) => ToolName {
                is_mcp: !info.builtin,
                server: info.server,
                tool: info.name,
            },
            ToolLookup::Ambiguous(_) | ToolLookup::Missing { .. } | ToolLookup::Unknown { .. } => {
                let (server, tool) = name.split_once('.').unwrap_or(("unknown", name));
                ToolName {
                    is_mcp: server != BUILTIN_SERVER,
                    server: server.to_owned(),
                    tool: tool.to_owned(),
                }
            }
        }
    }

    fn model(&self, name: &str) -> ModelName {
        let models = self.0.agents().models();
        match models.options(name) {
            Some(options) => ModelName {
                provider: options.provider.word().to_owned(),
                model: options.model.clone(),
            },
            None => ModelName {
                provider: "unknown".to_owned(),
                model: name.to_owned(),
            },
        }
    }
}

fn facts(row: &RunRow) -> RunFacts {
    RunFacts {
        id: row.id.clone(),
        skill: row.skill.clone(),
        revision: row.revision.clone(),
        tier: row.tier,
        cause: row.cause.to_string(),
        slot: row.slot,
    }
}
