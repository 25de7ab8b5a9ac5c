// SPDX-License-Identifier: Apache-2.0
//! Tests of the module `file` in addition to the round trips of `files`.

mod accepted;
mod kept;
mod message;
