// SPDX-License-Identifier: Apache-2.0
//! The TFHE bootstrapping engine behind the interface [`Machine`] of all simulated machines. It runs programs
//! of one blind rotation.

use std::collections::BTreeMap;
use std::io::Write;

use ringmill_isa::engine::{Digits, Engine};
use ringmill_isa::mid::{Called, Head, LimbId, Order, Procedure, ValueType, Verified};
use ringmill_isa::{Limit, Target};

use super::keyswitch::Floor;
use super::program::{Part as Step, check_head, part};
use super::report::{SwitchUse, TorusUse};
use super::{
    Description, KeyRate, Run, Shape, give_cycles, load_cycles, run, switch, switch_words,
    unload_cycles,
};
use crate::fpga::{Fit, Part};
use crate::{Machine, MachineError, Session, SimOptions};
use ringmill_device::report::{
    EndToEnd, Ledger, LinkUse, MachineReport, MemoryUse, Own, ProcedureUse, UnitUse,
};

/// A bootstrapping engine as a machine, with its description, sizes and key rate.
#[derive(Clone, Debug)]
pub struct TorusMachine {
    description: Description,
    shape: Shape,
    rate: KeyRate,
    fit: Fit,
}

impl TorusMachine {
    /// Makes the machine from its description, and checks that the engine fits its FPGA.
    ///
    /// # Errors
    /// The errors of [`Description::shape`]; [`MachineError::UnknownPart`] for an unknown FPGA; the errors of
    /// [`crate::fpga::Needs::accepted`] if the engine does not fit its FPGA.
    pub fn new(description: Description) -> Result<Self, MachineError> {
        let shape = description.shape()?;
        let part = Part::named(&description.part)?;
        let allowed = description.allow_more_than_the_part_has.as_deref();
        Ok(Self {
            shape,
            rate: description.key_rate()?,
            fit: shape.needs(&description.name, part).accepted(allowed)?,
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

    pub fn shape(&self) -> Shape {
        self.shape
    }

    pub fn key_rate(&self) -> KeyRate {
        self.rate
    }

    /// Returns the cycles of the blind rotation and the extraction of the first `places` ciphertexts, interleaved, with
    /// the key at the rate of its source.
    pub fn run(&self, places: usize) -> Run {
        run(self.shape, places, self.rate.offers())
    }

    /// Returns the cycles of the key switch of the first `places` ciphertexts, with the switching key at the
    /// rate of the key's source.
    pub fn switch(&self, places: usize) -> u64 {
        switch(self.shape, places, self.rate.of_words().offers())
    }

    /// Returns the cycles of whole bootstraps of `places` interleaved ciphertexts: loads, blind rotation, the
    /// key switch if `switches` is true, and the output of the results.
    pub fn bootstraps(&self, places: usize, switches: bool) -> u64 {
        let (shape, each) = (self.shape, places as u64);
        let out = match switches {
            true => self.switch(places) + each * give_cycles(shape),
            false => each * unload_cycles(shape),
        };
        each * load_cycles(shape) + self.run(places).cycles + out
    }

    /// Returns the TFHE parameters that a program must have for this engine.
    fn engine(&self) -> Engine {
        let sizes = self.shape.sizes();
        let switch = sizes.switch.digits;
        Engine {
            dimension: sizes.dim,
            log_degree: sizes.log_n as u8,
            unrolling: sizes.unroll,
            bootstrap: Digits {
                log_base: sizes.log_base,
                levels: sizes.levels,
            },
            key_switch: Digits {
                log_base: switch.log_base,
                levels: switch.levels,
            },
        }
    }

    /// Returns the cycles of this engine's key switch for reports.
    fn switch_use(&self) -> SwitchUse {
        let (shape, all) = (self.shape, self.shape.sizes().places);
        let levels = shape.switch().digits().levels;
        let floor = Floor::of(shape.degree(), levels, shape.sizes().dim);
        SwitchUse {
            alone: self.switch(1),
            together: self.switch(all),
            floor: floor.cycles(shape.switch()),
        }
    }

    fn report(&self, counts: &Counts) -> MachineReport {
        let (d, shape) = (&self.description, self.shape);
        let all = shape.sizes().places;
        let (alone, together) = (self.run(1), self.run(all));
        let switches = counts.switches;
        let switch = switches.then(|| self.switch_use());
        let cycles = self.bootstraps(1, switches);
        let seconds = |cycles: u64| cycles as f64 / (d.clock_mhz * 1e6);
        let (n, dim) = (shape.degree() as u64, shape.sizes().dim as u64);
        let bytes_in = 4 * (n + 1 + dim);
        let bytes_out = 4 * (if switches { dim } else { n } + 1);
        let switching_key = if switches { 4 * switch_words(shape) } else { 0 };
        let key_beats = shape.sizes().key_beats as u64;
        let key_bytes = shape.key_bytes() + switching_key;
        let link = LinkUse {
            bytes_in,
            bytes_out,
            key_bytes,
            seconds_in: d.link.seconds(bytes_in),
            seconds_out: d.link.seconds(bytes_out),
            key_seconds: key_bytes as f64 / (d.key.gbyte_per_second * 1e9),
            // An engine has one program, its own, which crosses no link.
            ..LinkUse::default()
        };
        let busy = |unit: &str, busy_cycles: u64| UnitUse {
            unit: unit.to_owned(),
            busy_cycles,
            utilisation: busy_cycles as f64 / cycles.max(1) as f64,
        };
        let end_to_end = EndToEnd {
            inputs_seconds: link.seconds_in,
            compute_seconds: seconds(cycles),
            outputs_seconds: link.seconds_out,
            ..EndToEnd::default()
        };
        MachineReport {
            machine: d.name.clone(),
            end_to_end: end_to_end.summed(|_| {
                "several ciphertexts at once (`places`), more butterflies (`units`, `log_lanes`) or multipliers (`log_pos`)".to_owned()
            }),
            how: "model",
            clock_mhz: d.clock_mhz,
            cycles,
            seconds: seconds(cycles),
            calls: counts.calls,
            instructions: counts.by_op.values().sum(),
            instructions_by_kind: counts.by_op.clone(),
            cycles_by_kind: BTreeMap::from([
                ("forward transforms".to_owned(), alone.forward),
                ("inverse transforms".to_owned(), alone.inverse),
                ("transforms of bundles".to_owned(), alone.bundles),
                ("products".to_owned(), alone.products),
                ("waiting for the key".to_owned(), alone.starved),
                ("key switch".to_owned(), switch.map_or(0, |s| s.alone)),
            ]),
            procedures: counts.procedures.clone(),
            // An engine's calls work on one bootstrap together.
            lines: Ledger::default().lines(&[], 1, cycles),
            utilisation: vec![
                busy(
                    "transform units",
                    alone.forward + alone.inverse + alone.bundles,
                ),
                busy("product multipliers", alone.products),
                busy("mask generators", switch.map_or(0, |s| s.floor)),
            ],
            memories: vec![MemoryUse {
                name: "key".to_owned(),
                count: 1,
                used_bytes: shape.beats(0).min(key_beats) * shape.beat_bits() / 8,
                available_bytes: key_beats * shape.beat_bits() / 8,
            }],
            link,
            fit: self.fit.clone(),
            own: Own::new(TorusUse {
                alone: cycles,
                places: all,
                interleaved: self.bootstraps(all, switches).div_ceil(all as u64),
                floor: shape.steps() as u64 * shape.floors().0.max(shape.floors().1),
                starved: together.starved,
                switch,
            }),
        }
    }
}

impl Machine for TorusMachine {
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
        let limit = |field, is| Limit { field, is };
        let log_n = self.shape.sizes().log_n as u8;
        Target {
            machine: self.description.name.clone(),
            log_n: Limit {
                field: "log_n",
                is: log_n..=log_n,
            },
            modulus_bits: limit("name", 52),
            friendly_bits: limit("name", 0),
            moduli: Limit {
                field: "name",
                is: 2,
            },
            extends_modulo_primes: true,
            primes_alone: Limit {
                field: "kind",
                is: false,
            },
            runs_whole: Limit {
                field: "kind",
                is: false,
            },
            expands_seeds: true,
            explicit: false,
            engine: Some(self.engine()),
        }
    }

    fn holds(&self, _: ValueType) -> bool {
        true
    }

    /// Returns true for all instructions of a procedure that is a part of a bootstrap with the engine's sizes, and
    /// false for all instructions of any other procedure.
    fn takes(&self, head: &Head<'_>, procedure: &Procedure) -> Result<Vec<bool>, MachineError> {
        check_head(self.shape, head)?;
        let taken = part(self.shape, procedure).is_ok();
        Ok(vec![taken; procedure.instrs.len()])
    }

    fn open<'m>(
        &'m self,
        head: Head<'m>,
        options: SimOptions<'m>,
    ) -> Result<Box<dyn Session + 'm>, MachineError> {
        check_head(self.shape, &head)?;
        let parts = head.procs.iter().map(|p| part(self.shape, p));
        Ok(Box::new(Timing {
            machine: self,
            parts: parts.collect::<Result<_, _>>()?,
            order: Order::new(&head),
            counts: Counts::default(),
            options,
        }))
    }

