// SPDX-License-Identifier: Apache-2.0
//! The vector machine behind the interface [`Machine`] of all simulated machines.

use std::collections::BTreeMap;
use std::io::Write;

use ringmill_isa::mid::{Called, Head, LimbId, Procedure, Verified};
use ringmill_isa::vector::{MicroOp, Unit, print};
use ringmill_isa::{Limit, Target};

use super::clockwork::Counting;
use super::description::{Description, FIXED_BITS, Masks, WORD_BITS};
use super::lower::{Prepared, alone};
use super::report::{AT_END, TimeUse, VectorParts, VectorUse};
use super::session::Running;
use super::sides::{HostUse, Moved};
use crate::fpga::{Fit, Part};
use crate::{Machine, MachineError, Session, SimOptions};
use ringmill_device::report::{
    EndToEnd, LinkUse, MachineReport, MemoryUse, Own, ProcedureUse, TimePart, UnitUse,
};

/// A vector machine with its description and the resources that it needs.
#[derive(Clone, Debug)]
pub struct VectorMachine {
    description: Description,
    fit: Fit,
}

impl VectorMachine {
    /// Makes the machine from its description, and checks that it fits its FPGA or die.
    ///
    /// # Errors
    /// The errors of [`Description::needs`]; an error if the machine does not fit its FPGA or die.
    pub fn new(description: Description) -> Result<Self, MachineError> {
        Part::named(&description.part)?;
        let allowed = description.allow_more_than_the_part_has.as_deref();
        Ok(Self {
            fit: description.needs()?.accepted(allowed)?,
            description,
        })
    }

    /// Makes the machine from the TOML text of its description.
    ///
    /// # Errors
    /// The errors of [`Description::read`] and [`Self::new`].
    pub fn parse(text: &str) -> Result<Self, MachineError> {
        Self::new(Description::read(text)?)
    }

    pub fn description(&self) -> &Description {
        &self.description
    }

    fn check_head(&self, head: &Head<'_>) -> Result<(), MachineError> {
        self.check_values(head)?;
        let degrees = self.description.log_n();
        if degrees.contains(&head.log_n) {
            return Ok(());
        }
        Err(MachineError::Unsupported {
            procedure: "of the program".to_owned(),
            what: format!(
                "ring degree 2^{}: `log_radix` allows 2^{} to 2^{}",
                head.log_n,
                degrees.start(),
                degrees.end()
            ),
        })
    }

