//! Traces, metrics and health of the real binary, checked with the OTLP definitions and the Prometheus
//! parser.

mod headers;
mod logs;
mod metrics;
pub(crate) mod referee;
mod samples;
mod traces;
mod values;
