// SPDX-License-Identifier: Apache-2.0
//! Tests of arithmetic on eight residues at a time against its definition.

mod ifma_54;
mod least;
