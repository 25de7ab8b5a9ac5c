// SPDX-License-Identifier: Apache-2.0
//! The key-switching unit.

mod golden;
mod shape;
mod time;
