// SPDX-License-Identifier: Apache-2.0
//! The RTL of a ring machine as a device. It runs a program's calls one after another, with the
//! memory slots and the instruction words that the scheduler chose.
//!
//! Limbs go over the RTL's own link. The cycles of each call are the RTL's; a number other than the model's is an
//! error. The model counts transfers between calls by the link's rate, and so does this device. In the RTL each of
//! these transfers is a procedure with one `LOAD` or `STORE`.

use std::collections::HashMap;
use std::path::Path;

use crate::Hdl;
use crate::ring::{Host, Machine, Place, Tables, Wanted, evenly};
use ringmill_device::report::MachineReport;
use ringmill_isa::mid::{LimbId, ValueType, Verified};
use ringmill_machines::ring::description::Description;
use ringmill_machines::ring::program::{Step, run};
use ringmill_machines::ring::{RingMachine, timing};
use ringmill_machines::{Machine as Simulated, MachineError};
use ringmill_math::Residues;

use super::{Job, Whole, built, options, unbuilt};
use ringmill_device::DeviceError;
use ringmill_device::pool::{OutputLimb, limb_modulus};

/// log2 of the largest ring degree of a machine whose simulation model is compiled quickly. The
/// model of a larger machine is compiled to run fast.
const SMALL: u8 = 8;

/// The RTL of a ring machine as a device. Each residue polynomial arithmetic unit (RPAU) is
/// elaborated for its primes. So one simulation model is built and cached for each list of primes
/// that a program has. Each run of a program starts one.
pub(super) struct RingRtl {
    machine: RingMachine,
    hdl: Hdl,
}

impl RingRtl {
    /// Makes the device from a ring machine, and finds the hardware tools. The simulation model is
    /// built at each program's run, for the program's primes.
    ///
    /// # Errors
    /// An error if the RTL sources or the tools are missing.
    pub fn new(machine: RingMachine) -> Result<Self, DeviceError> {
        let hdl = Hdl::find(Path::new("."))?;
        Ok(Self { machine, hdl })
    }

    /// Builds the RTL of the machine for the primes of a program.
    fn built(&self, program: &Verified) -> Result<Machine, DeviceError> {
        let d = self.machine.description();
        let moduli = program.head().moduli;
        let primes: Option<Vec<u64>> = moduli.iter().map(|m| m.prime()).collect();
        let Some(primes) = primes else {
            let other = moduli.iter().find(|m| m.prime().is_none());
            return Err(unbuilt("moduli", format!("{other:?}"), "primes alone"));
        };
        let options = built(d.log_n <= SMALL);
        let mut machine = Machine::new(&self.hdl, d, &primes, options, 0)?;
        // At twice the native degree limbs are halves.
        machine.size(program.head().log_n.min(d.log_n))?;
        Ok(machine)
    }
}

impl Whole for RingRtl {
    fn machine(&self) -> &dyn Simulated {
        &self.machine
    }

    fn execute(
        &self,
        job: &Job<'_, '_>,
        report: &mut MachineReport,
    ) -> Result<Vec<OutputLimb>, DeviceError> {
        let (program, bindings) = (job.program, job.bindings);
        let d = self.machine.description();
        let head = program.head();
        let mut card = Card {
            d,
            machine: self.built(program)?,
            pieces: d.pieces(head.log_n),
            limbs: HashMap::new(),
            seeds: bindings.seeds.iter().map(|s| *s.seed()).collect(),
            rpau: HashMap::new(),
            failure: None,
        };
        for (at, (input, limb)) in (0..).zip(head.inputs.iter().zip(&bindings.limbs)) {
            let limb_type = input.ty.limb();
            let rpau = limb_type.map_or(0, |ty| usize::from(ty.modulus.0) % d.rpaus);
            card.rpau.insert(LimbId(at), rpau);
            card.limbs.insert(LimbId(at), limb.residues().into_owned());
        }
        // Key memory holds only limbs that were loaded into it; the calls take the same cycles.
        let options = options(job.request, false);
        let ran = run(d, program, options, &mut |_| Ok(()), &mut |step| {
            card.call(step).map_err(|error| {
                let stopped = MachineError::Program("its RTL has stopped".into());
                card.failure = Some(error);
                stopped
            })
        });
        if let Some(failure) = card.failure {
            return Err(failure);
        }
        let ran = ran?;
        report.cycles = ran.cycles;
        report.lines = ran.ledger.lines(head.procs, 1, ran.cycles);
        let mut stream = program.stream();
        while stream.next_call().map_err(MachineError::from)?.is_some() {}
        let outputs = stream.outputs().map_err(MachineError::from)?;
        let limb = |(output, &ty): (&LimbId, &ValueType)| {
            let limb = card.limbs.get(output);
            let lost = || DeviceError::Malformed("an output that no call made".into());
            let limb = Residues::Wide(limb.ok_or_else(lost)?);
            Ok(OutputLimb::of(limb, limb_modulus(ty, &program.moduli)))
        };
        outputs
            .iter()
            .zip(&program.types().outputs)
            .map(limb)
            .collect()
    }
}

/// A ring machine in simulation, with the limbs of the program's run that lie in the host's memory.
struct Card<'a> {
    d: &'a Description,
    machine: Machine,
    /// The number of memory slots that a limb takes: one at the machine's native ring degree, two at twice that degree,
    /// four at four times.
    pieces: usize,
    limbs: HashMap<LimbId, Vec<u64>>,
    rpau: HashMap<LimbId, usize>,
    seeds: Vec<[u8; 32]>,
    failure: Option<DeviceError>,
}

