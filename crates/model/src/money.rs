//! Money as it is counted: whole millionths of a US dollar, so that sums are exact.
//!
//! Dollars as decimal numbers come in from files and go out in documents, here and nowhere else.
//! Not here: prices, limits, words for people.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An amount of money. In documents it is a number of dollars with at most six digits behind the
/// point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Usd {
    micros: u64,
}

const MICROS: f64 = 1e6;

impl Usd {
    /// So many millionths of a dollar.
    pub const fn from_micros(micros: u64) -> Self {
        Self { micros }
    }

    /// The nearest amount to a number of dollars; less than nothing is nothing.
    pub fn from_dollars(dollars: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast saturates, and an amount of money is not that large"
        )]
        let micros = (dollars.max(0.0) * MICROS).round() as u64;
        Self { micros }
    }

    /// In millionths of a dollar.
    pub const fn micros(self) -> u64 {
        self.micros
    }

    /// In dollars: the decimal number that is meant, without noise behind it.
    #[expect(clippy::cast_precision_loss, reason = "amounts are far below 2^52")]
    pub fn dollars(self) -> f64 {
        self.micros as f64 / MICROS
    }
}

impl Add for Usd {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::from_micros(self.micros.saturating_add(other.micros))
    }
}

impl AddAssign for Usd {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Usd {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), Add::add)
    }
}

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.dollars())
    }
}

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Self::from_dollars)
    }
}

/// What models took for a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens that were read.
    pub input_tokens: u64,
    /// Tokens that were written.
    pub output_tokens: u64,
    /// Money.
    pub cost_usd: Usd,
    /// Requests to models, each try of a question on its own.
    pub llm_calls: u64,
    /// How many of the requests were interrupted by a crash, so that what they took is estimated.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated_calls: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_no_noise() {
        let cases: [(&[f64], &str); 5] = [
            (&[0.1, 0.2], "0.3"),
            (&[0.1; 10], "1.0"),
            (&[12.4, 0.2], "12.6"),
            (&[0.000_001, 0.000_002], "3e-6"),
            (&[-1.0, f64::NAN], "0.0"),
        ];
        for (parts, expected) in cases {
            let sum: Usd = parts.iter().copied().map(Usd::from_dollars).sum();
            let shown = serde_json::to_string(&sum).unwrap();
            assert_eq!(shown, expected, "{parts:?}");
            assert_eq!(serde_json::from_str::<Usd>(&shown).unwrap(), sum);
        }
    }
}
