//! Statistics of measured times.

use std::time::Duration;

use serde_json::{Value, json};

/// Returns percentiles of the times, and the rate of requests within `span`.
pub(crate) fn summary(mut times: Vec<Duration>, span: Duration) -> Value {
    times.sort();
    json!({
        "count": times.len(),
        "p50_ms": percentile(&times, 50),
        "p99_ms": percentile(&times, 99),
        "per_s": rate(times.len(), span),
    })
}

/// Returns a percentile of sorted times, in milliseconds.
pub(crate) fn percentile(times: &[Duration], part: usize) -> f64 {
    let at = times.len().saturating_sub(1) * part / 100;
    times
        .get(at)
        .map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

#[expect(clippy::cast_precision_loss, reason = "a rate")]
pub(crate) fn rate(count: usize, span: Duration) -> f64 {
    count as f64 / span.as_secs_f64()
}
