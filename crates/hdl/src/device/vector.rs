// SPDX-License-Identifier: Apache-2.0
//! The RTL of a vector machine as a device. It runs a program's calls one after another, each as a separate micro
//! program.
//!
//! A call's operands come from distant memory, and its results go there; the host stores the limbs between calls. Every
//! event of a call must be in the cycle of the performance simulator, or the run fails. The report has the cycles of
//! the calls in RTL, in total and by procedure, and the seconds that they take. The rest of the report is the
//! performance simulator's, in which limbs stay in the machine's buffer from call to call.

use std::collections::HashMap;
use std::path::Path;

use crate::Hdl;
use crate::vector::{Host, Machine, VectorError, lockstep};
use ringmill_device::report::{Ledger, MachineReport};
use ringmill_isa::mid::{Called, Form, LimbId, Order, Procedure, ValueId};
use ringmill_isa::vector::{MicroProgram, Shape};
use ringmill_machines::Machine as Simulated;
use ringmill_machines::vector::host::HostWork;
use ringmill_machines::vector::{Counting, Description, Memory, VectorMachine, alone};
use ringmill_math::Residues;

use super::{Job, Whole, built, unbuilt};
use ringmill_device::DeviceError;
use ringmill_device::pool::{OutputLimb, limb_modulus};

/// log2 of the largest transform radix of a machine whose simulation model is compiled quickly. The
/// model of a larger machine is compiled to run fast.
const SMALL: u8 = 4;

/// The RTL of a vector machine as a device. A program's number of moduli sets the size of the machine's tables. So a
/// simulation model is built and cached for each size, and each run of a program starts one.
pub(super) struct VectorRtl {
    machine: VectorMachine,
    hdl: Hdl,
}

/// The memory outside the vector machine (distant memory) with its channels. A chunk is the words
/// of one access to the machine's buffer. Its transfer occupies one channel for some cycles, and
/// the chunk arrives a latency later.
struct Distant {
    chunks: HashMap<u32, Vec<u32>>,
    lanes: usize,
    /// For each channel of distant memory, the first cycle in which the channel is free.
    channels: Vec<u64>,
    limb_chunks: u32,
    chunk: u64,
    latency: u64,
}

impl Distant {
    fn new(d: &Description, shape: Shape) -> Self {
        Self {
            chunks: HashMap::new(),
            lanes: 1 << shape.log_lanes,
            channels: vec![0; d.distant.channels],
            limb_chunks: shape.limb_chunks(),
            chunk: d.chunk_micro(shape),
            latency: d.latency_micro(),
        }
    }

    /// Starts the transfer of the chunk at an address of distant memory in cycle `cycle` or when its channel is free.
    /// Returns the cycle in which the chunk arrives.
    fn passes(&mut self, address: u32, cycle: u64) -> u64 {
        let channel = (address / self.limb_chunks) as usize % self.channels.len().max(1);
        match self.channels.get_mut(channel) {
            Some(free) => {
                *free = (*free).max(cycle) + self.chunk;
                *free + self.latency
            }
            None => cycle,
        }
    }

    fn put(&mut self, limb: u32, words: &[u32]) {
        let first = limb * self.limb_chunks;
        for (address, chunk) in (first..).zip(words.chunks(self.lanes)) {
            self.chunks.insert(address, chunk.to_vec());
        }
    }

    fn get(&self, limb: u32) -> Option<Vec<u32>> {
        let first = limb * self.limb_chunks;
        let all = first..first + self.limb_chunks;
        let chunks = all.map(|address| self.chunks.get(&address));
        let chunks: Option<Vec<&Vec<u32>>> = chunks.collect();
        Some(chunks?.into_iter().flatten().copied().collect())
    }
}

impl Host for Distant {
    fn give(&mut self, address: u32) -> Vec<u32> {
        let chunk = self.chunks.get(&address).cloned();
        chunk.unwrap_or_else(|| vec![0; self.lanes])
    }

    fn take(&mut self, address: u32, chunk: Vec<u32>) {
        self.chunks.insert(address, chunk);
    }

    fn due(&mut self, address: u32, cycle: u64) -> u64 {
        self.passes(address, cycle)
    }

    fn takes(&mut self, address: u32, cycle: u64) -> bool {
        self.passes(address, cycle);
        true
    }
}

/// A procedure compiled for the vector machine: its micro program, which stores the results at its
/// end, and the host's work before it. `results` has the limbs of distant memory that then hold the
/// results.
struct Made {
    hosted: Vec<HostWork>,
    program: MicroProgram,
    results: Vec<u32>,
}

impl Made {
    fn new(d: &Description, procedure: &Procedure) -> Result<Self, DeviceError> {
        let alone = alone(d, procedure, &|_| false, Counting::PAPER)?;
        let (program, results) = alone.stored();
        Ok(Self {
            hosted: alone.hosted,
            program,
            results,
        })
    }
}

