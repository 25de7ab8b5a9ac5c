// SPDX-License-Identifier: Apache-2.0
//! Reports as HTML.

mod compared;
mod page;
mod run;
