// SPDX-License-Identifier: Apache-2.0
//! Turns a part of a procedure into a program of its own, so that the CPU's kernels can run it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ringmill_isa::mid::{
    Instr, Op, Param, ParamRole, Procedure, Program, ResultLimb, ValueId, ValueType, Verified,
};
use ringmill_isa::{Poly, VerifyError};
use ringmill_machines::coprocessor::Partition;

/// Some instructions of a procedure as a program of one call. `inputs` are the values that these instructions read and
/// do not compute. `outputs` are the values that they compute and that other instructions read or the procedure
/// returns.
pub struct Segment {
    pub inputs: Vec<ValueId>,
    pub program: Verified,
    pub outputs: Vec<ValueId>,
    /// Whether the segment ran before. The first run makes plans and tables, which must not count as the segment's
    /// time.
    ran: AtomicBool,
}

impl Segment {
    /// Returns whether this is the segment's first run, and marks it as run.
    pub fn is_cold(&self) -> bool {
        !self.ran.swap(true, Ordering::Relaxed)
    }
}

/// One stage of a procedure as two segments: the instructions of the host, and those of all co-processors. A
/// segment without instructions besides loads and stores, or whose results nothing outside of it reads, is `None`.
pub struct StageSegments {
    pub host: Option<Segment>,
    pub offloaded: Option<Segment>,
}

/// The stages of a procedure, each cut into segments that run as programs of their own.
pub struct Segments {
    pub partition: Partition,
    pub stages: Vec<StageSegments>,
}

impl Segments {
    /// Cuts a procedure into segments by its partition between host and co-processors.
    ///
    /// # Errors
    /// None for a verified procedure.
    pub fn new(procedure: &Procedure, partition: Partition) -> Result<Self, VerifyError> {
        let real = |value: ValueId| partition.real(value);
        let cut = |instrs: &[usize], what: &str, number: usize| {
            segment(procedure, instrs, &real, &format!("{what}.{number}"))
        };
        let stages = partition.stages.iter().enumerate().map(|(number, stage)| {
            Ok(StageSegments {
                host: cut(&stage.host, "host", number)?,
                offloaded: cut(&stage.offloaded(), "machine", number)?,
            })
        });
        let stages = stages.collect::<Result<_, VerifyError>>()?;
        Ok(Self { partition, stages })
    }
}

/// Makes a segment of the instructions of a verified procedure whose indices are `numbers`, without loads and stores.
/// `real` maps a value that a `LOAD` defines to the value that was stored. Returns `None` if no other part of the
/// procedure reads a value that the segment computes, and the procedure returns none.
fn segment(
    procedure: &Procedure,
    numbers: &[usize],
    real: &dyn Fn(ValueId) -> ValueId,
    name: &str,
) -> Result<Option<Segment>, VerifyError> {
    let moves = |instr: &Instr| matches!(instr.op, Op::Load | Op::Store);
    let inside: HashSet<usize> = numbers.iter().copied().collect();
    let instrs: Vec<&Instr> = numbers
        .iter()
        .filter_map(|&at| procedure.instrs.get(at))
        .filter(|instr| !moves(instr))
        .collect();
    let read_outside: HashSet<ValueId> = procedure
        .instrs
        .iter()
        .enumerate()
        .filter(|(at, _)| !inside.contains(at))
        .flat_map(|(_, instr)| &instr.src)
        .chain(procedure.results.iter().map(|result| &result.value))
        .map(|&value| real(value))
        .collect();
    let made: HashSet<ValueId> = instrs.iter().flat_map(|i| &i.dst).copied().collect();
    let mut outputs: Vec<ValueId> = made.intersection(&read_outside).copied().collect();
    outputs.sort_unstable();
    if outputs.is_empty() {
        return Ok(None);
    }
    let mut inputs: Vec<ValueId> = instrs
        .iter()
        .flat_map(|i| &i.src)
        .map(|&v| real(v))
        .collect();
    inputs.retain(|value| !made.contains(value));
    inputs.sort_unstable();
    inputs.dedup();

    let cut = renumbered(procedure, instrs, real, (&inputs, &outputs), name);
    let program = cut.map(|cut| Verified::new(Program::calling(Arc::new(cut), Vec::new())));
    let program = program.transpose()?;
    Ok(program.map(|program| Segment {
        inputs,
        program,
        outputs,
        ran: AtomicBool::new(false),
    }))
}

/// Returns some instructions of a procedure as a procedure of their own. Its values are renumbered, inputs first.
fn renumbered(
    procedure: &Procedure,
    instrs: Vec<&Instr>,
    real: &dyn Fn(ValueId) -> ValueId,
    (inputs, outputs): (&[ValueId], &[ValueId]),
    name: &str,
) -> Option<Procedure> {
    let mut numbers: HashMap<ValueId, ValueId> = HashMap::new();
    let mut types: Vec<ValueType> = Vec::new();
    let defined = instrs.iter().flat_map(|i| &i.dst);
    for &value in inputs.iter().chain(defined) {
        numbers.insert(value, ValueId(types.len() as u32));
        types.push(*procedure.types.get(value.0 as usize)?);
    }
    let renumbered = |values: &[ValueId]| -> Option<Vec<ValueId>> {
        let known = values.iter().map(|&v| numbers.get(&real(v)).copied());
        known.collect()
    };
    let mut cut = Procedure {
        name: format!("part.{name}"),
        log_n: procedure.log_n,
        moduli: procedure.moduli.clone(),
        params: Vec::new(),
        seeds: procedure.seeds.clone(),
        immediates: Vec::new(),
        instrs: Vec::with_capacity(instrs.len()),
        results: Vec::new(),
        types,
    };
    for instr in instrs {
        cut.instrs.push(Instr {
            op: instr.op,
            dst: renumbered(&instr.dst)?,
            src: renumbered(&instr.src)?,
            imm: instr.imm,
        });
    }
    for (value, (arg, poly)) in renumbered(inputs)?.into_iter().zip(places()) {
        cut.params.push(Param {
            value,
            name: String::new(),
            role: ParamRole::Cipher { arg, poly },
        });
    }
    for (value, (index, poly)) in renumbered(outputs)?.into_iter().zip(places()) {
        cut.results.push(ResultLimb {
            value,
            name: String::new(),
            index,
            poly,
        });
    }
    Some(cut)
}

/// Returns a list of 2^32 distinct names for the input and output limbs of a segment. A name is the index of an
/// operand or result, and the index of a polynomial of it.
fn places() -> impl Iterator<Item = (u16, Poly)> {
    (0..=u16::MAX).flat_map(|arg| (0..=u16::MAX).map(move |poly| (arg, Poly(poly))))
}
