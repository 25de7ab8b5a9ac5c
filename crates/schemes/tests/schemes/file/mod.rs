// SPDX-License-Identifier: Apache-2.0
//! Tests of `file` beside the round trips in `files`.

mod accepted;
