// SPDX-License-Identifier: Apache-2.0
//! Tests of the parts that the front ends share.

mod bar;
mod parts;
