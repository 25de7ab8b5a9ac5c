// SPDX-License-Identifier: Apache-2.0
//! Runs a procedure on several ciphertexts that use the same keys, so that each limb of a key is
//! loaded once for all of them.
//!
//! The order of the work has two aims. Few limbs of the ciphertexts lie in the ciphertext buffer at
//! one time, since work of a ciphertext begins only when its results need it. And all ciphertexts
//! read a key's limb in turn while it is in the buffer. So before each kernel (group of sums) that
//! reads a key, each ciphertext does its earlier work.

use std::collections::HashMap;

use ringmill_isa::mid::{Instr, Op, Param, ParamRole, Procedure, ResultLimb, ValueId};

use super::description::Description;
use super::graph::{Graph, Node};
use super::kernel::PIECE;
use super::lower::Prepared;
use super::order::{Task, makers};
use crate::MachineError;

/// Returns the index of the operand to which a parameter, one limb, belongs. Returns `None` for a
/// key or an exponent.
fn operand(role: &ParamRole) -> Option<u16> {
    match *role {
        ParamRole::Cipher { arg, .. } | ParamRole::Plain { arg } => Some(arg),
        ParamRole::Key { .. } | ParamRole::Exponent { .. } => None,
    }
}

/// Returns the number of operands (ciphertexts and plaintexts) of a procedure.
fn operands(procedure: &Procedure) -> u16 {
    let all = procedure.params.iter().filter_map(|p| operand(&p.role));
    all.max().map_or(0, |last| last.saturating_add(1))
}

/// Returns a procedure that does the work of `procedure` for several ciphertexts, which share keys and masks. If
/// `procedure` has k operands, its operand `arg` for ciphertext c has the index `arg` + c k in the returned procedure.
/// Results are numbered in the same way, with the number of results in place of k.
///
/// # Errors
/// [`MachineError::Unsupported`] for a batch of no ciphertexts, for a procedure with immediates or exponents that calls
/// supply, and for too many operands or results. [`MachineError::Program`] for a value that nothing makes.
pub fn batched(procedure: &Procedure, ciphertexts: u16) -> Result<Procedure, MachineError> {
    let unsupported = |what: &str| MachineError::Unsupported {
        procedure: procedure.name.clone(),
        what: what.to_owned(),
    };
    if ciphertexts == 0 {
        return Err(unsupported("a batch of no ciphertexts"));
    }
    if !procedure.immediates.is_empty() {
        return Err(unsupported("a batch of calls with immediates"));
    }
    let args = operands(procedure);
    let results = procedure.results.iter().map(|r| r.index + 1).max();
    let results = results.unwrap_or(0);
    let mut batch = Batch {
        of: procedure,
        made: Procedure {
            name: format!("{}.batch{ciphertexts}", procedure.name),
            params: Vec::new(),
            instrs: Vec::new(),
            results: Vec::new(),
            types: Vec::new(),
            ..procedure.clone()
        },
        shared: HashMap::new(),
        own: HashMap::new(),
    };
    for number in 0..ciphertexts {
        let of = |index: u16, count: u16| {
            let all = count.checked_mul(number).and_then(|n| n.checked_add(index));
            all.ok_or_else(|| unsupported("a batch of so many operands"))
        };
        batch.own.clear();
        for param in &procedure.params {
            let role = match param.role {
                ParamRole::Cipher { arg, poly } => ParamRole::Cipher {
                    arg: of(arg, args)?,
                    poly,
                },
                ParamRole::Plain { arg } => ParamRole::Plain {
                    arg: of(arg, args)?,
                },
                ParamRole::Key { .. } if number > 0 => continue,
                key @ ParamRole::Key { .. } => key,
                ParamRole::Exponent { .. } => {
                    return Err(unsupported("a batch of calls with exponents"));
                }
            };
            let key = matches!(role, ParamRole::Key { .. });
            let value = batch.fresh(param.value, key)?;
            let name = match key {
                true => param.name.clone(),
                false => format!("b{number}.{}", param.name),
            };
            batch.made.params.push(Param { value, name, role });
        }
        for instr in &procedure.instrs {
            // All ciphertexts share the masks.
            let mask = instr.op == Op::Prng;
            if mask && number > 0 {
                continue;
            }
            let src = instr.src.iter().map(|&value| batch.value(value));
            let src = src.collect::<Result<_, _>>()?;
            let dst = instr.dst.iter().map(|&value| batch.fresh(value, mask));
            let dst = dst.collect::<Result<_, _>>()?;
            let instr = Instr {
                dst,
                src,
                ..instr.clone()
            };
            batch.made.instrs.push(instr);
        }
        for result in &procedure.results {
            let value = batch.value(result.value)?;
            batch.made.results.push(ResultLimb {
                value,
                name: format!("b{number}.{}", result.name),
                index: of(result.index, results)?,
                poly: result.poly,
            });
        }
    }
    Ok(batch.made)
}

struct Batch<'p> {
    of: &'p Procedure,
    made: Procedure,
    /// For each value of the procedure that all ciphertexts of the batch share, its value in the
    /// batch's procedure. `own` has the values of the current ciphertext.
    shared: HashMap<ValueId, ValueId>,
    own: HashMap<ValueId, ValueId>,
}

impl Batch<'_> {
    fn fresh(&mut self, value: ValueId, shared: bool) -> Result<ValueId, MachineError> {
        let ty = self.of.types.get(value.0 as usize).copied();
        let id = ValueId(self.made.types.len() as u32);
        self.made.types.push(ty.ok_or_else(|| self.malformed())?);
        match shared {
            true => self.shared.insert(value, id),
            false => self.own.insert(value, id),
        };
        Ok(id)
    }

    fn value(&self, value: ValueId) -> Result<ValueId, MachineError> {
        let own = self.own.get(&value).or_else(|| self.shared.get(&value));
        own.copied().ok_or_else(|| self.malformed())
    }

    fn malformed(&self) -> MachineError {
        MachineError::Program(format!(
            "procedure {}: a value that nothing makes",
            self.of.name
        ))
    }
}

