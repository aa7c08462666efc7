//! Stands in for `malachite-base`, which is LGPL-3.0, in the tree of RustPython.
//!
//! It holds the few names that `rustpython-common` 0.6.0 imports, at the paths it imports them from,
//! and nothing else.

/// How a value is rounded; RustPython asks for the nearest only.
pub mod rounding_modes {
    /// What to do with a value between two that can be represented.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RoundingMode {
        /// Take the closer one, and of two equally close the even one.
        Nearest,
    }
}

/// Numbers.
pub mod num {
    /// Traits of basic types.
    pub mod basic {
        /// Traits of floats.
        pub mod floats {
            /// A float of the machine.
            pub trait PrimitiveFloat: Copy {
                /// Whether it is `-0.0`.
                fn is_negative_zero(self) -> bool;
            }

            impl PrimitiveFloat for f64 {
                fn is_negative_zero(self) -> bool {
                    self == 0.0 && self.is_sign_negative()
                }
            }
        }
    }

    /// Conversions between types.
    pub mod conversion {
        /// Their traits.
        pub mod traits {
            use core::cmp::Ordering;

            use crate::rounding_modes::RoundingMode;

            /// A conversion that may have to round.
            pub trait RoundingInto<T> {
                /// The converted value, and how it compares with the exact one.
                fn rounding_into(self, mode: RoundingMode) -> (T, Ordering);
            }
        }
    }
}
