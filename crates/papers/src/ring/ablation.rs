// SPDX-License-Identifier: Apache-2.0
//! Section 4.3.1 of the ring paper: what the dyadic cores give, and what they take.

use ringmill_machines::MachineError;
use ringmill_machines::ring::{Description, OF_THE_PAPERS_SIZE, RingMachine};
use ringmill_schemes::ckks::{OpKey, Params, ProcCache};

use super::paper::Ring;
use crate::error::PaperError;
use crate::figure::How;
use crate::row::{Ours, Row};
use crate::single::{self, simulate};

const TABLE: &str = "Section 4.3.1: the dyadic cores beside the main cores";
const SAVED: &str = "time saved";

/// What is timed: the name of a case, whether a key half is made on chip, and whether twiddle generators do coefficient-wise work.
const CASES: [(&str, bool, bool); 3] = [
    ("key half made on chip", true, true),
    ("key stored", false, true),
    ("key stored, work by butterflies alone", false, false),
];

/// Set-1's multiplication with relinearisation. Without dyadic cores the generator gives its few residues a cycle to the main
/// cores, unless both halves of the key are stored; and what can't accumulate in one pass takes two.
pub fn rows(paper: &Ring) -> Result<Vec<Row>, PaperError> {
    let params = Params::named("set1")?;
    let level = params.max_level();
    let procs = ProcCache::new(params);
    let model = |value| Ours::Is(value, How::Model);
    let mut rows = Vec::new();
    for (name, text) in OF_THE_PAPERS_SIZE {
        let whole = Description::parse(text)?;
        for (case, seeded, generators) in CASES {
            if !generators && whole.cores.generator == 0 {
                continue;
            }
            let program = single::program(procs.get(&OpKey::mul_relin(level, seeded))?)?;
            let mut with = whole.clone();
            if !seeded {
                with = both_key_halves(with);
            }
            if !generators {
                with.main.lanes = with.cores.butterfly;
            }
            let mut without = with.clone();
            without.cores.dyadic = 0;
            let mut cycles = [0.0; 2];
            for (cycles, d) in cycles.iter_mut().zip([&with, &without]) {
                let machine = RingMachine::new(checked(d.clone())?)?;
                *cycles = simulate(&machine, &program)?.cycles as f64;
            }
            let [with_them, alone] = cycles;
            let case = format!("{name}, {case}");
            let mut push = |metric, unit, printed, ours| {
                rows.push(Row::new(TABLE, case.as_str(), metric, unit, printed, ours));
            };
            push("with dyadic cores", "cycles", None, model(with_them));
            push("main cores alone", "cycles", None, model(alone));
            let printed = Some(paper.two_threads.latency_saved_percent);
            push(
                SAVED,
                "%",
                printed,
                model(100.0 * (alone - with_them) / alone),
            );
        }
        let more = whole.cores.dyadic as f64;
        let multipliers = whole.multipliers_per_rpau() as f64 - more;
        let printed = Some(paper.two_threads.area_added_percent);
        let counted = Ours::Is(100.0 * more / multipliers, How::Counted);
        let row = Row::new(TABLE, name, "logic added", "%", printed, counted);
        rows.push(row.remarked("ours: modular multipliers"));
    }
    Ok(rows)
}

/// Twice the key memory, for both halves.
fn both_key_halves(mut d: Description) -> Description {
    d.keys.slots *= 2;
    d
}

/// The description, allowed to need more than its part has where it does.
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
