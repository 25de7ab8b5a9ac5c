// SPDX-License-Identifier: Apache-2.0
//! Tests of the passes that the schemes of integers share.

mod zero;
