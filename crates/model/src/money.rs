//! Amounts of money, counted in whole millionths of a US dollar so that sums are exact.
//!
//! This is the only place that converts from and to decimal dollars. Not here: prices, limits, formatting for
//! people.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An amount of money. Serialised as a number of dollars with at most six decimal places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Usd {
    micros: u64,
}

const MICROS: f64 = 1e6;

impl Usd {
    /// Creates an amount of `micros` millionths of a dollar.
    pub const fn from_micros(micros: u64) -> Self {
        Self { micros }
    }

    /// Rounds `dollars` to the nearest amount; a negative number becomes zero.
    pub fn from_dollars(dollars: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast saturates, and an amount of money is not that large"
        )]
        let micros = (dollars.max(0.0) * MICROS).round() as u64;
        Self { micros }
    }

    /// Returns the amount in millionths of a dollar.
    pub const fn micros(self) -> u64 {
        self.micros
    }

    /// Returns the amount in dollars, as the closest decimal number without rounding noise.
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

/// The model usage of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// The cost.
    pub cost_usd: Usd,
    /// Requests to models; every retry counts.
    pub llm_calls: u64,
    /// Requests that a crash interrupted, so that their usage is estimated.
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
    fn sums_have_no_rounding_noise() {
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