/// The host's memory during one call: the limbs and key limbs that the machine loads and stores,
/// and the cycles in which a limb's residues pass.
#[derive(Default)]
struct CallsHost {
    limbs: HashMap<u16, Vec<u64>>,
    keys: HashMap<(usize, u8), Vec<u64>>,
    beats: Vec<u64>,
}

impl Host for CallsHost {
    /// Returns the limb that the machine's `LOAD` names. If there is none, the limb is empty, and
    /// the machine ends with an error code.
    fn give(&mut self, wanted: Wanted) -> Vec<u64> {
        let limb = match wanted.place {
            Place::Limb(at) => self.limbs.get(&at),
            Place::Key(index) => self.keys.get(&(wanted.rpau, index)),
        };
        limb.cloned().unwrap_or_default()
    }

    fn take(&mut self, wanted: Wanted, limb: Vec<u64>) {
        if let Place::Limb(at) = wanted.place {
            self.limbs.insert(at, limb);
        }
    }

    fn beats(&mut self) -> Vec<u64> {
        self.beats.clone()
    }
}

impl Card<'_> {
    fn lost(what: &str) -> DeviceError {
        DeviceError::Malformed(format!("{what} that is not there"))
    }

    fn piece(&self, limb: LimbId, piece: usize) -> Result<&[u64], DeviceError> {
        let limb = self.limbs.get(&limb);
        let limb = limb.ok_or_else(|| Self::lost("a limb"))?;
        let n = limb.len() / self.pieces;
        let piece = limb.get(piece * n..(piece + 1) * n);
        piece.ok_or_else(|| Self::lost("a part of a limb"))
    }

    fn rpau_of(&self, limb: LimbId) -> usize {
        self.rpau.get(&limb).copied().unwrap_or_default()
    }

    /// Runs one call of a program: sends the limbs that the call needs, runs its procedure on the
    /// RTL, and receives its results.
    fn call(&mut self, step: &Step<'_>) -> Result<(), DeviceError> {
        let scheduled = &step.outcome.scheduled;
        let code = &scheduled.code;
        for load in &step.key_loads {
            let (limb, piece) = load.limb;
            let part = self.piece(limb, piece.into())?.to_vec();
            self.machine.fill_key(load.rpau, load.slot, &part)?;
        }
        let key_indices = step.key_indices(self.d);
        let mut host = CallsHost {
            beats: evenly(1 << code.log_n, timing::link(self.d, code.log_n)),
            ..CallsHost::default()
        };
        for (at, &limb) in step.call.args.iter().enumerate() {
            let rpau = self.rpau_of(limb);
            for piece in 0..self.pieces {
                let part = self.piece(limb, piece)?.to_vec();
                if let Some(base) = key_indices.get(at).copied().flatten() {
                    host.keys.insert((rpau, base + piece as u8), part);
                } else if let Some(&place) = scheduled
                    .host_params
                    .get(at)
                    .and_then(|places| places.get(piece))
                {
                    host.limbs.insert(place, part);
                } else if step.arrived.contains(&limb) {
                    let slot = step.args.get(at).and_then(|slots| slots.get(piece));
                    let slot = *slot.ok_or_else(|| Self::lost("a slot"))?;
                    self.machine.fill(rpau, slot, &part)?;
                }
            }
        }
        let seeds = step.call.seeds.iter();
        let seeds: Vec<[u8; 32]> = seeds
            .filter_map(|&seed| self.seeds.get(seed as usize).copied())
            .collect();
        for r in 0..self.d.rpaus {
            let keys = step.key_table.iter().filter(|((rpau, _), _)| *rpau == r);
            let column = |row: &Vec<u64>| row.get(r).copied().unwrap_or_default();
            self.machine.tables(
                r,
                &Tables {
                    constants: code.constants.iter().map(column).collect(),
                    streams: code
                        .generators
                        .iter()
                        .map(|row| row.get(r).copied().flatten())
                        .collect(),
                    galois: &code.galois,
                    seeds: &seeds,
                    keys: keys.map(|(&(_, index), &slot)| (index, slot)).collect(),
                },
            )?;
        }
        self.machine.select(&code.primes)?;
        self.machine.program(&code.streams)?;
        self.machine.run_for(&mut host, step.outcome.cycles)?;
        for (at, &limb) in step.call.results.iter().enumerate() {
            let result = step.procedure.results.get(at);
            let ty = result.and_then(|result| step.procedure.limb(result.value));
            let modulus = ty.ok_or_else(|| Self::lost("a result"))?.modulus;
            let rpau = usize::from(modulus.0) % self.d.rpaus;
            let mut residues = Vec::new();
            for &slot in scheduled.results.get(at).into_iter().flatten() {
                residues.extend(self.machine.read(rpau, slot)?);
            }
            for place in scheduled.host_results.get(at).into_iter().flatten() {
                let sent = host.limbs.get(place);
                residues.extend(sent.ok_or_else(|| Self::lost("a result on the host"))?);
            }
            self.rpau.insert(limb, rpau);
            self.limbs.insert(limb, residues);
        }
        Ok(())
    }
}