    fn micro_text(
        &self,
        program: &Verified,
        _: SimOptions<'_>,
        out: &mut dyn Write,
    ) -> Result<(), MachineError> {
        check_head(self.shape, &program.head())?;
        for procedure in program.head().procs {
            let command = match part(self.shape, procedure)? {
                Step::Start => "load: table and exponents",
                Step::Turn(_) => "run: one turn",
                Step::End { switches: false } => "run: extraction; unload",
                Step::End { switches: true } => "run: extraction; switch; give",
            };
            writeln!(out, "{}: {command}", procedure.name)?;
        }
        Ok(())
    }
}

/// The counts of a program's calls on the engine so far: in total, by operation and by procedure, and the steps of the
/// blind rotation among them.
#[derive(Default)]
struct Counts {
    calls: u64,
    turns: usize,
    bits: usize,
    ended: bool,
    switches: bool,
    by_op: BTreeMap<String, u64>,
    procedures: BTreeMap<String, ProcedureUse>,
}

/// A run of a program on the engine that only counts cycles.
struct Timing<'m> {
    machine: &'m TorusMachine,
    /// For each of the program's procedures, the part of a bootstrap that it does.
    parts: Vec<Step>,
    order: Order<'m>,
    counts: Counts,
    options: SimOptions<'m>,
}

