// SPDX-License-Identifier: Apache-2.0
//! The ablation of section 4.3.1 of the Medha paper: the cycles of Set-1's multiplication with relinearisation on ring
//! machines with and without dyadic cores.

use ringmill_machines::MachineError;
use ringmill_machines::ring::{Description, RingMachine};
use ringmill_schemes::ckks::{OpKey, Params, ProcCache};

use super::machine::description;
use crate::error::PaperError;
use crate::scope::{Record, Scope, record};
use crate::single::{self, simulate};
use crate::value::{Value, model};

/// Returns the cycles of the ablation case that the current row of `data/ring.toml` names, with and without dyadic
/// cores. Returns no record if the machine lacks the case. Without dyadic cores, the few residues that the key
/// generator makes in each cycle go to the main cores, unless both halves of the key are stored. A step that cannot add
/// its product to a sum in one pass takes a second pass.
///
/// # Errors
/// Fails if the row lacks a name, or if the machine cannot be built or refuses the operation.
pub fn saved(at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
    let (seeded, generators) = (at.size("seeded")? > 0.0, at.size("generators")? > 0.0);
    let mut with = description(&at.text("machine")?)?;
    if !generators && with.cores.generator == 0 {
        return Ok(Vec::new());
    }
    let params = Params::named("set1")?;
    let key = OpKey::mul_relin(params.max_level(), seeded);
    let program = single::program(ProcCache::new(params).get(&key)?)?;
    if !seeded {
        // Both halves of the key need twice the key memory.
        with.keys.slots *= 2;
    }
    if !generators {
        with.main.lanes = with.cores.butterfly;
    }
    let mut without = with.clone();
    without.cores.dyadic = 0;
    let cycles = |d| -> Result<Value, PaperError> {
        let machine = RingMachine::new(checked(d)?)?;
        Ok(model(simulate(&machine, &program)?.cycles))
    };
    Ok(vec![record([
        ("with", cycles(with)?),
        ("alone", cycles(without)?),
    ])])
}

/// Checks a machine's description. If the machine needs more than its FPGA part has, the description is marked as
/// allowed to.
fn checked(mut d: Description) -> Result<Description, MachineError> {
    match d.check() {
        Err(MachineError::ExceedsPart { .. }) => {
            let reason = "both halves of the key stored, for comparison";
            d.allow_more_than_the_part_has = Some(reason.to_owned());
            d.check()?;
            Ok(d)
        }
        Ok(_) => Ok(d),
        Err(error) => Err(error),
    }
}