    fn report(
        &self,
        running: &Running<'_>,
        head: &Head<'_>,
        resident_keys: bool,
        outputs: usize,
    ) -> MachineReport {
        let d = &self.description;
        let total = &running.total;
        let [whole, paper, _] = total.tally;
        let cycles = total.micro[0].div_ceil(d.micro.buffer);
        let seconds = d.seconds(total.micro[0]);
        let limb = (WORD_BITS / 8) << head.log_n;
        let keys = head
            .inputs
            .iter()
            .filter(|input| matches!(input.role, ringmill_isa::mid::InputRole::Key { .. }));
        let keys = keys.count() as u64;
        let limbs_in = head.inputs.len() as u64 - keys + total.hosted;
        let (bytes_in, bytes_out) = (limbs_in * limb, outputs as u64 * limb);
        let key_bytes = keys * limb;
        let program_bytes = whole.instructions * d.instruction_bytes;
        let link = LinkUse {
            bytes_in,
            bytes_out,
            key_bytes,
            program_bytes,
            seconds_in: d.link.seconds(bytes_in),
            seconds_out: d.link.seconds(bytes_out),
            key_seconds: d.link.seconds(key_bytes),
            program_seconds: d.link.seconds(program_bytes),
        };
        // Keys are put into distant memory before, or in the run but ahead of the first call; instructions come while the machine
        // works.
        let (there, sent) = match resident_keys {
            true => (link.key_seconds, 0.0),
            false => (0.0, link.key_seconds),
        };
        // The BASALISC paper's counting leaves out the time of distant memory and of instructions: the rest is what
        // units wait for them.
        let working = total.micro[1].min(total.micro[0]);
        let end_to_end = EndToEnd {
            inputs_seconds: link.seconds_in,
            keys_seconds: sent,
            compute_seconds: d.seconds(working),
            waits_seconds: d.seconds(total.micro[0] - working),
            outputs_seconds: link.seconds_out,
            resident_key_limbs: if resident_keys { keys } else { 0 },
            resident_key_seconds: there,
            ..EndToEnd::default()
        };
        let busy = |unit: &str, busy_micro: u64| UnitUse {
            unit: unit.to_owned(),
            busy_cycles: busy_micro.div_ceil(d.micro.buffer),
            utilisation: busy_micro as f64 / total.micro[0].max(1) as f64,
        };
        let port = (whole.reads + whole.writes) * d.micro.buffer;
        let s = d.stages;
        let stages = s.read_permutation + s.transform + s.write_permutation;
        let mut by_kind: BTreeMap<String, u64> = BTreeMap::new();
        let mut in_flight: BTreeMap<String, u64> = BTreeMap::new();
        for (op, count) in total.ops.iter() {
            by_kind.insert(op.info().mnemonic.to_owned(), count);
            let period = match op.info().unit {
                Unit::Mac => d.micro.mac,
                Unit::Transform => 2 * d.micro.transform,
                Unit::Memory | Unit::Control => d.micro.buffer,
            };
            let of = count * period;
            in_flight.insert(op.info().mnemonic.to_owned(), of.div_ceil(d.micro.buffer));
        }
        let shape = d.shape(head.log_n);
        let slots = u64::from(shape.slots());
        let moved = Moved {
            limbs_in,
            limbs_out: outputs as u64,
            program_bytes,
            distant_limbs: running.distant_limbs(),
        };
        MachineReport {
            machine: d.name.clone(),
            end_to_end: end_to_end.summed(Self::help),
            how: "model",
            clock_mhz: d.clock_mhz,
            cycles,
            seconds,
            calls: running.calls,
            instructions: whole.instructions,
            instructions_by_kind: by_kind,
            cycles_by_kind: in_flight,
            procedures: running
                .procedures()
                .into_iter()
                .map(|(name, used)| {
                    let cycles = used.micro_cycles.div_ceil(d.micro.buffer);
                    let calls = used.calls;
                    (name, ProcedureUse { calls, cycles })
                })
                .collect(),
            lines: running.ledger.lines(head.procs, d.micro.buffer, cycles),
            utilisation: vec![
                busy("buffer port", port),
                busy("multiply-accumulate", whole.mac * d.micro.mac),
                busy("transform", whole.transform * 2 * d.micro.transform),
                busy("distant memory", whole.distant / d.distant.channels as u64),
            ],
            memories: vec![MemoryUse {
                name: "ciphertext buffer".to_owned(),
                count: 1,
                used_bytes: total.peak as u64 * limb,
                available_bytes: slots * limb,
            }],
            link,
            fit: self.fit.clone(),
            own: Own::new(VectorUse {
                cycles_by_papers_counting: total.micro[1].div_ceil(d.micro.buffer),
                port_reads: whole.reads,
                port_writes: whole.writes,
                port_stalls: whole.stalled / d.micro.buffer,
                port_stalls_by_papers_counting: paper.stalled / d.micro.buffer,
                port_floor: total.floors[0],
                mac_floor: total.floors[1],
                filled_mac: share(paper.in_mac, s.mac * total.micro[1]),
                filled_transform: share(2 * paper.in_transform, stages * total.micro[1]),
                queue_dry: whole.dry / d.micro.buffer,
                distant_cycles: whole.distant / d.distant.channels as u64 / d.micro.buffer,
                limbs_loaded: total.loads,
                limbs_spilled: total.spilled,
                limbs_reloaded: total.reloaded,
                limbs_made: total.made,
                host: HostUse::new(d, shape, moved, total.micro[0], total.micro[2]),
                parts: parts(running, shape.limb_chunks().into()),
                stepped: running.stepped,
                calls_replayed: running.replayed,
            }),
        }
    }

    /// Returns advice on what would shorten `by`, the largest component of a program's time. The
    /// advice names rates, clocks, the channels of distant memory, and keys that are there before the run.
    fn help(by: TimePart) -> String {
        match by {
            TimePart::Waits => {
                "faster distant memory (`distant.gbyte_per_second`, `distant.channels`) and instructions (`link.gbit_per_second`)"
            }
            TimePart::Compute => "a faster buffer (`clock_mhz`) or multiply-accumulate unit (`micro.mac`)",
            TimePart::LinkKeys => "keys that are there before the run, or a faster link (`link.gbit_per_second`)",
            TimePart::Host
            | TimePart::LinkData
            | TimePart::LinkPrograms
            | TimePart::LinkSpills => "a faster link (`link.gbit_per_second`)",
        }
        .to_owned()
    }
}

