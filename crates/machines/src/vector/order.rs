// SPDX-License-Identifier: Apache-2.0
//! Orders a procedure's work on the vector machine, as the description's field `schedule` says: the tasks with the
//! longest path to the end come first, or the tasks keep the procedure's order.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use ringmill_isa::vector::Shape;

use super::code::{Code, Spot, code};
use super::description::{Description, Order};
use super::graph::{Graph, Node, Value};
use super::kernel::Kernels;
use crate::MachineError;

/// The kind of work that a task does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// The task computes the sums of a kernel, chunk by chunk, by the kernel's code.
    Sums(Code),
    Forward,
    Inverse,
    Morph(u32),
}

/// A task of a procedure: the work of one unit on whole limbs, with the values that it reads and writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    pub work: Work,
    pub modulus: u16,
    pub reads: Vec<Value>,
    pub writes: Vec<Value>,
    /// The cycles for which the task occupies the buffer's port. `micro` has the time in which the task's unit
    /// works, in micro-cycles (`micro.buffer` of them make one cycle of the ciphertext buffer).
    pub port: u64,
    pub micro: u64,
}

impl Task {
    fn is_sums(&self) -> bool {
        matches!(self.work, Work::Sums(_))
    }
}

/// Returns the tasks that compute the values of a graph that its results need. They are in the order of the procedure,
/// but each comes after those that compute its operands.
///
/// # Errors
/// The errors of [`code`] for a kernel (sums that are computed together, chunk by chunk).
pub fn tasks(
    d: &Description,
    shape: Shape,
    graph: &Graph,
    kernels: &Kernels,
) -> Result<Vec<Task>, MachineError> {
    let chunks = u64::from(shape.limb_chunks());
    let mut kernels_at: HashMap<Value, Vec<usize>> = HashMap::new();
    for (number, kernel) in kernels.kernels.iter().enumerate() {
        // The kernel's task stands once, where its first limb is computed.
        if let Some(&first) = kernel.written.first() {
            kernels_at.entry(first).or_default().push(number);
        }
    }
    // Whether the results need each value; others are not computed.
    let mut used = vec![false; graph.nodes.len()];
    for &value in graph.results.iter().chain(graph.order.iter().rev()) {
        let result = graph.results.contains(&value);
        if result && let Some(place) = used.get_mut(value) {
            *place = true;
        }
        if used.get(value) == Some(&true) {
            for read in graph.nodes.get(value).map(Node::reads).unwrap_or_default() {
                if let Some(place) = used.get_mut(read) {
                    *place = true;
                }
            }
        }
    }
    let mut found = Vec::new();
    for &value in graph.order.iter().filter(|&&v| used.get(v) == Some(&true)) {
        let modulus = graph.modulus.get(value).copied().unwrap_or(0);
        let passes = |work, from, port, micro| Task {
            work,
            modulus,
            reads: vec![from],
            writes: vec![value],
            port: port * chunks,
            micro: micro * chunks,
        };
        let beat = 2 * d.micro.transform;
        match graph.nodes.get(value) {
            Some(&Node::Forward(from)) => found.push(passes(Work::Forward, from, 4, 2 * beat)),
            Some(&Node::Inverse(from)) => found.push(passes(Work::Inverse, from, 4, 2 * beat)),
            Some(&Node::Morph { from, galois }) => {
                found.push(passes(Work::Morph(galois), from, 2, beat));
            }
            Some(Node::Sum(_)) => {
                let Some(of) = kernels_at.get(&value) else {
                    continue;
                };
                for kernel in of.iter().filter_map(|&at| kernels.kernels.get(at)) {
                    let registers = usize::from(shape.registers);
                    let code = code(graph, &kernels.buffered, kernel, registers)?;
                    let buffer = |spot: Spot| u64::from(matches!(spot, Spot::Buffer(_)));
                    let of = code.lines.iter();
                    let port: u64 = of.map(|l| buffer(l.a).max(buffer(l.b)) + buffer(l.d)).sum();
                    found.push(Task {
                        modulus,
                        reads: kernel.reads.clone(),
                        writes: kernel.written.clone(),
                        port: port * chunks,
                        micro: code.lines.len() as u64 * d.micro.mac * chunks,
                        work: Work::Sums(code),
                    });
                }
            }
            Some(Node::Param(_) | Node::Mask(_) | Node::Inlined) | None => {}
        }
    }
    Ok(sorted(found))
}

