// SPDX-License-Identifier: Apache-2.0
//! The integration tests of this crate, in one binary, so that common code is compiled once.

mod expanded;
mod key_id;
mod plan;
mod pool;
mod report;
mod timeline;
mod trace;
mod whole_file;
