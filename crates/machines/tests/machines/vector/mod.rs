// SPDX-License-Identifier: Apache-2.0
//! The vector machine: micro programs compute the mid level's results, in the time that was predicted for them.

#![allow(clippy::unwrap_used)] // tests

mod batch;
mod bootstrap;
mod built;
mod check;
mod clockwork;
mod figures;
mod layout;
mod masks;
mod operations;
mod programs;
mod queue;
mod sides;
mod states;
