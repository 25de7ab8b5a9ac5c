//! `rtl:` of a vector machine: a program's calls one after another on the simulated RTL. Each call is a micro program by itself: its
//! operands come from distant memory, its results go there, and the host keeps limbs between calls.
//!
//! Every call's events are in the cycles of the performance simulator, or the run fails. Cycles of the report are those of the calls
//! in RTL; the rest of it is the model's, which keeps limbs in the buffer from call to call.

use std::collections::HashMap;
use std::path::Path;

use ringmill_hdl::vector::{Host, Machine, VectorError, lockstep};
use ringmill_hdl::{BuildOptions, Hdl, Optimise};
use ringmill_isa::mid::{Called, Form, LimbId, Order, Procedure, ValueId, ValueType, Verified};
use ringmill_isa::vector::{Chunk, Instr, MicroOp, MicroProgram, Place, Shape};
use ringmill_machines::vector::{
    Alone, Counting, Description, Memory, VectorMachine, Where, alone,
};
use ringmill_machines::{Machine as _, MachineError, SimOptions};

use crate::DeviceError;
use crate::bindings::Bindings;
use crate::device::{Device, Outcome, Request, check_request};
use crate::pool::OutputLimb;
use crate::progress::Progress;

/// log2 of the largest radix whose model is built quickly rather than to run fast.
const SMALL: u8 = 4;

/// The machine's RTL. Its model is kept; each run starts one.
pub(crate) struct VectorRtl {
    name: String,
    machine: VectorMachine,
    hdl: Hdl,
}

/// Distant memory behind its channels: a chunk takes its channel for a time, and comes a latency after.
struct Distant {
    chunks: HashMap<u32, Vec<u32>>,
    lanes: usize,
    /// From which cycle on each channel is free.
    channels: Vec<u64>,
    limb_chunks: u32,
    chunk: u64,
    latency: u64,
}

impl Distant {
    fn new(d: &Description, shape: Shape) -> Self {
        let latency = d.distant.latency_ns * d.micro.clock_mhz as f64 / 1e3;
        Self {
            chunks: HashMap::new(),
            lanes: 1 << shape.log_lanes,
            channels: vec![0; d.distant.channels],
            limb_chunks: shape.limb_chunks(),
            chunk: d.chunk_micro(shape),
            latency: latency.ceil() as u64,
        }
    }

