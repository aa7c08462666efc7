//! Rules of the house as tests.
