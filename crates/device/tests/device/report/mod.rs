// SPDX-License-Identifier: Apache-2.0
//! Tests of the parts of a machine's report.

mod lines;
mod own;
mod rows;
