// SPDX-License-Identifier: Apache-2.0
//! Replaces the immediate parameters of a procedure by the values that a call sets, for devices
//! whose calls set none.

use std::fmt::Write;

use super::procedure::{Imm, ImmType, Procedure};
use super::rules::{self, Scope};
use super::verify::exactly;
use crate::error::{Fault, Place, VerifyError};
use crate::numbers::Galois;

impl Procedure {
    /// Returns this procedure with `values` in place of its immediate parameters, so that the result has no such
    /// parameters. The values become part of the result's name. Up to four Galois elements are written out, as `.g5`. A
    /// longer list of Galois elements becomes a hash of 128 bits after `.g`, and a list with a scalar one after `.c`.
    ///
    /// # Errors
    /// Fails if the number of values is wrong, if a scalar is not below its modulus, or if a Galois
    /// element is even or not below 2N.
    pub fn bind(&self, values: &[u64]) -> Result<Self, VerifyError> {
        let outside = |fault| {
            let procedure = self.name.clone();
            VerifyError::new(
                Place {
                    procedure,
                    ..Place::default()
                },
                fault,
            )
        };
        exactly("immediates", self.immediates.len(), values.len()).map_err(outside)?;
        let scope = Scope {
            log_n: self.log_n,
            moduli: &self.moduli,
            seeds: self.seeds.len(),
            immediates: &self.immediates,
        };
        for (&ty, &value) in self.immediates.iter().zip(values) {
            rules::check_given(scope, ty, value).map_err(outside)?;
        }
        let mut bound = self.clone();
        bound.immediates.clear();
        bound.name.push_str(&said(&self.immediates, values));
        for instr in &mut bound.instrs {
            let given = |n: u16| {
                let value = values.get(usize::from(n)).copied();
                value.ok_or_else(|| {
                    outside(Fault::Range {
                        what: "immediate parameter",
                        limit: values.len() as u64,
                        found: u64::from(n),
                    })
                })
            };
            instr.imm = match instr.imm {
                Imm::ScalarOf(n) => Imm::Scalar(given(n)?),
                // `check_given` has found the value odd and below 2N.
                Imm::GaloisOf(n) => Imm::Galois(Galois(given(n)? as u32)),
                same @ (Imm::None
                | Imm::Scalar(_)
                | Imm::Galois(_)
                | Imm::Stream { .. }
                | Imm::Slot(_)
                | Imm::Representative(_)
                | Imm::Base(_)) => same,
            };
        }
        Ok(bound)
    }
}

/// The most Galois elements that a procedure's name writes out.
const WRITTEN: usize = 4;

fn said(types: &[ImmType], values: &[u64]) -> String {
    let mut name = String::new();
    let galois = types.iter().all(|ty| *ty == ImmType::Galois);
    // Writing to a String cannot fail.
    if galois && values.len() <= WRITTEN {
        for value in values {
            let _ = write!(name, ".g{value}");
        }
    } else {
        let letter = if galois { 'g' } else { 'c' };
        let _ = write!(name, ".{letter}{:032x}", fingerprint(values));
    }
    name
}

/// Computes the hash FNV-1a of values over 128 bits. Procedures that were bound to different values get different names
/// by it. Among a million such procedures, the chance that two names are equal is below 2^-80.
fn fingerprint(values: &[u64]) -> u128 {
    let bytes = values.iter().flat_map(|v| v.to_le_bytes());
    bytes.fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}
