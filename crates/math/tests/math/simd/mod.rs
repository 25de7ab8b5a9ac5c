// SPDX-License-Identifier: Apache-2.0
//! Arithmetic on eight residues at a time against the definition.

mod ifma_54;
mod least;
