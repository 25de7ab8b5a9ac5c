// SPDX-License-Identifier: Apache-2.0
//! Implements [`Machine`], the interface of all simulated machines, for the ring machine.

use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;

use ringmill_isa::mid::{Called, Head, LimbId, Op, Procedure, Verified};
use ringmill_isa::{Limit, Target};

use super::description::Description;
use super::encode::{MAX_LAYER, decode};
use super::micro::MicroCode;
use super::program::{self, Running, Told, Totals};
use super::report::{RingUse, SlotUse};
use super::time;
use crate::fpga::Fit;
use crate::{Machine, MachineError, Session, SimOptions};
use ringmill_device::report::{LinkUse, MachineReport, MemoryUse, Own, UnitUse};

/// A ring machine with its description and the FPGA resources that it needs.
#[derive(Clone, Debug)]
pub struct RingMachine {
    description: Description,
    fit: Fit,
}

impl RingMachine {
    /// Makes the machine from its description, after a check of every field.
    ///
    /// # Errors
    /// The errors of [`Description::check`].
    pub fn new(description: Description) -> Result<Self, MachineError> {
        Ok(Self {
            fit: description.check()?,
            description,
        })
    }

    /// Makes the machine from the TOML text of its description.
    ///
    /// # Errors
    /// The errors of [`Description::parse`].
    pub fn parse(text: &str) -> Result<Self, MachineError> {
        Self::new(Description::parse(text)?)
    }

    pub fn description(&self) -> &Description {
        &self.description
    }

    fn report(&self, mut totals: Totals, procs: &[Arc<Procedure>]) -> MachineReport {
        let d = &self.description;
        let end_to_end = time::end_to_end(d, &totals);
        totals.spills.cycles = (end_to_end.spills_seconds * d.clock_mhz * 1e6).round() as u64;
        totals.spills.share = if end_to_end.seconds > 0.0 {
            end_to_end.spills_seconds / end_to_end.seconds
        } else {
            0.0
        };
        let key_bytes = totals.key_bytes;
        let kinds = totals.tally.by_kind.iter();
        let share = |busy: u64, units: usize| {
            busy as f64 / (totals.cycles.max(1) * units.max(1) as u64) as f64
        };
        let unit = |unit: String, busy: u64, units: usize| UnitUse {
            unit,
            busy_cycles: busy,
            utilisation: share(busy, units),
        };
        let per_rpau = totals.tally.units.iter().take(d.rpaus);
        let mut utilisation = vec![
            unit("main".into(), per_rpau.clone().map(|u| u[0]).sum(), d.rpaus),
            unit(
                "dyadic".into(),
                per_rpau.clone().map(|u| u[1]).sum(),
                d.rpaus,
            ),
            unit("ring".into(), totals.tally.ring, 1),
            unit("link".into(), totals.tally.link, 1),
        ];
        for (r, busy) in per_rpau.enumerate() {
            utilisation.push(unit(format!("rpau{r}.main"), busy[0], 1));
            utilisation.push(unit(format!("rpau{r}.dyadic"), busy[1], 1));
        }
        let fullest = totals.peak.iter().copied().max().unwrap_or(0).into();
        let held_keys = totals.key_limbs.min(d.keys.slots as u64);
        let memory = |name: &str, used: u64, slots: usize| MemoryUse {
            name: name.to_owned(),
            count: d.rpaus,
            used_bytes: used * d.slot_bytes(),
            available_bytes: slots as u64 * d.slot_bytes(),
        };
        MachineReport {
            machine: d.name.clone(),
            end_to_end,
            how: "model",
            clock_mhz: d.clock_mhz,
            cycles: totals.cycles,
            seconds: totals.cycles as f64 / (d.clock_mhz * 1e6),
            calls: totals.calls,
            instructions: totals.tally.words,
            instructions_by_kind: kinds.clone().map(|(k, v)| (k.to_string(), v.0)).collect(),
            cycles_by_kind: kinds.map(|(k, v)| (k.to_string(), v.1)).collect(),
            procedures: totals.procedures,
            lines: totals.ledger.lines(procs, 1, totals.cycles),
            utilisation,
            memories: vec![
                memory("polynomial memory", fullest, d.slots()),
                memory("key memory", held_keys, d.keys.slots),
            ],
            link: LinkUse {
                bytes_in: totals.bytes_in,
                bytes_out: totals.bytes_out,
                key_bytes,
                program_bytes: totals.program_bytes,
                seconds_in: d.link_seconds(totals.bytes_in),
                seconds_out: d.link_seconds(totals.bytes_out),
                key_seconds: d.link_seconds(key_bytes),
                program_seconds: d.link_seconds(totals.program_bytes),
            },
            fit: self.fit.clone(),
            own: Own::new(RingUse {
                rpaus: d.rpaus,
                multipliers_per_rpau: d.multipliers_per_rpau(),
                memory: SlotUse {
                    slots: d.slots(),
                    slot_bytes: d.slot_bytes(),
                    peak_slots: totals.peak,
                    key_slots: d.keys.slots,
                    key_limbs: totals.key_limbs as usize,
                },
                keys: totals.keys,
                spills: totals.spills,
                cuts: totals.cuts,
            }),
        }
    }
}

