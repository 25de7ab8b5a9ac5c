// SPDX-License-Identifier: Apache-2.0
//! Lowers a mid-level procedure to micro instructions of the vector machine, and times them.

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_isa::mid::Procedure;
use ringmill_isa::vector::{Chunk, Instr, MASKS, MicroOp, MicroProgram, Place, Shape};

use super::buffer::{Buffer, Held};
use super::clockwork::{Clockwork, Counting};
use super::description::{Description, Order};
use super::graph::{Graph, Value, graph};
use super::host::HostWork;
use super::kernel::{PIECE, kernels};
use super::order::{Task, ordered, tasks};
use super::place::{Param, Request, place};
use super::readers::Readers;
use super::tally::Tally;
use crate::MachineError;

/// A procedure that is cut into tasks, in the order in which the tasks begin. A task is the work of one unit on
/// whole limbs.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub graph: Arc<Graph>,
    pub tasks: Arc<Vec<Task>>,
    pub readers: Arc<Readers>,
    pub shape: Shape,
    /// Two lower bounds on the procedure's time, in cycles of the ciphertext buffer: one by the buffer's port, and
    /// one by the multiply-accumulate unit.
    pub floors: [u64; 2],
    /// The number of limbs of plaintexts that the host changes before each call.
    pub hosted: u64,
    /// The indices of the parameters, in the order in which tasks first read them. Parameters that no task reads come
    /// last.
    pub params_by_use: Vec<usize>,
}

impl Prepared {
    /// Cuts a procedure into tasks, each the work of one unit, for the described machine. The tasks are in the
    /// order that the description's field `schedule` names.
    ///
    /// # Errors
    /// [`MachineError::Unsupported`] for an instruction, a modulus or a size that the machine does not support. Another
    /// error for a procedure that does not verify.
    pub fn new(d: &Description, procedure: &Procedure) -> Result<Self, MachineError> {
        Self::in_order(d, procedure, PIECE, |_, tasks| ordered(d, tasks))
    }

    /// Prepares a procedure with its tasks in the order that the function `order` chooses. The function gets the tasks
    /// in an order in which each comes after those that compute its operands. With the schedule [`Order::Overlapped`] a
    /// kernel (sums that are computed together, chunk by chunk) of a base extension writes at most `piece` limbs.
    pub(super) fn in_order(
        d: &Description,
        procedure: &Procedure,
        piece: usize,
        order: impl FnOnce(&Graph, Vec<Task>) -> Vec<Task>,
    ) -> Result<Self, MachineError> {
        let degrees = d.log_n();
        if !degrees.contains(&procedure.log_n) {
            return Err(MachineError::Unsupported {
                procedure: procedure.name.clone(),
                what: format!(
                    "ring degree 2^{}: `log_radix` allows 2^{} to 2^{}",
                    procedure.log_n,
                    degrees.start(),
                    degrees.end()
                ),
            });
        }
        let shape = d.shape(procedure.log_n);
        let graph = graph(procedure, d.key_masks)?;
        // With the schedule in order, each operation is a kernel of its own, except one whose results never leave the
        // registers.
        let share = d.schedule == Order::Overlapped;
        let kernels = kernels(&graph, d.registers.into(), share.then_some(piece));
        let tasks = order(&graph, tasks(d, shape, &graph, &kernels)?);
        let readers = Readers::new(graph.nodes.len(), &tasks, HashMap::new());
        let hosted = graph.hosted.work.iter().filter(|work| !work.is_none());
        Ok(Self {
            shape,
            floors: floors(d, &tasks),
            hosted: hosted.count() as u64,
            params_by_use: params_by_use(procedure, &tasks),
            graph: Arc::new(graph),
            tasks: Arc::new(tasks),
            readers: Arc::new(readers),
        })
    }

    /// Returns each value that is a generated mask, with the address from which `LOAD` takes the mask, counted in
    /// limbs.
    pub(super) fn masks(&self) -> Vec<(Value, u32)> {
        let first = MASKS / self.shape.limb_chunks();
        let masks = (first..).zip(&self.graph.masks);
        masks.map(|(at, &(value, _))| (value, at)).collect()
    }
}

