//! Stands in for version 1 of `unicode_names2` in the parser of RustPython, by version 3, which the interpreter has
//! anyway. Each version brings its own tables of half a megabyte.

pub use current::character;
