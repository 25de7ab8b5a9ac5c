// SPDX-License-Identifier: Apache-2.0
//! The ablation of section 4.3.1 of the Medha paper: the cycles of Set-1's multiplication with relinearisation on ring
//! machines with and without dyadic cores.

use ringmill_machines::MachineError;
use ringmill_machines::ring::{Description, RingMachine};
use ringmill_schemes::ckks::{OpKey, Params, ProcCache};

use super::machine::description;
use crate::error::PaperError;
use crate::scope::{Record, record};
use crate::single::{self, simulate};
use crate::value::{Value, model};

/// The timed cases of the ablation: a name, whether one half of the key is made on chip, and whether the multipliers of
/// twiddle generators also compute coefficient-wise operations.
const CASES: [(&str, bool, bool); 3] = [
    ("key half made on chip", true, true),
    ("key stored", false, true),
    ("key stored, work by butterflies alone", false, false),
];

/// Returns the cycles of each ablation case that a ring machine has. Without dyadic cores, the few residues that the
/// key generator makes in each cycle go to the main cores, unless both halves of the key are stored. A step that cannot
/// add its product to a sum in one pass takes a second pass.
pub fn saved(machine: &str) -> Result<Vec<Record>, PaperError> {
    let params = Params::named("set1")?;
    let level = params.max_level();
    let procs = ProcCache::new(params);
    let whole = description(machine)?;
    let cases = CASES
        .into_iter()
        .filter(|&(.., generators)| generators || whole.cores.generator > 0);
    let found = cases.map(|(cores, seeded, generators)| {
        let program = single::program(procs.get(&OpKey::mul_relin(level, seeded))?)?;
        let mut with = whole.clone();
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
        Ok(record([
            ("cores", cores.into()),
            ("with", cycles(with)?),
            ("alone", cycles(without)?),
        ]))
    });
    found.collect()
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
