// SPDX-License-Identifier: Apache-2.0
//! Tests of parts of the ring machine. Its programs are tested in `ring_programs` and the other files `ring_*` beside
//! this folder.

mod built;
mod passes;
