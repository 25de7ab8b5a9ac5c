// SPDX-License-Identifier: Apache-2.0
//! Measures the speed of the vector machine's performance simulator, in micro instructions a second on one core.
//!
//! *Stepped* is the rate of an existing micro program, the key switch of Table 8 of the BASALISC paper, with one clock
//! model. A second rate shows the cost of choosing the order: the same program made from its tasks, placed, ordered and
//! stepped. *Replayed* is the rate of calls of a program whose state was met before. The rate of its other calls
//! includes lowering, placement, ordering and two clock models.

use std::sync::Arc;
use std::time::Instant;

use ringmill_isa::mid;
use ringmill_machines::vector::lower::{Prepared, alone_prepared};
use ringmill_machines::vector::session::Running;
use ringmill_machines::vector::{Counting, Description, resident, time};
use ringmill_machines::{MachineError, SimOptions};
use ringmill_schemes::bgv::bootstrap::Procedure;
use ringmill_schemes::bgv::{OpKey, ProcCache};

use crate::error::PaperError;
use crate::scope::{Record, record};
use crate::value::{Value, measured};

/// The seconds of measurement after which the rate of the performance simulator counts as known.
const ENOUGH: f64 = 0.3;

/// A rate of the performance simulator: a number of micro instructions, and the seconds that they took.
#[derive(Clone, Copy, Default)]
struct Rate(u64, f64);

impl Rate {
    /// Returns the rate in million instructions a second.
    fn millions(self) -> Value {
        measured(self.0 as f64 / f64::max(self.1, 1e-9) / 1e6)
    }

    /// Repeats `work`, which returns its number of instructions, until its rate is known.
    fn of(mut work: impl FnMut() -> Result<u64, MachineError>) -> Result<Self, MachineError> {
        let mut found = Self::default();
        let begin = Instant::now();
        while found.1 < ENOUGH {
            found.0 += work()?;
            found.1 = begin.elapsed().as_secs_f64();
        }
        Ok(found)
    }
}

/// Returns how many million micro instructions a second the vector machine's performance simulator times, on one core.
/// Three rates are of the key switch of the program's parameters, and two of the calls of `program`.
///
/// # Errors
/// Fails if the simulator cannot run the key switch or the program.
pub fn rates(
    procedure: &Arc<Procedure>,
    d: &Description,
    program: &mid::Verified,
) -> Result<Record, PaperError> {
    let params = procedure.params();
    let key = OpKey::relin(params.max_level(), false);
    let switch = ProcCache::new(Arc::clone(params)).get(&key)?;
    let prepared = Prepared::new(d, &switch)?;
    let resident = resident(d, &switch);
    let make = || alone_prepared(d, &switch, &prepared, &resident, Counting::WHOLE);
    let made = make()?.program;
    let count = made.instrs.len() as u64;
    let stepped = Rate::of(|| time(d, &made, Counting::WHOLE).map(|_| count))?;
    let by_papers = Rate::of(|| time(d, &made, Counting::PAPER).map(|_| count))?;
    let chosen = Rate::of(|| make().map(|made| made.program.instrs.len() as u64))?;
    let [in_program, replayed] = of_program(d, program)?;
    Ok(record([
        ("rate.stepped", stepped.millions()),
        ("rate.by_papers", by_papers.millions()),
        ("rate.made", chosen.millions()),
        ("rate.in_program", in_program.millions()),
        ("rate.replayed", replayed.millions()),
    ]))
}

/// Returns the simulator's rates for a program's calls: those that it scheduled, and those that it replayed.
fn of_program(d: &Description, program: &mid::Verified) -> Result<[Rate; 2], PaperError> {
    let mut running = Running::new(d, &program.head(), SimOptions::default());
    let mut stream = program.stream();
    let mut rates = [Rate::default(); 2];
    while let Some(called) = stream.next_call().map_err(MachineError::from)? {
        let (before, replays) = (running.total.tally[0].instructions, running.replayed);
        let begin = Instant::now();
        running.feed(&called)?;
        let took = begin.elapsed().as_secs_f64();
        let Rate(count, seconds) = &mut rates[usize::from(running.replayed > replays)];
        *count += running.total.tally[0].instructions - before;
        *seconds += took;
    }
    Ok(rates)
}
