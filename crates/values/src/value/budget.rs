//! The cost limits of one evaluation: operations, memory, and depth of recursion.
//!
//! Time is not measured, so that the same text with the same values always has the same result.

use std::cell::Cell;

use crate::fault::{Fault, Outcome};

/// Maximum number of operations; at about 30 ns each this is a few milliseconds.
const FUEL: u64 = 200_000;

/// Maximum number of bytes allocated by one evaluation, including intermediate results.
const MEMORY: usize = 16 << 20;

/// Maximum size of a text or container that one operation creates, in bytes.
const MAX_VALUE_BYTES: usize = 4 << 20;

/// Bytes of text read or written per unit of fuel.
const BYTES_PER_FUEL: usize = 256;

/// Maximum nesting of expressions during evaluation, including running iterators.
const RECURSION: u32 = 400;

/// The number of levels that a function call counts for.
const CALL: u32 = 5;

/// The rest of what one evaluation may use.
#[derive(Debug)]
pub struct Budget {
    fuel: Cell<u64>,
    memory: Cell<usize>,
    depth: Cell<u32>,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            fuel: Cell::new(FUEL),
            memory: Cell::new(MEMORY),
            depth: Cell::new(0),
        }
    }
}

impl Budget {
    /// Consumes fuel for `operations`.
    #[inline]
    pub fn spend(&self, operations: usize) -> Outcome<()> {
        match self.fuel.get().checked_sub(operations as u64) {
            Some(rest) => {
                self.fuel.set(rest);
                Ok(())
            }
            None => Err(out_of_fuel()),
        }
    }

    /// Consumes fuel for reading `bytes` of text.
    #[inline]
    pub fn scan(&self, bytes: usize) -> Outcome<()> {
        self.spend(bytes / BYTES_PER_FUEL)
    }

    /// Consumes fuel and memory for a value of `bytes` that is about to be created.
    pub fn make(&self, bytes: usize) -> Outcome<()> {
        if bytes > MAX_VALUE_BYTES {
            return Err(too_large());
        }
        self.scan(bytes)?;
        match self.memory.get().checked_sub(bytes) {
            Some(rest) => {
                self.memory.set(rest);
                Ok(())
            }
            None => Err(too_large()),
        }
    }

    /// Consumes fuel and memory for a container with `count` items.
    pub fn items(&self, count: usize) -> Outcome<()> {
        self.make(count.saturating_mul(size_of::<super::Value<'_>>()))?;
        self.spend(count / 4)
    }

    /// Enters one level of recursion. If this succeeds, [`Budget::leave`] must follow.
    #[inline]
    pub fn enter(&self) -> Outcome<()> {
        self.descend(1)
    }

    /// Leaves a level that [`Budget::enter`] entered.
    #[inline]
    pub fn leave(&self) {
        self.ascend(1);
    }

    /// Enters a call, which uses as much stack as several levels of an expression.
    pub fn enter_call(&self) -> Outcome<()> {
        self.descend(CALL)
    }

    /// Leaves a call that [`Budget::enter_call`] entered.
    pub fn leave_call(&self) {
        self.ascend(CALL);
    }

    #[inline]
    fn descend(&self, levels: u32) -> Outcome<()> {
        self.spend(1)?;
        let depth = self.depth.get() + levels;
        if depth > RECURSION {
            return Err(Fault::limit("maximum recursion depth exceeded"));
        }
        self.depth.set(depth);
        Ok(())
    }

    #[inline]
    fn ascend(&self, levels: u32) {
        self.depth.set(self.depth.get() - levels);
    }
}

#[cold]
fn out_of_fuel() -> Fault {
    Fault::limit(format!("takes more than {FUEL} operations"))
}

#[cold]
fn too_large() -> Fault {
    Fault::limit("the result is too large")
}
