// SPDX-License-Identifier: Apache-2.0
//! Parts of the ring machine; its programs are in `ring_programs` and the files beside it.

mod built;
mod passes;
