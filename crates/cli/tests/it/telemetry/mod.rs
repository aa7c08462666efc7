//! Traces, metrics and health of the real binary, judged by the definitions of OTLP and the parser of Prometheus.

mod headers;
mod logs;
mod metrics;
mod referee;
mod traces;
