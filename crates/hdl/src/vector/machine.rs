// SPDX-License-Identifier: Apache-2.0
//! Drives the vector machine at its pins, cycle by cycle: tables, then programs.

use std::collections::VecDeque;

use ringmill_isa::vector::{Instr, MicroOp, MicroProgram, Shape, encode};
use ringmill_machines::MachineError;
use ringmill_machines::vector::{Description, built};
use ringmill_math::MathError;

use super::host::Host;
use super::lockstep::Divergence;
use super::tables::table_words;
use crate::{BuildOptions, Hdl, HdlError, In, Model, Out, Top};

/// The reason for which the RTL of a vector machine was not built, did not end a program, or
/// differs from the performance simulator.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VectorError {
    /// The RTL cannot build a machine with the description's sizes.
    #[error(transparent)]
    Unbuilt(#[from] MachineError),
    #[error(
        "the vector machine is not done after {cycles} cycles without an event: a fault in the RTL?"
    )]
    NeverDone { cycles: u64 },
    /// The cycle of an event differs from the performance simulator's.
    #[error(transparent)]
    Diverged(#[from] Divergence),
    #[error(transparent)]
    Math(#[from] MathError),
    #[error(transparent)]
    Hdl(#[from] HdlError),
}

/// A unit of the vector machine that writes chunks (the words of one buffer access) to the
/// ciphertext buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Writer {
    Mac,
    Transform,
    Load,
}

/// The clock cycles of the events of a program's run. The first cycle of the run is cycle 0.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Trace {
    /// For each instruction that was sent, the first cycle in which it could be ready at the head of the machine's
    /// queue: seven cycles after the queue took it. It is ready later if an earlier instruction waits.
    pub there: Vec<u64>,
    /// For each instruction, the cycle in which the machine's queue sent it to its unit.
    pub sent: Vec<u64>,
    /// The cycles in which halves of chunks entered the permutation units. A chunk is the words of
    /// one buffer access.
    pub entered: Vec<u64>,
    pub wrote: Vec<(u64, Writer)>,
    /// For each `LOAD`, the cycle in which its chunk had arrived from distant memory. `gone` has
    /// for each `STORE` the cycle in which distant memory had taken its chunk.
    pub came: Vec<u64>,
    pub gone: Vec<u64>,
    /// The number of cycles in which the instruction queue was empty between the first instruction
    /// sent and the last. The machine counts them.
    pub dry: u64,
}

/// A program word that the machine's instruction queue refuses because it is no valid instruction. `code` is the
/// reason, a value of `fault_e` in `rm_vector_fault_pkg`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    pub code: u64,
    /// The index of the refused word in the program, from 0.
    pub number: u64,
    pub word: u128,
}

/// How a micro program ended on the RTL of the vector machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ended {
    pub trace: Trace,
    /// The cycles from the start of the run until the machine had sent every instruction and written every result, and
    /// distant memory had taken every stored chunk.
    pub cycles: u64,
    /// The word at which the machine stopped because the word is no instruction, or `None` if it
    /// executed the whole program. The instructions before such a word were executed.
    pub fault: Option<Fault>,
}

/// Returns the RTL module `rm_vector` for a description and a number of moduli.
///
/// # Errors
/// [`VectorError::Unbuilt`] with the field that the RTL does not support.
pub fn top(d: &Description, moduli: usize) -> Result<Top, VectorError> {
    let shape = d.shape(2 * d.log_radix);
    built::check(d)?;
    let log_span = d.log_lanes - d.log_radix;
    Ok(Top::new("rm_vector")
        .int("LogRadix", d.log_radix.into())
        .int("LogSpan", log_span.into())
        .int("Slots", shape.slots().into())
        .int("Registers", d.registers.into())
        .int("Moduli", moduli.next_power_of_two().max(2) as u64)
        .int("Queue", d.queue as u64)
        .int("Batch", d.queue.min(16) as u64)
        .int("LoadChunks", d.load_chunks as u64)
        .int("StoreChunks", d.store_chunks as u64)
        .int("Distant", shape.distant.min(1 << 30).into())
        .int("Buffer", d.micro.buffer)
        .int("Mac", d.micro.mac)
        .int("Transform", d.micro.transform))
}