/// Returns for each task of the list the tasks that compute its operands.
pub(super) fn makers(tasks: &[Task]) -> Vec<Vec<usize>> {
    let maker: HashMap<Value, usize> = tasks
        .iter()
        .enumerate()
        .flat_map(|(at, task)| task.writes.iter().map(move |&value| (value, at)))
        .collect();
    let of = tasks.iter().map(|task| {
        let made = task
            .reads
            .iter()
            .filter_map(|value| maker.get(value).copied());
        let mut made: Vec<usize> = made.collect();
        made.sort_unstable();
        made.dedup();
        made
    });
    of.collect()
}

/// Sorts the tasks so that each comes after those that compute its operands, and otherwise keeps their
/// order.
fn sorted(tasks: Vec<Task>) -> Vec<Task> {
    let makers = makers(&tasks);
    let mut missing: Vec<usize> = makers.iter().map(Vec::len).collect();
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); tasks.len()];
    for (at, makers) in makers.iter().enumerate() {
        for &maker in makers {
            after[maker].push(at);
        }
    }
    let free = missing.iter().enumerate().filter(|(_, n)| **n == 0);
    let mut ready: BinaryHeap<Reverse<usize>> = free.map(|(at, _)| Reverse(at)).collect();
    let mut tasks: Vec<Option<Task>> = tasks.into_iter().map(Some).collect();
    let mut found = Vec::with_capacity(tasks.len());
    while let Some(Reverse(at)) = ready.pop() {
        found.extend(tasks[at].take());
        for &next in &after[at] {
            missing[next] -= 1;
            if missing[next] == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    found
}

/// Returns the tasks in the order in which the machine begins them, as the description's `schedule` says.
pub fn ordered(d: &Description, tasks: Vec<Task>) -> Vec<Task> {
    match d.schedule {
        Order::InOrder => tasks,
        Order::Overlapped => overlapped(d, tasks),
    }
}

/// Orders the tasks by list scheduling on two units, for transforms and for sums, which share the buffer's
/// port. The task with the longest path to the end goes first.
fn overlapped(d: &Description, tasks: Vec<Task>) -> Vec<Task> {
    let length = |task: &Task| task.micro.max(task.port * d.micro.buffer);
    let before = makers(&tasks);
    let mut way = vec![0u64; tasks.len()];
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); tasks.len()];
    for (at, task) in tasks.iter().enumerate().rev() {
        way[at] += length(task);
        for &maker in &before[at] {
            way[maker] = way[maker].max(way[at]);
            after[maker].push(at);
        }
    }
    let mut missing: Vec<usize> = before.iter().map(Vec::len).collect();
    // The time at which all operands of each task are computed.
    let mut ready_at = vec![0u64; tasks.len()];
    let mut ready: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
    let unit = |at: usize| usize::from(tasks[at].is_sums());
    for at in 0..tasks.len() {
        if missing[at] == 0 {
            ready[unit(at)].push(at);
        }
    }
    let mut free = [0u64; 2];
    let mut port = 0u64;
    let mut begun: Vec<(u64, usize)> = Vec::with_capacity(tasks.len());
    while begun.len() < tasks.len() {
        // The unit that can begin first; on it, among the tasks that are ready by then, the longest path.
        let can = |unit: usize| {
            let first = ready[unit].iter().map(|&at| ready_at[at]).min()?;
            Some(first.max(free[unit]))
        };
        let unit_of = match (can(0), can(1)) {
            (Some(a), Some(b)) if b < a => 1,
            (None, Some(_)) => 1,
            _ => 0,
        };
        let Some(time) = can(unit_of) else { break };
        let there = ready[unit_of].iter().enumerate();
        let there = there.filter(|&(_, &at)| ready_at[at] <= time);
        // Among tasks with equal paths, the first of the procedure.
        let best = there.max_by_key(|&(_, &at)| (way[at], Reverse(at)));
        let Some((place, _)) = best else { break };
        let at = ready[unit_of].swap_remove(place);
        // Both units share the port.
        port = port.max(time) + tasks[at].port * d.micro.buffer;
        let end = port.max(time + length(&tasks[at]));
        free[unit_of] = end;
        begun.push((time, at));
        for &next in &after[at] {
            missing[next] -= 1;
            ready_at[next] = ready_at[next].max(end);
            if missing[next] == 0 {
                ready[unit(next)].push(next);
            }
        }
    }
    begun.sort_by_key(|&(time, at)| (time, at));
    let mut tasks: Vec<Option<Task>> = tasks.into_iter().map(Some).collect();
    let all = begun.into_iter();
    all.filter_map(|(_, at)| tasks.get_mut(at).and_then(Option::take))
        .collect()
}
