//! The cost of model requests.
//!
//! Prices are decimal numbers; costs are computed exactly, in whole millionths of a dollar. Not here: limits,
//! and who pays.

use deft_model::{TokenUsage, Usd};

/// The price of a million tokens, in US dollars.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Price {
    /// Input tokens.
    pub input: f64,
    /// Input tokens read from the provider's cache; `None` for the price of other input tokens.
    pub cached: Option<f64>,
    /// Input tokens written to the provider's cache; `None` for the price of other input tokens.
    pub cache_write: Option<f64>,
    /// Output tokens.
    pub output: f64,
}

impl Price {
    /// Returns the cost of tokens, rounded up.
    pub fn cost(self, usage: TokenUsage) -> Usd {
        let kept = usage.cached.saturating_add(usage.cache_write);
        sum([
            (usage.input.saturating_sub(kept), self.input),
            (usage.cached, self.cached.unwrap_or(self.input)),
            (usage.cache_write, self.cache_write.unwrap_or(self.input)),
            (usage.output, self.output),
        ])
    }

    /// Returns the maximum cost of tokens, whatever the provider's cache does.
    pub fn at_most(self, input: u64, output: u64) -> Usd {
        let others = [self.cached, self.cache_write].into_iter().flatten();
        let dearest = others.fold(self.input, f64::max);
        sum([(input, dearest), (output, self.output)])
    }
}

/// Adds up costs. Prices are converted to millionths first, so that only the sum is rounded.
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
    fn the_price_of_tokens_depends_on_their_use() {
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
            // A fraction of a millionth is rounded up.
            (tiny, usage(1, 0, 0, 0), 1),
            // Ten times a tenth is exactly one.
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