/// The state of a program's run: the machine in simulation, the micro programs of its procedures,
/// and the limbs in the host's memory.
struct Run<'a> {
    d: &'a Description,
    machine: Machine,
    moduli: Vec<u64>,
    made: HashMap<u32, Made>,
    limbs: HashMap<LimbId, Vec<u64>>,
    micro: u64,
    ledger: Ledger,
}

fn lost(what: &str) -> DeviceError {
    DeviceError::Malformed(format!("{what} that is not there"))
}

impl Run<'_> {
    fn call(&mut self, called: &Called, procedure: &Procedure) -> Result<(), DeviceError> {
        let number = called.call.proc;
        if !self.made.contains_key(&number) {
            self.made.insert(number, Made::new(self.d, procedure)?);
        }
        let made = self.made.get(&number).ok_or_else(|| lost("a procedure"))?;
        let program = &made.program;
        if self.moduli != program.moduli {
            self.machine.load(&program.moduli)?;
            self.moduli.clone_from(&program.moduli);
        }
        // `order` converts limbs between the order of the program and the order in the machine's buffer.
        let order = Memory::new(program.shape, &[], 0)?;
        let evaluations = |value: ValueId| {
            let ty = procedure.limb(value);
            ty.is_some_and(|ty| ty.form == Form::Eval)
        };
        let mut distant = Distant::new(self.d, program.shape);
        for (at, (param, limb)) in (0..).zip(procedure.params.iter().zip(&called.call.args)) {
            let limb = self.limbs.get(limb).ok_or_else(|| lost("a limb"))?;
            let work = made.hosted.iter().find(|work| work.param == at as usize);
            let given = limb.iter().map(|&x| work.map_or(x, |work| work.on(x)));
            let given: Vec<u64> = given.collect();
            distant.put(at, &order.to_machine(&given, evaluations(param.value)));
        }
        let ended = self.machine.run(program, &mut distant)?;
        if let Some(fault) = ended.fault {
            return Err(lost(&format!("an instruction ({fault:?})")));
        }
        lockstep(self.d, program.shape, &program.instrs, &ended.trace)
            .map_err(VectorError::from)?;
        self.micro += ended.cycles;
        for ((result, limb), &at) in (procedure.results.iter())
            .zip(&called.call.results)
            .zip(&made.results)
        {
            let words = distant.get(at).ok_or_else(|| lost("a result"))?;
            let words = order.from_machine(&words, evaluations(result.value));
            self.limbs.insert(*limb, words);
        }
        for limb in &called.dies {
            self.limbs.remove(limb);
        }
        Ok(())
    }
}

impl VectorRtl {
    /// Makes the device from a vector machine, and finds the hardware tools. The simulation model is built later.
    ///
    /// # Errors
    /// An error if the RTL sources or the tools are missing.
    pub fn new(machine: VectorMachine) -> Result<Self, DeviceError> {
        let hdl = Hdl::find(Path::new("."))?;
        Ok(Self { machine, hdl })
    }
}

impl Whole for VectorRtl {
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
        let log_n = 2 * d.log_radix;
        if head.log_n != log_n {
            let expected = format!(
                "half of log2 of the program's ring degree 2^{} in RTL",
                head.log_n
            );
            return Err(unbuilt("log_radix", d.log_radix.to_string(), &expected));
        }
        let moduli = head.moduli.iter().filter_map(|m| m.prime());
        // The machine is built with tables for as many moduli; each procedure then loads its own moduli.
        let room: Vec<u64> = moduli
            .filter(|&q| q >> 32 == 0 && q % (1 << 17) == 1)
            .collect();
        let inputs = (0..).map(LimbId).zip(&bindings.limbs);
        let inputs = inputs.map(|(at, limb)| (at, limb.residues().into_owned()));
        let mut run = Run {
            d,
            machine: Machine::new(&self.hdl, d, &room, built(d.log_radix <= SMALL), 0)?,
            moduli: room,
            made: HashMap::new(),
            limbs: inputs.collect(),
            micro: 0,
            ledger: Ledger::default(),
        };
        let mut order = Order::new(&head);
        let mut stream = program.stream();
        while let Some(called) = stream.next_call()? {
            let procedure = order.take(&called)?;
            let before = run.micro;
            run.call(&called, procedure)?;
            let entry = run.ledger.call(called.call.loc.as_ref(), called.call.proc);
            run.ledger.spend(entry, run.micro - before);
        }
        let outputs = stream.outputs()?;
        report.cycles = run.micro.div_ceil(d.micro.buffer);
        report.lines = run.ledger.lines(head.procs, d.micro.buffer, report.cycles);
        report.seconds = d.seconds(run.micro);
        let outputs = outputs.iter().zip(&program.types().outputs);
        let outputs = outputs.map(|(output, &ty)| {
            let limb = run.limbs.get(output).ok_or_else(|| lost("an output"))?;
            let modulus = limb_modulus(ty, &program.moduli);
            Ok(OutputLimb::of(Residues::Wide(limb), modulus))
        });
        outputs.collect()
    }
}