    /// When a chunk has passed its channel.
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

/// A procedure's micro program, with what is stored at its end, and where its results are.
struct Made {
    alone: Alone,
    program: MicroProgram,
    results: Vec<u32>,
}

impl Made {
    fn new(d: &Description, procedure: &Procedure) -> Result<Self, DeviceError> {
        let alone = alone(d, procedure, &|_| false, Counting::PAPER)?;
        let shape = alone.program.shape;
        let limb = shape.limb_chunks();
        let mut instrs = alone.program.instrs.clone();
        instrs.retain(|instr| instr.op != MicroOp::Hcf);
        // Beyond what is there and what has to leave the buffer.
        let used = instrs.iter().filter(|i| i.op == MicroOp::Store);
        let used = used.map(|i| i.n / limb + 1).max().unwrap_or(0);
        let mut next = used.max(procedure.params.len() as u32);
        let mut results = Vec::new();
        for at in &alone.results {
            match *at {
                Where::Distant(limb) => results.push(limb),
                Where::Buffer(place) => {
                    instrs.extend((0..limb).map(|chunk| Instr {
                        a: Place::Chunk(Chunk((place * limb + chunk) as u16)),
                        n: next * limb + chunk,
                        ..Instr::new(MicroOp::Store)
                    }));
                    results.push(next);
                    next += 1;
                }
            }
        }
        instrs.push(Instr::new(MicroOp::Hcf));
        let program = MicroProgram {
            instrs,
            ..alone.program.clone()
        };
        Ok(Self {
            alone,
            program,
            results,
        })
    }
}

/// A run: the machine, its procedures, the host's limbs.
struct Run<'a> {
    d: &'a Description,
    machine: Machine,
    moduli: Vec<u64>,
    made: HashMap<u32, Made>,
    limbs: HashMap<LimbId, Vec<u64>>,
    micro: u64,
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
        // What knows how limbs lie.
        let order = Memory::new(program.shape, &[], 0)?;
        let evaluations = |value: ValueId| {
            let ty = procedure.limb(value);
            ty.is_some_and(|ty| ty.form == Form::Eval)
        };
        let mut distant = Distant::new(self.d, program.shape);
        for (at, (param, limb)) in (0..).zip(procedure.params.iter().zip(&called.call.args)) {
            let limb = self.limbs.get(limb).ok_or_else(|| lost("a limb"))?;
            let work = made
                .alone
                .hosted
                .iter()
                .find(|work| work.param == at as usize);
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
    /// # Errors
    /// Where the tools are missing.
    pub fn new(name: String, machine: VectorMachine) -> Result<Self, DeviceError> {
        let hdl = Hdl::find(Path::new("."))?;
        Ok(Self { name, machine, hdl })
    }

    /// The outputs, and the micro-cycles of all calls.
    fn execute(
        &self,
        program: &Verified,
        bindings: &Bindings<'_>,
    ) -> Result<(Vec<OutputLimb>, u64), DeviceError> {
        let d = self.machine.description();
        let head = program.head();
        let log_n = 2 * d.log_radix;
        if head.log_n != log_n {
            return Err(DeviceError::Machine(MachineError::Field {
                field: "log_radix",
                got: d.log_radix.to_string(),
                expected: format!(
                    "half of log2 of the program's ring degree 2^{} in RTL",
                    head.log_n
                ),
            }));
        }
        let moduli = head.moduli.iter().filter_map(|m| m.prime());
        // Of the machine's size; each procedure loads its own.
        let room: Vec<u64> = moduli
            .filter(|&q| q >> 32 == 0 && q % (1 << 17) == 1)
            .collect();
        let options = BuildOptions {
            optimise: match d.log_radix <= SMALL {
                true => Optimise::Build,
                false => Optimise::Run,
            },
            waves: false,
        };
        let inputs = (0..).map(LimbId).zip(&bindings.limbs);
        let inputs = inputs.map(|(at, limb)| (at, limb.residues().into_owned()));
        let mut run = Run {
            d,
            machine: Machine::new(&self.hdl, d, &room, options, 0)?,
            moduli: room,
            made: HashMap::new(),
            limbs: inputs.collect(),
            micro: 0,
        };
        let mut order = Order::new(&head);
        let mut stream = program.stream();
        while let Some(called) = stream.next_call()? {
            let procedure = order.take(&called)?;
            run.call(&called, procedure)?;
        }
        let outputs = stream.outputs()?;
        let outputs = outputs.iter().map(|output| {
            let limb = run.limbs.get(output).ok_or_else(|| lost("an output"))?;
            Ok(OutputLimb::shared(limb.as_slice().into()))
        });
        Ok((outputs.collect::<Result<_, DeviceError>>()?, run.micro))
    }
}

impl Device for VectorRtl {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn clock_mhz(&self) -> Option<f64> {
        Some(self.machine.clock_mhz())
    }

    fn holds(&self, ty: ValueType) -> bool {
        self.machine.holds(ty)
    }

    fn run(
        &self,
        program: &Verified,
        bindings: &Bindings<'_>,
        request: Request<'_>,
        _: &dyn Progress,
    ) -> Result<Outcome, DeviceError> {
        check_request(self, program, &request)?;
        let options = SimOptions {
            spill: request.spill,
            resident_keys: request.resident_keys,
            watch: request.watch.clone(),
            ..SimOptions::default()
        };
        let mut report = self.machine.simulate(program, options)?;
        if !request.function {
            return Ok(Outcome {
                machine: Some(report),
                ..Outcome::default()
            });
        }
        bindings.check(program.program())?;
        let (outputs, micro) = self.execute(program, bindings)?;
        let d = self.machine.description();
        report.how = "RTL";
        report.cycles = micro.div_ceil(d.micro.buffer);
        report.seconds = d.seconds(micro);
        Ok(Outcome {
            outputs: Some(outputs),
            cpu: None,
            machine: request.timing.then_some(report),
        })
    }
}
