// SPDX-License-Identifier: Apache-2.0
//! Tests of the files that an interrupted run keeps.

mod asked;
