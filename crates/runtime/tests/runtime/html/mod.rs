// SPDX-License-Identifier: Apache-2.0
//! Tests of reports as HTML.

mod compared;
mod page;
mod run;
