//! The registry of all metrics: families with series of counters, gauges and histograms. The Prometheus text
//! and OTLP are two views of it.
//!
//! The number of values per label is limited; further values become `other`. Not here: the list of families
//! (`families.rs`) and their updates (`measure.rs`).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;
use parking_lot::Mutex;

use crate::families::{FAMILIES, Family, FamilyKind, Metric};

/// Maximum number of values of a label.
const MAX_VALUES: usize = 200;

/// Maximum number of series in a family.
const MAX_SERIES: usize = 2_000;

/// Maximum length of a label value, in bytes.
const MAX_LABEL: usize = 100;

/// Label value that replaces values beyond the limits.
const OTHER: &str = "other";

/// All metrics of a process.
#[derive(Debug)]
pub struct Registry {
    /// Start of the counters.
    pub(crate) since: Timestamp,
    state: Mutex<RegistryState>,
}

#[derive(Debug, Default)]
struct RegistryState {
    series: HashMap<Metric, BTreeMap<Vec<String>, SeriesValue>>,
    values: HashMap<&'static str, BTreeSet<String>>,
}

/// The value of one series.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SeriesValue {
    Number(f64),
    Histogram(Box<Distribution>),
}

/// Values observed by a histogram.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Distribution {
    /// One count per bucket, plus one for values above the last bound.
    pub(crate) counts: Vec<u64>,
    pub(crate) sum: f64,
    pub(crate) count: u64,
}

/// A family with its series at one instant.
pub(crate) struct FamilySnapshot {
    pub(crate) family: &'static Family,
    pub(crate) series: Vec<(Vec<String>, SeriesValue)>,
}

impl Registry {
    /// Creates an empty registry whose counters start at `since`.
    pub fn new(since: Timestamp) -> Self {
        Self {
            since,
            state: Mutex::default(),
        }
    }

    /// Adds to a counter.
    pub fn add(&self, metric: Metric, labels: &[&str], more: f64) {
        self.change(metric, labels, |reading| {
            if let SeriesValue::Number(number) = reading {
                *number += more.max(0.0);
            }
        });
    }

    /// Sets a gauge.
    pub fn set(&self, metric: Metric, labels: &[&str], value: f64) {
        self.change(metric, labels, |reading| {
            if let SeriesValue::Number(number) = reading {
                *number = value;
            }
        });
    }

    /// Removes all series of a gauge, before they are set again.
    pub fn clear(&self, metric: Metric) {
        self.state.lock().series.remove(&metric);
    }

    /// Adds an observation to a histogram.
    pub fn observe(&self, metric: Metric, labels: &[&str], value: f64) {
        let FamilyKind::Histogram(bounds) = metric.family().kind else {
            return;
        };
        self.change(metric, labels, |reading| {
            if let SeriesValue::Histogram(seen) = reading {
                let bucket = bounds.iter().take_while(|bound| value > **bound).count();
                if let Some(count) = seen.counts.get_mut(bucket) {
                    *count += 1;
                }
                seen.sum += value;
                seen.count += 1;
            }
        });
    }

    /// Returns every family that has a series.
    pub(crate) fn read(&self) -> Vec<FamilySnapshot> {
        let state = self.state.lock();
        let families = FAMILIES.iter().filter_map(|family| {
            let series = state.series.get(&family.metric)?;
            let series = series
                .iter()
                .map(|(key, value)| (key.clone(), value.clone()));
            Some(FamilySnapshot {
                family,
                series: series.collect(),
            })
        });
        families.collect()
    }

    fn change(&self, metric: Metric, labels: &[&str], change: impl FnOnce(&mut SeriesValue)) {
        let family = metric.family();
        let mut state = self.state.lock();
        let RegistryState { series, values } = &mut *state;
        let named = family.labels.iter().zip(labels);
        let mut key: Vec<String> = named
            .map(|(name, value)| bound_label(values.entry(*name).or_default(), value))
            .collect();
        let series = series.entry(metric).or_default();
        if series.len() >= MAX_SERIES && !series.contains_key(&key) {
            key.fill(OTHER.to_owned());
        }
        change(series.entry(key).or_insert_with(|| family.kind.empty()));
    }
}

impl FamilyKind {
    fn empty(self) -> SeriesValue {
        match self {
            Self::Counter | Self::Gauge => SeriesValue::Number(0.0),
            Self::Histogram(bounds) => SeriesValue::Histogram(Box::new(Distribution {
                counts: vec![0; bounds.len() + 1],
                sum: 0.0,
                count: 0,
            })),
        }
    }
}

/// Returns the value, shortened and replaced by `other` beyond the limits of its label.
fn bound_label(known: &mut BTreeSet<String>, value: &str) -> String {
    let value = &value[..value.floor_char_boundary(MAX_LABEL)];
    if known.contains(value) {
        return value.to_owned();
    }
    if known.len() >= MAX_VALUES {
        return OTHER.to_owned();
    }
    known.insert(value.to_owned());
    value.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_a_limited_number_of_values() {
        let registry = Registry::new(Timestamp::UNIX_EPOCH);
        for nth in 0..MAX_VALUES + 10 {
            let skill = format!("skill-{nth}");
            registry.add(Metric::Missed, &[&skill], 1.0);
        }
        let read = registry.read();
        let [missed] = read.as_slice() else {
            panic!("one family has series");
        };
        assert_eq!(missed.series.len(), MAX_VALUES + 1);
        let (key, value) = &missed.series[0];
        assert_eq!(
            (key.as_slice(), value),
            (&[OTHER.to_owned()][..], &SeriesValue::Number(10.0))
        );
    }

    #[test]
    fn a_value_on_a_bound_belongs_to_its_bucket() {
        let registry = Registry::new(Timestamp::UNIX_EPOCH);
        let FamilyKind::Histogram(bounds) = Metric::RunDuration.family().kind else {
            panic!("a histogram");
        };
        for value in [bounds[0], bounds[0] / 2.0, 1e9] {
            registry.observe(Metric::RunDuration, &["s", "direct"], value);
        }
        let read = registry.read();
        let SeriesValue::Histogram(seen) = &read[0].series[0].1 else {
            panic!("a histogram");
        };
        assert_eq!(
            (seen.counts[0], *seen.counts.last().unwrap(), seen.count),
            (2, 1, 3)
        );
    }
}
