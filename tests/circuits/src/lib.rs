//! Tests across the crates live in the test targets beside this file; there is nothing to link.
