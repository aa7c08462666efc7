//! What one evaluation may cost: operations, memory, and depth of recursion.
//!
//! Time is not measured, so that the same text over the same values always ends the same way.

use std::cell::Cell;

use crate::fault::{Fault, Outcome};

/// Operations of one evaluation; at about 30 ns each this is a few milliseconds.
const FUEL: u64 = 200_000;

/// Bytes that one evaluation may put together, intermediate results included.
const MEMORY: usize = 16 << 20;

/// The largest text or container that one operation may make.
const LARGEST: usize = 4 << 20;

/// How many bytes of text are read or written for one unit of fuel.
const BYTES_PER_FUEL: usize = 256;

/// How deep expressions may nest while they are evaluated, running iterators included.
const RECURSION: u32 = 400;

/// How many levels of an expression the call of a function counts for.
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
    /// Pays for `operations`.
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

    /// Pays for reading `bytes` of text.
    #[inline]
    pub fn scan(&self, bytes: usize) -> Outcome<()> {
        self.spend(bytes / BYTES_PER_FUEL)
    }

    /// Pays for `bytes` that are about to be made in one piece.
    pub fn make(&self, bytes: usize) -> Outcome<()> {
        if bytes > LARGEST {
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

    /// Pays for a container with `count` items.
    pub fn items(&self, count: usize) -> Outcome<()> {
        self.make(count.saturating_mul(size_of::<super::Value<'_>>()))?;
        self.spend(count / 4)
    }

    /// Enters one level of recursion; [`Budget::leave`] must follow if this succeeds.
    #[inline]
    pub fn enter(&self) -> Outcome<()> {
        self.descend(1)
    }

    /// Leaves a level that [`Budget::enter`] entered.
    #[inline]
    pub fn leave(&self) {
        self.ascend(1);
    }

    /// Enters a call, which takes as much of the stack as several levels of an expression.
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
    Fault::limit("a value becomes too large")
}
