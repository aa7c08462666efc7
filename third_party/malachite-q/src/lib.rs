//! Stands in for `malachite-q`, which is LGPL-3.0, in the tree of RustPython.
//!
//! A [`Rational`] is a fraction that can be made from two integers or a float, and read as the
//! nearest float. It does no arithmetic; `rustpython-common` 0.6.0 needs none.

use core::cmp::Ordering;

use malachite_base::num::conversion::traits::RoundingInto;
use malachite_base::rounding_modes::RoundingMode;
use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer as _;
use num_traits::{One as _, ToPrimitive as _, Zero as _};

/// Bits of the significand of an `f64`, the hidden one included.
const DIGITS: i64 = 53;
/// The exponent of the last bit of the smallest float.
const LOWEST: i64 = -1074;
/// The exponent of the last bit of the largest float.
const HIGHEST: i64 = 971;

/// A fraction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rational {
    negative: bool,
    numerator: BigUint,
    denominator: BigUint,
}

/// The float is infinite or not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotFinite;

impl Rational {
    /// The quotient of two integers. As in the original, a denominator of zero panics.
    pub fn from_integers_ref(numerator: &BigInt, denominator: &BigInt) -> Rational {
        assert!(!denominator.is_zero(), "division by zero");
        Rational {
            negative: (numerator.sign() == Sign::Minus) != (denominator.sign() == Sign::Minus),
            numerator: numerator.magnitude().clone(),
            denominator: denominator.magnitude().clone(),
        }
    }

    /// The absolute value as numerator and denominator, in lowest terms when made from a float.
    pub fn into_numerator_and_denominator(self) -> (BigUint, BigUint) {
        (self.numerator, self.denominator)
    }
}

impl TryFrom<f64> for Rational {
    type Error = NotFinite;

    fn try_from(value: f64) -> Result<Rational, NotFinite> {
        if !value.is_finite() {
            return Err(NotFinite);
        }
        let bits = value.to_bits();
        let field = (bits >> 52 & 0x7ff) as i64;
        let fraction = bits & ((1 << 52) - 1);
        let (digits, exponent) = match field {
            0 => (fraction, LOWEST),
            _ => (fraction | 1 << 52, field - 1075),
        };
        let spare = i64::from(digits.trailing_zeros()).min((-exponent).max(0));
        let (digits, exponent) = (BigUint::from(digits >> spare), exponent + spare);
        let (numerator, denominator) = match exponent {
            0.. => (digits << exponent as u64, BigUint::one()),
            _ => (digits, BigUint::one() << exponent.unsigned_abs()),
        };
        Ok(Rational {
            negative: value < 0.0,
            numerator,
            denominator,
        })
    }
}

impl RoundingInto<f64> for Rational {
    fn rounding_into(self, mode: RoundingMode) -> (f64, Ordering) {
        let RoundingMode::Nearest = mode;
        let (value, ordering) = nearest(&self.numerator, &self.denominator);
        match self.negative {
            true => (-value, ordering.reverse()),
            false => (value, ordering),
        }
    }
}

/// The float nearest to a positive quotient, ties to even, and how it compares with the quotient.
fn nearest(numerator: &BigUint, denominator: &BigUint) -> (f64, Ordering) {
    if numerator.is_zero() {
        return (0.0, Ordering::Equal);
    }
    // A quotient of 65 to 67 bits decides every rounding once the remainder is known to be zero or not.
    let shift = 66 - (numerator.bits() as i64 - denominator.bits() as i64);
    let (quotient, rest) = match shift {
        0.. => (numerator << shift as u64).div_rem(denominator),
        _ => numerator.div_rem(&(denominator << shift.unsigned_abs())),
    };
    let length = quotient.bits() as i64;
    let last = (length - DIGITS - shift).max(LOWEST);
    let drop = last + shift;
    if drop > length + 1 {
        return (0.0, Ordering::Less);
    }
    let quotient = quotient.to_u128().unwrap_or(u128::MAX);
    let (digits, ordering) = round(quotient, drop as u32, rest.is_zero());
    match assemble(digits, last) {
        Some(value) => (value, ordering),
        None => (f64::INFINITY, Ordering::Greater),
    }
}

/// Drops the last bits, rounding half to even; `exact` says that nothing follows them.
fn round(quotient: u128, drop: u32, exact: bool) -> (u64, Ordering) {
    let kept = (quotient >> drop) as u64;
    let tail = quotient & ((1 << drop) - 1);
    let half = match drop {
        0 => return (kept, if exact { Ordering::Equal } else { Ordering::Less }),
        _ => 1 << (drop - 1),
    };
    match tail.cmp(&half) {
        Ordering::Less if tail == 0 && exact => (kept, Ordering::Equal),
        Ordering::Equal if exact && kept % 2 == 0 => (kept, Ordering::Less),
        Ordering::Less => (kept, Ordering::Less),
        Ordering::Equal | Ordering::Greater => (kept + 1, Ordering::Greater),
    }
}

/// The float of at most 53 bits whose last one has the given exponent, unless it is too large.
fn assemble(digits: u64, last: i64) -> Option<f64> {
    let (digits, last) = match digits >> DIGITS {
        0 => (digits, last),
        _ => (digits >> 1, last + 1),
    };
    if last > HIGHEST {
        return None;
    }
    // A digit in the hidden place carries into the exponent, which is what a normal float needs.
    let field = (last - LOWEST) as u64;
    Some(f64::from_bits((field << 52) + digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divide(a: &str, b: &str) -> f64 {
        let (a, b) = (a.parse().unwrap(), b.parse().unwrap());
        Rational::from_integers_ref(&a, &b)
            .rounding_into(RoundingMode::Nearest)
            .0
    }

    #[test]
    fn quotients_are_those_of_python() {
        assert_eq!(divide("1", "3"), 1.0 / 3.0);
        assert_eq!(divide("-7", "2"), -3.5);
        assert_eq!(divide("0", "-5"), 0.0);
        assert_eq!(divide("9007199254740993", "1"), 9_007_199_254_740_992.0);
        assert_eq!(divide("9007199254740995", "1"), 9_007_199_254_740_996.0);
        assert_eq!(divide(&format!("1{}", "0".repeat(400)), "1"), f64::INFINITY);
        assert_eq!(divide(&format!("1{}", "0".repeat(30)), &format!("3{}", "0".repeat(29))), 10.0 / 3.0);
    }

    #[test]
    fn tiny_quotients_are_subnormal_or_zero() {
        assert_eq!(divide("5", &format!("1{}", "0".repeat(324))), 5e-324);
        assert_eq!(divide("1", &format!("1{}", "0".repeat(310))), 1e-310);
        assert_eq!(divide("1", &format!("1{}", "0".repeat(400))), 0.0);
    }

    #[test]
    fn floats_come_back() {
        for value in [0.1, -2.5, 1e300, 5e-324, 3.0, f64::MAX, 1e16, -0.75] {
            let fraction = Rational::try_from(value).unwrap();
            assert_eq!(fraction.clone().rounding_into(RoundingMode::Nearest), (value, Ordering::Equal));
            let (n, d) = fraction.into_numerator_and_denominator();
            assert!(n.gcd(&d).is_one(), "{value}");
        }
        assert_eq!(Rational::try_from(f64::NAN), Err(NotFinite));
    }

    #[test]
    fn small_quotients_match_the_machine() {
        let mut seed = 1_u64;
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (a, b) = (seed >> 40, (seed >> 8 & 0xff_ffff) + 1);
            let got = divide(&a.to_string(), &b.to_string());
            assert_eq!(got, a as f64 / b as f64, "{a}/{b}");
        }
    }
}
