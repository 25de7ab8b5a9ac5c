// SPDX-License-Identifier: Apache-2.0
//! The model of the abacus. An instruction takes as many cycles as all residues of its results need to move.

use std::collections::BTreeMap;
use std::io::Write;

use ringmill_device::report::{
    EndToEnd, Ledger, LinkUse, MachineReport, MemoryUse, Own, ProcedureUse, UnitUse,
};
use ringmill_device::trace::Context;
use ringmill_isa::mid::{Called, Head, LimbId, Order, Procedure, Verified};
use ringmill_isa::{Limit, Target};
use ringmill_machines::fpga::Fit;
use ringmill_machines::{Machine, MachineError, Session, SimOptions};

use crate::{AbacusUse, Description};

/// An abacus with a checked description.
pub struct Abacus {
    description: Description,
    fit: Fit,
}

impl Abacus {
    /// # Errors
    /// Fails if the beads need more than the part has.
    pub fn new(description: Description) -> Result<Self, MachineError> {
        Ok(Self {
            fit: description.needs()?.accepted(None)?,
            description,
        })
    }

    /// Returns the mnemonic and the cycles of each instruction of a procedure, in order.
    fn cycles<'p>(&self, procedure: &'p Procedure) -> impl Iterator<Item = (&'p str, u64)> {
        let n = 1u64 << procedure.log_n;
        let beads = self.description.beads;
        let instrs = procedure.instrs.iter();
        instrs.map(move |instr| {
            let residues = n * instr.dst.len() as u64;
            (instr.op.mnemonic(), residues.div_ceil(beads))
        })
    }
}

impl Machine for Abacus {
    fn kind(&self) -> &'static str {
        crate::KIND
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
        let never = |field| Limit { field, is: false };
        Target {
            machine: self.description.name.clone(),
            log_n: Limit {
                field: "kind",
                is: 1..=13,
            },
            modulus_bits: Limit {
                field: "kind",
                is: 62,
            },
            friendly_bits: Limit {
                field: "kind",
                is: 0,
            },
            moduli: Limit {
                field: "kind",
                is: usize::MAX,
            },
            extends_modulo_primes: false,
            primes_alone: never("kind"),
            runs_whole: never("kind"),
            expands_seeds: true,
            explicit: false,
            engine: None,
        }
    }

    fn takes(&self, head: &Head<'_>, procedure: &Procedure) -> Result<Vec<bool>, MachineError> {
        self.check_values(head)?;
        Ok(vec![true; procedure.instrs.len()])
    }

    fn open<'m>(
        &'m self,
        head: Head<'m>,
        options: SimOptions<'m>,
    ) -> Result<Box<dyn Session + 'm>, MachineError> {
        self.check_values(&head)?;
        Ok(Box::new(Counting {
            machine: self,
            order: Order::new(&head),
            limb_bytes: 8 << head.log_n,
            inputs: head.inputs.len() as u64,
            calls: 0,
            cycles: 0,
            by_kind: BTreeMap::new(),
            cycles_by_kind: BTreeMap::new(),
            procedures: BTreeMap::new(),
            options,
        }))
    }

    fn micro_text(
        &self,
        program: &Verified,
        _: SimOptions<'_>,
        out: &mut dyn Write,
    ) -> Result<(), MachineError> {
        for procedure in program.head().procs {
            writeln!(out, "proc {}", procedure.name)?;
            for (op, cycles) in self.cycles(procedure) {
                writeln!(out, "  {op} {cycles}")?;
            }
        }
        Ok(())
    }
}

/// A run that counts cycles.
struct Counting<'m> {
    machine: &'m Abacus,
    order: Order<'m>,
    limb_bytes: u64,
    inputs: u64,
    calls: u64,
    cycles: u64,
    by_kind: BTreeMap<String, u64>,
    cycles_by_kind: BTreeMap<String, u64>,
    procedures: BTreeMap<String, ProcedureUse>,
    options: SimOptions<'m>,
}

impl Session for Counting<'_> {
    fn feed(&mut self, called: Called) -> Result<(), MachineError> {
        self.options.watch.check()?;
        let procedure = self.order.take(&called)?;
        self.calls += 1;
        let used = self.procedures.entry(procedure.name.clone()).or_default();
        used.calls += 1;
        for (op, cycles) in self.machine.cycles(procedure) {
            if let Some(sink) = &mut self.options.trace {
                let of = Context::of_call(called.call.loc.as_ref(), procedure);
                sink.event("beads", op, self.cycles, cycles, &of);
            }
            self.cycles += cycles;
            used.cycles += cycles;
            *self.by_kind.entry(op.to_owned()).or_default() += 1;
            *self.cycles_by_kind.entry(op.to_owned()).or_default() += cycles;
        }
        if let Some(tell) = &mut self.options.progress {
            tell(self.calls);
        }
        Ok(())
    }

    fn cycles(&self) -> u64 {
        self.cycles
    }

    fn finish(self: Box<Self>, outputs: Vec<LimbId>) -> Result<MachineReport, MachineError> {
        self.order.check(&outputs)?;
        let d = &self.machine.description;
        let seconds = self.cycles as f64 / (d.clock_mhz * 1e6);
        let bytes_in = self.inputs * self.limb_bytes;
        let bytes_out = outputs.len() as u64 * self.limb_bytes;
        let link = LinkUse {
            bytes_in,
            bytes_out,
            seconds_in: d.link.seconds(bytes_in),
            seconds_out: d.link.seconds(bytes_out),
            ..LinkUse::default()
        };
        let parts = EndToEnd {
            inputs_seconds: link.seconds_in,
            compute_seconds: seconds,
            outputs_seconds: link.seconds_out,
            ..EndToEnd::default()
        };
        Ok(MachineReport {
            machine: d.name.clone(),
            end_to_end: parts.summed(|_| "more beads (`beads`)".to_owned()),
            how: "model",
            clock_mhz: d.clock_mhz,
            cycles: self.cycles,
            seconds,
            calls: self.calls,
            instructions: self.by_kind.values().sum(),
            instructions_by_kind: self.by_kind,
            cycles_by_kind: self.cycles_by_kind,
            procedures: self.procedures,
            // The abacus charges no source lines, so all its cycles belong to no call.
            lines: Ledger::default().lines(&[], 1, self.cycles),
            utilisation: vec![UnitUse {
                unit: "beads".to_owned(),
                busy_cycles: self.cycles,
                utilisation: 1.0,
            }],
            memories: vec![MemoryUse {
                name: "wires".to_owned(),
                count: 1,
                used_bytes: self.limb_bytes,
                available_bytes: d.beads * 1024 * 8,
            }],
            link,
            fit: self.machine.fit.clone(),
            own: Own::new(AbacusUse {
                moves: self.cycles * d.beads,
                beads: d.beads,
            }),
        })
    }
}
