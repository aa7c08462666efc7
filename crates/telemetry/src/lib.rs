//! Traces and metrics of runs.
//!
//! Spans and metrics are derived from the events of the journal, not from running code: a run resumed after a
//! crash gives one coherent trace, and runs of other processes are included. `fold.rs` pairs beginnings with
//! ends; `span.rs` and `measure.rs` turn the result into spans and into changes of the only `registry.rs`;
//! `conventions.rs` has the names that will still change. Only `export.rs` opens sockets.
//!
//! Not here: reading the store, the configuration, the `/metrics` page.

mod activity;
mod conventions;
mod export;
mod families;
mod fold;
#[cfg(test)]
mod fold_tests;
mod measure;
mod otlp;
mod prometheus;
mod protobuf;
mod registry;
mod span;

pub use activity::{Activity, ModelName, ModelTurn, Names, RunFacts, ToolName, TraceOrigin, Work};
pub use export::{
    ExportOptions, ExportState, Exporter, ReceiverClient, Report, StateReader, fetch_page,
};
pub use families::Metric;
pub use fold::RunFold;
pub use measure::measure;
pub use otlp::Resource;
pub use prometheus::{MEDIA_TYPE, prometheus_text};
pub use registry::Registry;
pub use span::{Span, SpanMaker};
