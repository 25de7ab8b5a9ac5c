// SPDX-License-Identifier: Apache-2.0
//! Programs of whole numbers, compiled for each scheme of exact integers: random ones against the same arithmetic in the clear,
//! to the last digit, with their noise within its prediction; and what is refused.

mod bfv;
mod bgv;
mod draw;
mod run;
mod zero;
