//! The `[telemetry]` section, and the standard variables of OpenTelemetry.
//!
//! Not here: the exported data.

use std::collections::BTreeMap;
use std::time::Duration;

use deft_tools::Reference;

use super::read::Reader;
use crate::env;

/// The export of traces and metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a key of the configuration"
)]
pub struct TelemetryConfig {
    /// The OTLP receiver; without one, nothing is exported.
    pub endpoint: Option<String>,
    /// Headers of each request to the receiver.
    pub headers: BTreeMap<String, Reference>,
    /// Whether traces are exported.
    pub traces: bool,
    /// Whether metrics are exported.
    pub metrics: bool,
    /// Time between two exports of metrics.
    pub interval: Duration,
    /// Whether arguments, results and texts are included.
    pub content: bool,
    /// Whether `/metrics` needs no token on a loopback address.
    pub open_metrics: bool,
    /// The service name in exported telemetry.
    pub service: String,
    /// Further attributes of exported telemetry.
    pub attributes: Vec<(String, String)>,
}

/// Default time between two exports of metrics.
const INTERVAL: Duration = Duration::from_mins(1);

impl Reader<'_> {
    pub(super) fn telemetry(&self) -> TelemetryConfig {
        let truth = |key: &str, usual| self.truth(key).unwrap_or(usual);
        let disabled = variable(env::OTEL_SDK_DISABLED)
            .is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let endpoint = self
            .text("telemetry.endpoint")
            .or_else(|| variable(env::OTEL_EXPORTER_OTLP_ENDPOINT));
        let mut headers: BTreeMap<String, Reference> = pairs(env::OTEL_EXPORTER_OTLP_HEADERS)
            .into_iter()
            .map(|(name, value)| (name, Reference::new(value)))
            .collect();
        headers.extend(self.references("telemetry.headers"));
        TelemetryConfig {
            endpoint: endpoint.filter(|_| !disabled),
            headers,
            traces: truth("telemetry.traces", true),
            metrics: truth("telemetry.metrics", true),
            interval: self
                .duration("telemetry.metrics_interval")
                .unwrap_or(INTERVAL)
                .max(Duration::from_secs(1)),
            content: truth("telemetry.content", false),
            open_metrics: truth("telemetry.open_metrics", false),
            service: variable(env::OTEL_SERVICE_NAME).unwrap_or_else(|| "deft".to_owned()),
            attributes: pairs(env::OTEL_RESOURCE_ATTRIBUTES),
        }
    }
}

fn variable(name: &str) -> Option<String> {
    env::text(name).ok()
}

/// Parses a variable of the form `name=value,name=value`, with percent-encoded values.
fn pairs(variable_name: &str) -> Vec<(String, String)> {
    let text = variable(variable_name).unwrap_or_default();
    text.split(',').filter_map(pair).collect()
}

fn pair(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    let name = name.trim();
    (!name.is_empty()).then(|| (name.to_owned(), decode_percent(value.trim())))
}

fn decode_percent(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let code = match (first, behind) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        match code {
            Some((high, low)) => {
                bytes.push(high << 4 | low);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_decoded() {
        let some = |name: &str, value: &str| Some((name.to_owned(), value.to_owned()));
        assert_eq!(pair(" api-key = a%20b%3D"), some("api-key", "a b="));
        assert_eq!(pair("a=50%"), some("a", "50%"));
        assert_eq!(pair("nothing"), None);
        assert_eq!(pair("=x"), None);
    }
}
