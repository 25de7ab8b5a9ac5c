// SPDX-License-Identifier: Apache-2.0
//! The integration tests of this crate, in one binary, so that shared code is compiled once.

mod available;
mod halt;
mod limits;
mod watch;
