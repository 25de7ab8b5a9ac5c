// SPDX-License-Identifier: Apache-2.0
//! What the front ends show.

mod bar;
mod parts;