impl Prepared {
    /// Returns the procedure for a batch of ciphertexts and its tasks. `together` ciphertexts do
    /// their tasks at a time, so that they share each read of a key. Then the next ciphertexts
    /// begin. The parameters of the returned procedure come in the order of their use, and so do
    /// their places in distant memory, so that the channels bring them in turn. A `together` of 0
    /// counts as 1.
    ///
    /// # Errors
    /// The errors of [`batched`] and [`Prepared::new`].
    pub fn batch(
        d: &Description,
        procedure: &Procedure,
        ciphertexts: u16,
        together: u16,
    ) -> Result<(Procedure, Self), MachineError> {
        let operands = operands(procedure).max(1);
        let prepare = |batch: &Procedure| {
            let owner = |number: usize| -> Option<usize> {
                let param = batch.params.get(number)?;
                operand(&param.role).map(|arg| usize::from(arg / operands))
            };
            // All of them together take as much of the buffer as one alone.
            let piece = (PIECE / usize::from(together.max(1))).max(1);
            Self::in_order(d, batch, piece, |graph, tasks| {
                let (all, together) = (ciphertexts.into(), together.max(1).into());
                in_turns(graph, tasks, [all, together], owner)
            })
        };
        let mut batch = batched(procedure, ciphertexts)?;
        let prepared = prepare(&batch)?;
        let params = prepared.params_by_use.iter();
        let params = params.filter_map(|&number| batch.params.get(number).cloned());
        batch.params = params.collect();
        let prepared = prepare(&batch)?;
        Ok((batch, prepared))
    }
}

/// Orders the tasks of several ciphertexts that do the same work, `together` of them at a time.
/// `owner` is the ciphertext of each parameter, or `None` for keys. Before a task that reads a key,
/// each ciphertext does its earlier tasks, one ciphertext after the other. Then all of them do the
/// task that reads the key. If the ciphertexts have different numbers of tasks, or the
/// first one has a task that no result needs, the order stays.
fn in_turns(
    graph: &Graph,
    tasks: Vec<Task>,
    [ciphertexts, together]: [usize; 2],
    owner: impl Fn(usize) -> Option<usize>,
) -> Vec<Task> {
    let mut owners: Vec<Option<usize>> = vec![None; graph.nodes.len()];
    for (value, node) in graph.nodes.iter().enumerate() {
        if let Node::Param(number) = node {
            owners[value] = owner(*number);
        }
    }
    for &value in &graph.order {
        let reads = graph.nodes[value].reads();
        owners[value] = reads.into_iter().find_map(|read| owners[read]);
    }
    let mut of: Vec<Vec<usize>> = vec![Vec::new(); ciphertexts];
    for (at, task) in tasks.iter().enumerate() {
        let owner = task.writes.iter().find_map(|&value| owners[value]);
        of[owner.unwrap_or(0)].push(at);
    }
    let turns = as_needed(graph, &tasks, &of[0]);
    // All ciphertexts do the same work, so the order of one ciphertext's tasks is that of all.
    if of.iter().any(|own| own.len() != turns.len()) {
        return tasks;
    }
    let reads_key = |turn: usize| {
        let read = tasks[of[0][turn]].reads.iter();
        read.into_iter().any(|value| graph.keys.contains(value))
    };
    // Runs of turns, each up to one that reads a key.
    let runs: Vec<&[usize]> = turns.split_inclusive(|&turn| reads_key(turn)).collect();
    let mut order = Vec::with_capacity(tasks.len());
    for some in of.chunks(together) {
        for run in &runs {
            let Some((last, before)) = run.split_last() else {
                continue;
            };
            for own in some {
                order.extend(before.iter().map(|&turn| own[turn]));
            }
            order.extend(some.iter().map(|own| own[*last]));
        }
    }
    let mut tasks: Vec<Option<Task>> = tasks.into_iter().map(Some).collect();
    order
        .into_iter()
        .filter_map(|at| tasks[at].take())
        .collect()
}

/// Returns the tasks `own` of one ciphertext, as positions in `own`, in the order in which the
/// results need them. Results come in the order of their moduli, each behind the tasks that compute
/// its operands.
fn as_needed(graph: &Graph, tasks: &[Task], own: &[usize]) -> Vec<usize> {
    let makers = makers(tasks);
    let place: HashMap<usize, usize> = own.iter().copied().zip(0..).collect();
    let mut results: Vec<(u16, usize)> = Vec::new();
    for (at, &task) in own.iter().enumerate() {
        let written = tasks[task].writes.iter();
        if written
            .into_iter()
            .any(|value| graph.results.contains(value))
        {
            results.push((tasks[task].modulus, at));
        }
    }
    results.sort_unstable();
    let mut begun = vec![false; own.len()];
    let mut found = Vec::with_capacity(own.len());
    // The stack has tasks, each with whether its operands have been made.
    let mut stack: Vec<(usize, bool)> = Vec::new();
    for (_, result) in results {
        stack.push((result, false));
        while let Some((at, ready)) = stack.pop() {
            if ready {
                found.push(at);
                continue;
            }
            if std::mem::replace(&mut begun[at], true) {
                continue;
            }
            stack.push((at, true));
            let before = makers[own[at]].iter().rev();
            let before = before.filter_map(|maker| place.get(maker));
            stack.extend(before.map(|&at| (at, false)));
        }
    }
    found
}
