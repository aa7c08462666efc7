//! Stands in for `malachite-bigint`, which is LGPL-3.0, in the tree of RustPython.
//!
//! The original is an API twin of `num-bigint`, so `num-bigint` under its name is all there is.
//! Arithmetic on numbers of many thousand digits is slower than with the original.

pub use num_bigint::*;