fn params_by_use(procedure: &Procedure, tasks: &[Task]) -> Vec<usize> {
    let mut used: HashMap<Value, usize> = HashMap::new();
    for (at, &value) in tasks.iter().flat_map(|task| &task.reads).enumerate() {
        used.entry(value).or_insert(at);
    }
    let mut numbers: Vec<usize> = (0..procedure.params.len()).collect();
    let first = |number: &usize| {
        let value = procedure.params.get(*number).map(|p| p.value.0 as Value);
        value.and_then(|value| used.get(&value).copied())
    };
    numbers.sort_by_key(|number| first(number).unwrap_or(usize::MAX));
    numbers
}

fn floors(d: &Description, tasks: &[Task]) -> [u64; 2] {
    let port = tasks.iter().map(|task| task.port).sum();
    let sums = tasks
        .iter()
        .filter(|task| matches!(task.work, super::order::Work::Sums(_)));
    let micro: u64 = sums.map(|task| task.micro).sum();
    [port, micro.div_ceil(d.micro.buffer)]
}

/// The micro program of one procedure that runs by itself on an idle machine. All operands are in distant memory, some
/// also in the buffer, and none is needed afterwards.
#[derive(Clone, Debug)]
pub struct Alone {
    pub program: MicroProgram,
    /// For each result of the procedure, its place in the buffer, or its limb in distant memory if it was stored there
    /// for lack of room.
    pub results: Vec<Where>,
    /// For each parameter its place at the start: in the buffer, or in distant memory.
    pub params: Vec<Where>,
    /// The time from the start until the last result is written or stored, in micro-cycles (`micro.buffer` of them make
    /// one cycle of the ciphertext buffer).
    pub micro: u64,
    pub tally: Tally,
    pub peak: usize,
    pub loads: u64,
    pub spilled: u64,
    pub reloaded: u64,
    /// The number of masks (uniform halves of keys) that the generator expanded from seeds. A mask that is expanded
    /// again counts again.
    pub made: u64,
    /// Two lower bounds on the procedure's time, in cycles of the ciphertext buffer: one by the buffer's port, and
    /// one by the multiply-accumulate unit.
    pub floors: [u64; 2],
    /// The host's work on plaintexts before the procedure runs, one entry for each limb modulo a plaintext modulus that
    /// the procedure reads. An entry may leave the limb unchanged.
    pub hosted: Vec<HostWork>,
}

impl Alone {
    /// Returns the program with stores of the procedure's results at its end, and for each result
    /// its address in distant memory, in limbs. A result in the buffer gets an address behind those
    /// of the operands and of the limbs that were stored for lack of room.
    pub fn stored(&self) -> (MicroProgram, Vec<u32>) {
        let limb = self.program.shape.limb_chunks();
        let mut instrs = self.program.instrs.clone();
        instrs.retain(|instr| instr.op != MicroOp::Hcf);
        let used = instrs.iter().filter(|instr| instr.op == MicroOp::Store);
        let used = used.map(|instr| instr.n / limb + 1).max().unwrap_or(0);
        let mut next = used.max(self.params.len() as u32);
        let mut results = Vec::with_capacity(self.results.len());
        for at in &self.results {
            results.push(match *at {
                Where::Distant(at) => at,
                Where::Buffer(place) => {
                    instrs.extend((0..limb).map(|chunk| Instr {
                        a: Place::Chunk(Chunk((place * limb + chunk) as u16)),
                        n: next * limb + chunk,
                        ..Instr::new(MicroOp::Store)
                    }));
                    next += 1;
                    next - 1
                }
            });
        }
        instrs.push(Instr::new(MicroOp::Hcf));
        let program = MicroProgram {
            instrs,
            ..self.program.clone()
        };
        (program, results)
    }
}

/// The place of a limb: the number of a place in the ciphertext buffer, or of a limb in distant memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Where {
    Buffer(u32),
    Distant(u32),
}

/// Lowers one procedure by itself and times it on an idle machine. `resident` says which parameters are in the buffer
/// at the start, as far as it has room.
///
/// # Errors
/// A procedure that the machine does not support, or that does not fit it.
pub fn alone(
    d: &Description,
    procedure: &Procedure,
    resident: &dyn Fn(usize) -> bool,
    counting: Counting,
) -> Result<Alone, MachineError> {
    alone_prepared(
        d,
        procedure,
        &Prepared::new(d, procedure)?,
        resident,
        counting,
    )
}

