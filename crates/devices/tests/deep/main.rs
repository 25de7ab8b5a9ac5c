//! Programs of any depth: BGV that bootstraps.

mod clear;
#[path = "../common/numbers.rs"]
mod numbers;
mod one;
mod random;
mod setting;