struct Ports {
    clear: In,
    valid: In,
    ready: Out,
    word: In,
    fault: Out,
    fault_word: Out,
    number: Out,
    underrun: Out,
    idle: Out,
    want_valid: Out,
    want_ready: In,
    want_address: Out,
    chunk_valid: In,
    chunk_ready: Out,
    chunk: In,
    out_valid: Out,
    out_ready: In,
    out_address: Out,
    out_chunk: Out,
    sent: Out,
    enters: Out,
    wrote: Out,
    moduli: In,
    table_valid: In,
    table: In,
}

/// A vector machine whose RTL runs in simulation, driven at its pins.
pub struct Machine {
    model: Model,
    ports: Ports,
    shape: Shape,
    cycle: u64,
    /// The moduli whose tables are loaded in the machine. An instruction names a modulus by its
    /// index in this list.
    loaded: Vec<u64>,
}

/// The number of cycles without an event after which a program's run ends as failed.
const PATIENCE: u64 = 20_000;

impl Machine {
    /// Builds the machine's simulation model (unless the cache has it), resets it and loads its tables. `seed` draws
    /// the random values with which registers and memories start.
    ///
    /// # Errors
    /// The errors of [`top`] and of the tools; an error for a modulus that the machine does not support.
    pub fn new(
        hdl: &Hdl,
        d: &Description,
        moduli: &[u64],
        options: BuildOptions,
        seed: u32,
    ) -> Result<Self, VectorError> {
        let mut model = hdl.model(&top(d, moduli.len())?, options)?;
        let ports = Ports {
            clear: model.input("clear_i")?,
            valid: model.input("valid_i")?,
            ready: model.output("ready_o")?,
            word: model.input("word_i")?,
            fault: model.output("fault_o")?,
            fault_word: model.output("fault_word_o")?,
            number: model.output("number_o")?,
            underrun: model.output("underrun_o")?,
            idle: model.output("idle_o")?,
            want_valid: model.output("want_valid_o")?,
            want_ready: model.input("want_ready_i")?,
            want_address: model.output("want_address_o")?,
            chunk_valid: model.input("chunk_valid_i")?,
            chunk_ready: model.output("chunk_ready_o")?,
            chunk: model.input("chunk_i")?,
            out_valid: model.output("out_valid_o")?,
            out_ready: model.input("out_ready_i")?,
            out_address: model.output("out_address_o")?,
            out_chunk: model.output("out_chunk_o")?,
            sent: model.output("sent_o")?,
            enters: model.output("enters_o")?,
            wrote: model.output("wrote_o")?,
            moduli: model.input("moduli_i")?,
            table_valid: model.input("table_valid_i")?,
            table: model.input("table_i")?,
        };
        model.restart(seed)?;
        for name in ["refill_ready_i", "acknowledge_i"] {
            let port = model.input(name)?;
            model.set(port, 0)?;
        }
        let shape = d.shape(2 * d.log_radix);
        let mut machine = Self {
            model,
            ports,
            shape,
            cycle: 0,
            loaded: Vec::new(),
        };
        machine.rest()?;
        machine.model.set(machine.ports.table_valid, 0)?;
        machine.model.reset()?;
        machine.load(moduli)?;
        Ok(machine)
    }