/// Lowers a procedure by itself from its tasks (`prepared`) and times it. It assigns places to
/// limbs and chooses the order of the instructions.
///
/// # Errors
/// A procedure that does not fit the machine.
pub fn alone_prepared(
    d: &Description,
    procedure: &Procedure,
    prepared: &Prepared,
    resident: &dyn Fn(usize) -> bool,
    counting: Counting,
) -> Result<Alone, MachineError> {
    let shape = prepared.shape;
    let count = procedure.params.len() as u32;
    let mut buffer = Buffer::new(
        shape.slots(),
        d.distant_limbs(shape),
        count,
        d.distant.channels,
    );
    let limb = |number: usize| Held(number as u64);
    let mut params = Vec::new();
    let mut holds = Vec::new();
    for (number, param) in procedure.params.iter().enumerate() {
        // The parameter came from distant memory, which still has it.
        let there = match resident(number) {
            true => buffer.put(limb(number), Some(number as u32)),
            false => None,
        };
        if let Some(place) = there {
            let first = place * shape.limb_chunks();
            holds.extend((first..first + shape.limb_chunks()).map(|c| Chunk(c as u16)));
        }
        // Operands die here: an operand that is not read again gives its place away.
        params.push(Param {
            value: param.value.0 as Value,
            limb: limb(number),
            place: there,
            distant: Some(number as u32),
            later: false,
        });
    }
    let wheres = params.iter().map(|param| match param.place {
        Some(place) => Where::Buffer(place),
        None => Where::Distant(param.distant.unwrap_or(0)),
    });
    let wheres = wheres.collect();
    holds.sort_unstable();
    let results = (prepared.graph.results.iter().enumerate())
        .map(|(number, &value)| (value, Held(u64::from(count) + number as u64)));
    let request = Request {
        procedure: &procedure.name,
        params,
        results: results.clone().collect(),
        masks: prepared.masks(),
        replacement: d.replacement,
    };
    let placed = place(&mut buffer, &prepared.tasks, &prepared.readers, &request)?;
    let mut clock = Clockwork::new(d, shape, counting);
    let mut instrs = Vec::new();
    super::merge::merge(
        (&placed, &prepared.tasks),
        shape,
        d.schedule,
        &mut clock,
        |instr, _, _| {
            instrs.push(*instr);
            Ok(())
        },
        || Ok(()),
    )?;
    instrs.push(Instr::new(MicroOp::Hcf));
    let micro = clock.drain();
    let found = (0..).zip(&buffer.places);
    let found = found.filter_map(|(at, content)| Some((content.as_ref()?.limb, at)));
    let found: HashMap<Held, u32> = found.collect();
    let of = |limb: Held| match (found.get(&limb).copied(), placed.distant.get(&limb)) {
        (Some(place), _) => Ok(Where::Buffer(place)),
        (None, Some(&at)) => Ok(Where::Distant(at)),
        (None, None) => Err(MachineError::Program("a result is nowhere".to_owned())),
    };
    Ok(Alone {
        results: results
            .map(|(_, limb)| of(limb))
            .collect::<Result<_, _>>()?,
        params: wheres,
        micro,
        tally: clock.tally,
        peak: placed.peak,
        loads: placed.loads,
        spilled: placed.spilled,
        reloaded: placed.reloaded,
        made: placed.made,
        floors: prepared.floors,
        hosted: prepared.graph.hosted.work.clone(),
        program: MicroProgram {
            shape,
            moduli: prepared.graph.moduli.iter().map(|q| q.value()).collect(),
            masks: prepared.graph.masks.iter().map(|&(_, mask)| mask).collect(),
            holds,
            instrs,
        },
    })
}

/// Times a micro program by itself on an idle machine, as [`alone`] does. Returns its time in micro-cycles
/// (`micro.buffer` of them make one cycle of the ciphertext buffer), and the counts of what its units did.
///
/// # Errors
/// [`MachineError::Program`] if the machine cannot continue, as with some programs that the verifier refuses.
pub fn time(
    d: &Description,
    program: &MicroProgram,
    counting: Counting,
) -> Result<(u64, Tally), MachineError> {
    let mut clock = Clockwork::new(d, program.shape, counting);
    for instr in program.instrs.iter().filter(|i| i.op != MicroOp::Hcf) {
        let stepped = clock.step(instr);
        stepped.map_err(|stuck| MachineError::Program(stuck.to_string()))?;
    }
    Ok((clock.drain(), clock.tally))
}
