//! Output of the registry in the Prometheus text format.

use std::fmt::Write;

use crate::families::{Family, FamilyKind};
use crate::registry::{Distribution, Registry, SeriesValue};

/// Media type of the text format.
pub const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Formats all metrics that have a Prometheus name.
pub fn prometheus_text(registry: &Registry) -> String {
    let mut out = String::new();
    for reading in registry.read() {
        let family = reading.family;
        let Some(name) = family.prometheus else {
            continue;
        };
        let word = match family.kind {
            FamilyKind::Counter => "counter",
            FamilyKind::Gauge => "gauge",
            FamilyKind::Histogram(_) => "histogram",
        };
        out.push_str(&format!(
            "# HELP {name} {}\n# TYPE {name} {word}\n",
            family.help
        ));
        for (values, reading) in reading.series {
            match reading {
                SeriesValue::Number(number) => {
                    line(&mut out, name, &labels(family, &values, None), number);
                }
                SeriesValue::Histogram(seen) => histogram(&mut out, family, name, &values, &seen),
            }
        }
    }
    out
}

fn histogram(
    out: &mut String,
    family: &Family,
    name: &str,
    values: &[String],
    seen: &Distribution,
) {
    let FamilyKind::Histogram(bounds) = family.kind else {
        return;
    };
    let bucket = format!("{name}_bucket");
    let mut below = 0_u64;
    let ends = bounds.iter().map(ToString::to_string);
    for (count, end) in seen.counts.iter().zip(ends.chain(["+Inf".to_owned()])) {
        below += count;
        let labels = labels(family, values, Some(&end));
        out.push_str(&format!("{bucket}{labels} {below}\n"));
    }
    let labels = labels(family, values, None);
    line(out, &format!("{name}_sum"), &labels, seen.sum);
    out.push_str(&format!("{name}_count{labels} {}\n", seen.count));
}

fn line(out: &mut String, name: &str, labels: &str, value: f64) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{name}{labels} {value}");
}

fn labels(family: &Family, values: &[String], end: Option<&str>) -> String {
    let named = family
        .labels
        .iter()
        .copied()
        .zip(values.iter().map(String::as_str));
    let all: Vec<String> = named
        .chain(end.map(|end| ("le", end)))
        .map(|(name, value)| format!("{name}=\"{}\"", escape_label(value)))
        .collect();
    if all.is_empty() {
        return String::new();
    }
    format!("{{{}}}", all.join(","))
}

fn escape_label(value: &str) -> String {
    let value = value.replace('\\', "\\\\");
    value.replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::families::Metric;

    #[test]
    fn the_text_has_help_types_and_escaped_labels() {
        let registry = Registry::new(Timestamp::UNIX_EPOCH);
        registry.add(Metric::Missed, &["a\"b\\c\nd"], 2.0);
        registry.set(Metric::Approvals, &[], 1.0);
        registry.observe(Metric::ModelOperation, &["chat", "x", "y", ""], 1.0);
        assert_eq!(
            prometheus_text(&registry),
            "# HELP deft_schedule_missed_total Slots missed because deft was not running.\n\
             # TYPE deft_schedule_missed_total counter\n\
             deft_schedule_missed_total{skill=\"a\\\"b\\\\c\\nd\"} 2\n\
             # HELP deft_approvals_pending Pending approvals.\n\
             # TYPE deft_approvals_pending gauge\n\
             deft_approvals_pending 1\n"
        );
    }
}