impl Machine for RingMachine {
    fn kind(&self) -> &'static str {
        super::KIND
    }

    fn name(&self) -> &str {
        &self.description.name
    }

    fn clock_mhz(&self) -> f64 {
        self.description.clock_mhz
    }

    fn fit(&self) -> &Fit {
        &self.fit
    }

    fn target(&self) -> Target {
        let d = &self.description;
        let limit = |field, is| Limit { field, is };
        Target {
            machine: d.name.clone(),
            // Larger rings are split.
            log_n: Limit {
                field: "log_n",
                is: 1..=d.log_n + d.splits,
            },
            modulus_bits: limit("word_bits", d.word_bits),
            friendly_bits: limit("word_bits", 0),
            moduli: Limit {
                field: "rpaus",
                is: d.rpaus * (MAX_LAYER + 1),
            },
            extends_modulo_primes: true,
            primes_alone: Limit {
                field: "kind",
                is: false,
            },
            runs_whole: Limit {
                field: "rpaus",
                is: true,
            },
            expands_seeds: true,
            explicit: false,
            engine: None,
        }
    }

    /// Returns true for all instructions of a procedure or for none, since the ring machine leaves no instruction to a
    /// host. The answers are true if each modulus is a prime and the procedure has no `Split`, `Join`, `Autoh`, `Load`
    /// or `Store`. The machine adds instructions of these kinds itself.
    fn takes(&self, head: &Head<'_>, procedure: &Procedure) -> Result<Vec<bool>, MachineError> {
        self.check_values(head)?;
        let own = |op| !matches!(op, Op::Split | Op::Join | Op::Autoh | Op::Load | Op::Store);
        let prime = procedure.moduli.iter().all(|m| m.prime().is_some());
        let all = prime && procedure.instrs.iter().all(|instr| own(instr.op));
        Ok(vec![all; procedure.instrs.len()])
    }

    fn open<'m>(
        &'m self,
        head: Head<'m>,
        mut options: SimOptions<'m>,
    ) -> Result<Box<dyn Session + 'm>, MachineError> {
        self.check_values(&head)?;
        Ok(Box::new(Timing {
            machine: self,
            procs: head.procs,
            progress: Progress(options.progress.take()),
            running: Running::new(&self.description, head, options),
        }))
    }

    fn micro_text(
        &self,
        program: &Verified,
        options: SimOptions<'_>,
        out: &mut dyn Write,
    ) -> Result<(), MachineError> {
        self.check_values(&program.head())?;
        let mut seen: HashSet<String> = HashSet::new();
        program::run(
            &self.description,
            program,
            options,
            &mut |outcome| {
                let code = &outcome.scheduled.code;
                if seen.insert(code.name.clone()) {
                    write_code(code, outcome.cycles, out)?;
                }
                Ok(())
            },
            &mut |_| Ok(()),
        )?;
        Ok(())
    }
}

/// A run of a program on the ring machine that only counts cycles.
struct Timing<'m> {
    machine: &'m RingMachine,
    procs: &'m [Arc<Procedure>],
    running: Running<'m>,
    progress: Progress<'m>,
}

/// Passes the number of calls that are done to a function, if there is one.
struct Progress<'m>(Option<&'m mut dyn FnMut(u64)>);

impl Told for Progress<'_> {
    fn done(&mut self, calls: u64) {
        if let Some(tell) = &mut self.0 {
            tell(calls);
        }
    }
}

impl Session for Timing<'_> {
    fn feed(&mut self, called: Called) -> Result<(), MachineError> {
        self.running.feed(called, &mut self.progress)
    }

    fn cycles(&self) -> u64 {
        self.running.cycles()
    }

    fn finish(self: Box<Self>, outputs: Vec<LimbId>) -> Result<MachineReport, MachineError> {
        let Self {
            machine,
            procs,
            running,
            mut progress,
        } = *self;
        let totals = running.finish(outputs, &mut progress)?;
        Ok(machine.report(totals, procs))
    }
}

/// Writes the instruction streams and tables of one procedure's micro code as text.
fn write_code(code: &MicroCode, cycles: u64, out: &mut dyn Write) -> Result<(), MachineError> {
    writeln!(
        out,
        "proc {} limbs 2^{} ; {cycles} cycles",
        code.name, code.log_n
    )?;
    for (name, words) in ["c0.main", "c0.dyadic", "c1.main", "c1.dyadic"]
        .iter()
        .zip(&code.streams)
    {
        writeln!(out, "stream {name}")?;
        for (at, &bits) in words.iter().enumerate() {
            match decode(bits) {
                Some(word) => writeln!(out, "  {at:4}  {bits:016x}  {word}")?,
                None => writeln!(out, "  {at:4}  {bits:016x}  ?")?,
            }
        }
    }
    for (rpau, &prime) in code.primes.iter().enumerate() {
        if rpau != usize::from(prime) {
            writeln!(out, "prime of rpau{rpau} {prime}")?;
        }
    }
    for (at, row) in code.constants.iter().enumerate().skip(1) {
        writeln!(out, "constant {at} {row:?}")?;
    }
    for (at, galois) in code.galois.iter().enumerate() {
        writeln!(out, "galois {at} {galois}")?;
    }
    for (at, row) in code.generators.iter().enumerate() {
        write!(out, "stream-table {at}")?;
        for entry in row {
            match entry {
                Some(s) => write!(out, " {}:{}", s.seed, s.stream)?,
                None => write!(out, " -")?,
            }
        }
        writeln!(out)?;
    }
    writeln!(out)?;
    Ok(())
}
