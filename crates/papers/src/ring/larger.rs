// SPDX-License-Identifier: Apache-2.0
//! Section 6 of the Medha paper: rings of N = 2^16, whose limbs the ring machine splits twice.

use std::collections::BTreeMap;

use ringmill_machines::fpga::Resource;
use ringmill_machines::ring::{Description, RingMachine};
use ringmill_schemes::ckks::Params;

use super::{machine, operations};
use crate::error::PaperError;
use crate::scope::{Record, Scope, fields, record};
use crate::single::simulate;
use crate::value::stated;

fn description() -> Result<Description, PaperError> {
    Ok(Description::parse(Description::LARGE)?)
}

/// Returns the report of the operation that the current row of `data/ring.toml` names, at N = 2^16 on a machine whose
/// memory holds all its values.
///
/// # Errors
/// Fails if the row names no operation, or if the machine refuses it.
pub fn operation(at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
    let d = description()?;
    let mut bits = [54; 9];
    bits[0] = 60;
    let params = Params::builder(16).prime_bits(&bits, &[54]).build()?;
    let machine = RingMachine::new(d.clone())?;
    let report = simulate(&machine, &operations::program(at, &params)?)?;
    let mut found = fields(&BTreeMap::from([("run", &report)]))?;
    found.insert("machine".to_owned(), d.name.into());
    Ok(vec![found])
}

/// Returns the number of limbs of N = 2^16 that an RPAU (residue polynomial arithmetic unit) holds, and the memory for
/// polynomials and keys that an RPAU of each prime size needs.
///
/// # Errors
/// Fails if the shipped description is refused.
pub fn memory() -> Result<Vec<Record>, PaperError> {
    let d = description()?;
    let of = |bits, resource| {
        let needed = machine::needed(&d, bits, resource, |name| !name.contains("twiddle"));
        Ok::<_, PaperError>(stated(needed?))
    };
    Ok(vec![record([
        ("limbs.ciphertexts", stated(d.slots())),
        ("limbs.keys", stated(d.keys.slots)),
        ("needed_54.bram", of(54, Resource::BlockRam)?),
        ("needed_54.uram", of(54, Resource::UltraRam)?),
        ("needed_60.bram", of(60, Resource::BlockRam)?),
        ("needed_60.uram", of(60, Resource::UltraRam)?),
    ])])
}