    /// Returns the sizes of the machine, for which its micro programs must be made.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Loads the tables of other moduli, between two programs. The caller must give at most as many moduli as the
    /// machine was built for, which is not checked. Nothing is loaded if `moduli` are those of the present tables.
    ///
    /// # Errors
    /// An error for a modulus that the machine does not support; errors of the simulation.
    pub fn load(&mut self, moduli: &[u64]) -> Result<(), VectorError> {
        if self.loaded == moduli {
            return Ok(());
        }
        self.model.set(self.ports.table_valid, 1)?;
        for entry in table_words(moduli, self.shape)? {
            self.model.set(self.ports.table, entry)?;
            self.step()?;
        }
        self.model.set(self.ports.table_valid, 0)?;
        self.model.set(self.ports.moduli, moduli.len() as u64)?;
        self.loaded = moduli.to_vec();
        self.settle()
    }

    /// Sets the machine's input pins so that no instruction, chunk or request is offered or
    /// accepted.
    fn rest(&mut self) -> Result<(), HdlError> {
        for port in [
            self.ports.clear,
            self.ports.valid,
            self.ports.want_ready,
            self.ports.chunk_valid,
            self.ports.out_ready,
        ] {
            self.model.set(port, 0)?;
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), VectorError> {
        self.model.step(1)?;
        self.cycle += 1;
        Ok(())
    }

    /// Runs 16 cycles, after which the port of distant memory and the units of the machine are
    /// idle, as after a reset.
    fn settle(&mut self) -> Result<(), VectorError> {
        for _ in 0..16 {
            self.step()?;
        }
        Ok(())
    }

    /// Empties the instruction queue after a fault. The rest of the machine keeps its state.
    ///
    /// # Errors
    /// The errors of the simulation.
    pub fn clear_queue(&mut self) -> Result<(), VectorError> {
        self.model.set(self.ports.clear, 1)?;
        self.step()?;
        self.model.set(self.ports.clear, 0)?;
        self.settle()
    }

    /// Runs a micro program to its end, or to a word that is no instruction.
    ///
    /// # Errors
    /// [`VectorError::NeverDone`] after 20,000 cycles without an event; errors of the simulation.
    pub fn run(
        &mut self,
        program: &MicroProgram,
        host: &mut dyn Host,
    ) -> Result<Ended, VectorError> {
        let words: Vec<u128> = program.instrs.iter().map(encode).collect();
        self.run_words(&words, &program.instrs, host)
    }

    /// Runs a micro program that is given as encoded words, which may be wrong. `instrs` are the
    /// instructions that the words should encode.
    ///
    /// # Errors
    /// The errors of [`Self::run`].
    pub fn run_words(
        &mut self,
        words: &[u128],
        instrs: &[Instr],
        host: &mut dyn Host,
    ) -> Result<Ended, VectorError> {
        let begin = self.cycle;
        let first = self.model.get(self.ports.number)?;
        let mut trace = Trace::default();
        // The chunks that were asked for: the cycle from which on each may come, and its address.
        let mut wanted: VecDeque<(u64, u32)> = VecDeque::new();
        let (mut offered, mut last_event, mut fault) = (0, 0, None);
        let mut dry_before = None;
        loop {
            let at = self.cycle - begin;
            let (ports, model) = (&self.ports, &mut self.model);
            // The events of this cycle, which do not depend on its inputs.
            let sent = model.get(ports.sent)? == 1;
            if sent {
                trace.sent.push(at);
                // The count is 32 bits wide.
                let dry = model.get(ports.underrun)? as u32;
                trace.dry = dry.wrapping_sub(*dry_before.get_or_insert(dry)).into();
            }
            let enters = model.get(ports.enters)? == 1;
            if enters {
                trace.entered.push(at);
            }
            let wrote = model.get(ports.wrote)?;
            for (bit, writer) in [Writer::Mac, Writer::Transform, Writer::Load]
                .into_iter()
                .enumerate()
            {
                if wrote >> bit & 1 == 1 {
                    trace.wrote.push((at, writer));
                }
            }
            let mut event = sent || enters || wrote != 0;
            // Instructions.
            let offers = offered < words.len() && host.instructs(self.cycle);
            model.set(ports.valid, offers.into())?;
            if offers {
                let word = words[offered];
                let parts = [word as u32, (word >> 32) as u32, (word >> 64) as u32];
                model.set_words(ports.word, &parts)?;
                if model.get(ports.ready)? == 1 {
                    offered += 1;
                    event = true;
                    // A word is written, read, checked, handed on, decoded, then compared with the writes in flight:
                    // seven cycles.
                    trace.there.push(at + 7);
                }
            }
            // Distant memory.
            let asked = host.is_asked(self.cycle);
            model.set(ports.want_ready, asked.into())?;
            if asked && model.get(ports.want_valid)? == 1 {
                let address = model.get(ports.want_address)? as u32;
                wanted.push_back((host.due(address, self.cycle).max(self.cycle + 1), address));
                event = true;
            }
            let due = wanted.front().is_some_and(|&(due, _)| due <= self.cycle);
            model.set(ports.chunk_valid, due.into())?;
            if due && let Some(&(_, address)) = wanted.front() {
                model.set_words(ports.chunk, &host.give(address))?;
                if model.get(ports.chunk_ready)? == 1 {
                    wanted.pop_front();
                    trace.came.push(at + 1);
                    event = true;
                }
            }
            let address = model.get(ports.out_address)? as u32;
            let stores = model.get(ports.out_valid)? == 1;
            let takes = stores && host.takes(address, self.cycle);
            model.set(ports.out_ready, takes.into())?;
            if takes {
                host.take(address, model.get_words(ports.out_chunk)?);
                trace.gone.push(at + 1);
                event = true;
            }
            if event {
                last_event = at;
            }
            let code = model.get(ports.fault)?;
            if code != 0 && fault.is_none() {
                let parts = model.get_words(ports.fault_word)?;
                let word = parts
                    .iter()
                    .rev()
                    .fold(0, |all, &part| all << 32 | u128::from(part));
                fault = Some(Fault {
                    code,
                    number: model.get(ports.number)? - first,
                    word,
                });
            }
            let idle = model.get(ports.idle)? == 1;
            let all = trace.sent.len() == instrs.len();
            // A fault may stand behind instructions that are still to be sent.
            let before = fault.map_or(usize::MAX, |fault| fault.number as usize);
            let over = all || trace.sent.len() >= before.min(instrs.len());
            if over && idle && at > last_event + 8 {
                break;
            }
            if at > last_event + PATIENCE {
                return Err(VectorError::NeverDone { cycles: PATIENCE });
            }
            self.step()?;
        }
        self.rest()?;
        self.settle()?;
        let written = trace.wrote.last().map_or(0, |&(at, _)| at);
        let sent = trace.sent.last().copied().unwrap_or(0);
        let gone = trace.gone.last().copied().unwrap_or(0);
        trace.there.truncate(trace.sent.len());
        Ok(Ended {
            cycles: written.max(sent).max(gone) + 1,
            trace,
            fault,
        })
    }
}

/// Returns instructions that move the first `limbs` limbs of the ciphertext buffer, chunk by chunk. `LOAD` fetches them
/// from distant memory, `STORE` writes them there; `address` is the first chunk's address in distant memory. Each other
/// `op` makes instructions in the form of `STORE`.
pub fn moved(op: MicroOp, shape: Shape, limbs: u32, address: u32) -> Vec<Instr> {
    use ringmill_isa::vector::{Chunk, Place};
    let chunks = 0..limbs * shape.limb_chunks();
    let instr = |chunk: u32| {
        let place = Place::Chunk(Chunk(chunk as u16));
        let n = address + chunk;
        match op {
            MicroOp::Load => Instr {
                d: place,
                n,
                ..Instr::new(op)
            },
            _ => Instr {
                a: place,
                n,
                ..Instr::new(op)
            },
        }
    };
    chunks.map(instr).collect()
}
