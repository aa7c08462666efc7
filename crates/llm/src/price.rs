//! What models cost.
//!
//! Prices are numbers as people write them; what they come to is counted in whole millionths of a
//! dollar, exactly. Not here: limits, and who pays.

use deft_model::{TokenUsage, Usd};

/// What a million tokens cost, in US dollars.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Price {
    /// Tokens that are read.
    pub input: f64,
    /// Tokens that come from the provider's cache; as much as others when absent.
    pub cached: Option<f64>,
    /// Tokens that are read and put into the provider's cache; as much as others when absent.
    pub cache_write: Option<f64>,
    /// Tokens that are written.
    pub output: f64,
}

impl Price {
    /// What tokens cost, rounded up.
    pub fn cost(self, usage: TokenUsage) -> Usd {
        let kept = usage.cached.saturating_add(usage.cache_write);
        sum([
            (usage.input.saturating_sub(kept), self.input),
            (usage.cached, self.cached.unwrap_or(self.input)),
            (usage.cache_write, self.cache_write.unwrap_or(self.input)),
            (usage.output, self.output),
        ])
    }

    /// The most that so many tokens may cost, whatever the provider's cache does.
    pub fn at_most(self, input: u64, output: u64) -> Usd {
        let others = [self.cached, self.cache_write].into_iter().flatten();
        let dearest = others.fold(self.input, f64::max);
        sum([(input, dearest), (output, self.output)])
    }
}

/// Prices are counted in millionths too, so that nothing is lost before the end.
fn sum<const PARTS: usize>(parts: [(u64, f64); PARTS]) -> Usd {
    let millionths = parts.into_iter().fold(0_u128, |sum, (tokens, price)| {
        let price = Usd::from_dollars(price).micros();
        sum.saturating_add(u128::from(tokens) * u128::from(price))
    });
    Usd::from_micros(u64::try_from(millionths.div_ceil(1_000_000)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_cost_what_they_are_used_for() {
        let usage = |input, cached, cache_write, output| TokenUsage {
            input,
            cached,
            cache_write,
            output,
            estimated: false,
        };
        let plain = Price {
            input: 3.0,
            output: 15.0,
            ..Price::default()
        };
        let tiny = Price {
            input: 0.1,
            ..plain
        };
        let full = Price {
            cached: Some(0.3),
            cache_write: Some(3.75),
            ..plain
        };
        let cases = [
            (plain, usage(0, 0, 0, 0), 0),
            // A part of a millionth is a whole one.
            (tiny, usage(1, 0, 0, 0), 1),
            // And ten times a tenth is one, not a bit more.
            (tiny, usage(10, 0, 0, 0), 1),
            (plain, usage(1000, 0, 0, 100), 3000 + 1500),
            (plain, usage(1000, 400, 300, 0), 3000),
            (full, usage(1000, 400, 0, 0), 1800 + 120),
            (full, usage(1000, 100, 400, 10), 1500 + 30 + 1500 + 150),
            (full, usage(400, 400, 0, 0), 120),
        ];
        for (price, usage, micros) in cases {
            assert_eq!(price.cost(usage), Usd::from_micros(micros), "{usage:?}");
            let most = price.at_most(usage.input, usage.output);
            assert!(most.micros() >= micros, "{most:?} for {price:?} {usage:?}");
        }
        let most = [plain, full].map(|price| price.at_most(1000, 100).micros());
        assert_eq!(most, [3000 + 1500, 3750 + 1500]);
    }
}
