// SPDX-License-Identifier: Apache-2.0
//! What a machine tells of a run.

mod lines;
mod own;
mod rows;