/// Returns the time of a run by the operations of the macro, mid and micro level. `chunks` is the number of chunks of a
/// limb.
fn parts(running: &Running<'_>, chunks: u64) -> VectorParts {
    let (counts, took) = (&running.total.ops, &running.total.took);
    let mut by_mid: BTreeMap<String, TimeUse> = BTreeMap::new();
    let mut by_micro: BTreeMap<String, TimeUse> = BTreeMap::new();
    let mut sent = 0;
    for (op, count) in counts.iter() {
        let own = op.info().mnemonic;
        let micro_cycles = took.of(op);
        sent += micro_cycles;
        let part = |count| TimeUse {
            count,
            micro_cycles,
        };
        by_micro.insert(own.to_owned(), part(count));
        // A transform is two passes.
        let (mid, limbs) = match op {
            MicroOp::Ntt1 => ("NTT", count / chunks),
            MicroOp::Intt1 => ("INTT", count / chunks),
            MicroOp::Ntt2 => ("NTT", 0),
            MicroOp::Intt2 => ("INTT", 0),
            MicroOp::Morph => ("AUTO", count / chunks),
            MicroOp::Hcf => (own, count),
            _ => (own, count / chunks),
        };
        let entry = by_mid.entry(mid.to_owned()).or_default();
        entry.count += limbs;
        entry.micro_cycles += micro_cycles;
    }
    let all = running.total.micro[0];
    let at_end = |sent: u64| TimeUse {
        count: 0,
        micro_cycles: all.saturating_sub(sent),
    };
    if !running.halts() {
        by_mid.insert(AT_END.to_owned(), at_end(sent));
        by_micro.insert(AT_END.to_owned(), at_end(sent));
    }
    VectorParts {
        all,
        by_procedure: running.procedures(),
        loaded: running.loaded(),
        by_mid,
        by_micro,
    }
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

impl Machine for VectorMachine {
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
            log_n: Limit {
                field: "log_radix",
                is: d.log_n(),
            },
            modulus_bits: limit("kind", WORD_BITS as u32),
            friendly_bits: limit("kind", FIXED_BITS),
            moduli: Limit {
                field: "kind",
                is: 1024,
            },
            extends_modulo_primes: true,
            primes_alone: Limit {
                field: "kind",
                is: true,
            },
            runs_whole: Limit {
                field: "kind",
                is: false,
            },
            expands_seeds: d.key_masks == Masks::Generated,
            explicit: true,
            engine: None,
        }
    }

    /// Returns true for all instructions of a procedure or for none, since the vector machine leaves no instruction to
    /// a host.
    fn takes(&self, head: &Head<'_>, procedure: &Procedure) -> Result<Vec<bool>, MachineError> {
        self.check_head(head)?;
        let all = Prepared::new(&self.description, procedure).is_ok();
        Ok(vec![all; procedure.instrs.len()])
    }

    fn open<'m>(
        &'m self,
        head: Head<'m>,
        options: SimOptions<'m>,
    ) -> Result<Box<dyn Session + 'm>, MachineError> {
        self.check_head(&head)?;
        Ok(Box::new(Timing {
            machine: self,
            resident_keys: options.resident_keys,
            running: Running::new(&self.description, &head, options),
            head,
        }))
    }

    /// Writes the micro code of each procedure as it runs by itself, with its limbs in the buffer if they fit and its
    /// keys in distant memory.
    fn micro_text(
        &self,
        program: &Verified,
        options: SimOptions<'_>,
        out: &mut dyn Write,
    ) -> Result<(), MachineError> {
        self.check_head(&program.head())?;
        for procedure in program.head().procs {
            options.watch.check()?;
            let resident = resident(&self.description, procedure);
            let made = alone(&self.description, procedure, &resident, Counting::PAPER)?;
            writeln!(
                out,
                "; {}: {} cycles of the buffer, {} instructions",
                procedure.name,
                made.micro.div_ceil(self.description.micro.buffer),
                made.program.instrs.len()
            )?;
            out.write_all(print(&made.program).as_bytes())?;
        }
        Ok(())
    }
}

/// Returns a function that says which parameters are in the buffer before a procedure that runs by itself. They are all
/// parameters but keys, up to fifteen sixteenths of the buffer.
pub fn resident(d: &Description, procedure: &Procedure) -> impl Fn(usize) -> bool + use<> {
    let slots = d.shape(procedure.log_n).slots() as usize;
    let mut left = slots - slots / 16;
    let there = procedure.params.iter().map(|param| {
        let key = matches!(param.role, ringmill_isa::mid::ParamRole::Key { .. });
        let fits = left > 0 && !key;
        left -= usize::from(fits);
        fits
    });
    let there: Vec<bool> = there.collect();
    move |number| there.get(number) == Some(&true)
}

/// A run of a program on the vector machine that only counts cycles.
struct Timing<'m> {
    machine: &'m VectorMachine,
    running: Running<'m>,
    head: Head<'m>,
    /// Whether the keys are in distant memory before the run, so that their transfer over the link does not count.
    resident_keys: bool,
}

impl Session for Timing<'_> {
    fn feed(&mut self, called: Called) -> Result<(), MachineError> {
        self.running.feed(&called)
    }

    fn cycles(&self) -> u64 {
        self.running
            .micro()
            .div_ceil(self.machine.description.micro.buffer)
    }

    fn finish(mut self: Box<Self>, outputs: Vec<LimbId>) -> Result<MachineReport, MachineError> {
        self.running.finish(&outputs)?;
        let (running, head) = (&self.running, &self.head);
        Ok(self
            .machine
            .report(running, head, self.resident_keys, outputs.len()))
    }
}