impl Timing<'_> {
    /// Refuses a call out of order. A program has one start, then the steps of the blind rotation in order, and
    /// one end.
    fn follow(&mut self, name: &str, step: Step) -> Result<(), MachineError> {
        let (shape, counts) = (self.machine.shape, &mut self.counts);
        let steps = shape.steps();
        let follows = match step {
            Step::Start => counts.calls == 0,
            Step::Turn(bits) => {
                let turn = counts.turns;
                counts.turns += 1;
                counts.bits += bits;
                counts.calls > 0 && turn < steps && bits == shape.bits(turn)
            }
            Step::End { switches } => {
                counts.switches |= switches;
                let first = !counts.ended;
                counts.ended = true;
                first && counts.turns == steps
            }
        };
        if follows {
            return Ok(());
        }
        Err(MachineError::Unsupported {
            procedure: name.to_owned(),
            what: format!(
                "{step:?} after {} calls: a run of this engine is one start, {steps} turns for {} exponents (`dim`, `unroll`) and one end",
                counts.calls,
                shape.sizes().dim
            ),
        })
    }
}

impl Session for Timing<'_> {
    fn feed(&mut self, called: Called) -> Result<(), MachineError> {
        self.options.watch.check()?;
        let procedure = self.order.take(&called)?;
        let step = *(self.parts.get(called.call.proc as usize))
            .ok_or_else(|| MachineError::Program(format!("no procedure {}", called.call.proc)))?;
        self.follow(&procedure.name, step)?;
        self.counts.calls += 1;
        let used = self.counts.procedures.entry(procedure.name.clone());
        used.or_default().calls += 1;
        for instr in &procedure.instrs {
            let name = instr.op.mnemonic().to_owned();
            *self.counts.by_op.entry(name).or_default() += 1;
        }
        if let Some(tell) = &mut self.options.progress {
            tell(self.counts.calls);
        }
        Ok(())
    }

    /// Returns the least cycles of those steps of the blind rotation whose calls the run has received so far.
    fn cycles(&self) -> u64 {
        let (transforms, products) = self.machine.shape.floors();
        self.counts.turns as u64 * transforms.max(products)
    }

    fn finish(self: Box<Self>, outputs: Vec<LimbId>) -> Result<MachineReport, MachineError> {
        self.order.check(&outputs)?;
        let shape = self.machine.shape;
        if !self.counts.ended {
            return Err(MachineError::Unsupported {
                procedure: "of the last call".to_owned(),
                what: format!(
                    "{} turns and no extraction: a run of this engine has {} turns (`dim`, `unroll`) and ends with one",
                    self.counts.turns,
                    shape.steps()
                ),
            });
        }
        Ok(self.machine.report(&self.counts))
    }
}
