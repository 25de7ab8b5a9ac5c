// SPDX-License-Identifier: Apache-2.0
//! The vector machine: micro programs give what the mid level gives, and take the time that they were made by.

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
