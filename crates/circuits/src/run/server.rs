// SPDX-License-Identifier: Apache-2.0
//! Runs a circuit's bootstraps on several threads. A blind rotation may start as soon as its operand is computed, and
//! those with the longest path to an output start first.

use std::collections::hash_map::Entry;
use std::collections::{BinaryHeap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ringmill_device::progress::{Progress, Step};
use ringmill_device::saving::{Schedule, save_at_last};
use ringmill_device::{CheckpointError, Saving};
use ringmill_limits::Watch;

use super::CircuitRunError;
use super::checkpoint::{self, Reached, Whose};
use super::engine::{Engine, Wanted, Worker};
use crate::circuit::Graph;
use crate::circuit::graph::{Basis, Table};
use crate::circuit::sum::{Sum, Wire};
use crate::tfhe::{LinearEvaluator, LookupTable, LweCiphertext, Messages, Params};

/// The least time between two reports of progress. The report of the last blind rotation does not wait.
const PERIOD: Duration = Duration::from_millis(200);

/// A server that runs circuits: an engine with evaluation keys, the number of threads, and the observers of a run.
pub struct Server<'a> {
    pub engine: Engine<'a>,
    pub threads: usize,
    pub watch: &'a Watch,
    pub progress: &'a dyn Progress,
}

/// The path to which a run saves checkpoints, and the checkpoint from which the run continues. Both are optional.
#[derive(Clone, Debug, Default)]
pub struct Keeping {
    pub saving: Option<Saving>,
    pub resume: Option<PathBuf>,
}

/// The output ciphertexts of a circuit's run, with its time, threads and memory.
#[derive(Debug)]
pub struct CircuitRun {
    pub outputs: Vec<LweCiphertext>,
    pub elapsed: Duration,
    pub threads: usize,
    /// The largest number of wires whose ciphertexts the run had in memory at a time, inputs included. Sums of wires,
    /// which are operands and outputs, do not count.
    pub peak_wires: usize,
}

/// The state of a circuit's run that its threads share under a lock.
struct State<'a> {
    /// The numbers of the blind rotations whose operands are computed. The rotation with the longest path to an output
    /// comes first.
    ready: BinaryHeap<(usize, std::cmp::Reverse<usize>)>,
    /// For each blind rotation the number of its operand's wires that are not computed yet.
    missing: Vec<usize>,
    wires: Vec<Option<Arc<LweCiphertext>>>,
    /// For each wire of the circuit the number of sums that still read it. At 0 the wire's ciphertext is dropped.
    uses: Vec<usize>,
    /// For each lookup of the circuit whether its result is computed.
    finished: Vec<bool>,
    live: usize,
    peak: usize,
    /// The number of blind rotations of the circuit that are computed so far.
    done: usize,
    failed: Option<CircuitRunError>,
    /// The time of the last report of progress, or `None` before the first report.
    told: Option<Instant>,
    saver: Option<Saver<'a>>,
}

/// The writer of a run's checkpoints. It knows the file, the time between two writes, and the circuit and inputs to
/// which the file belongs.
struct Saver<'a> {
    schedule: Schedule<'a>,
    whose: Whose,
    params: &'a Params,
}

impl<'a> Saver<'a> {
    fn new(
        saving: &'a Saving,
        whose: Whose,
        server: &'a Server<'_>,
    ) -> Result<Self, CheckpointError> {
        Ok(Self {
            schedule: Schedule::new(saving, server.progress)?,
            whose,
            params: server.engine.linear().params(),
        })
    }

    /// Writes a checkpoint of a run that goes on. A file that cannot be written is no error: the failure is reported,
    /// and a later call tries again.
    fn save(&mut self, reached: &Reached) -> Result<(), CircuitRunError> {
        let bytes = checkpoint::bytes(self.whose, self.params, reached)?;
        let path = &self.schedule.saving().path;
        Ok(self.schedule.save(|| checkpoint::put(path, &bytes))?)
    }

    /// Writes a checkpoint of a run that stops before it is complete.
    fn save_at_last(&self, reached: &Reached) -> Result<(), CircuitRunError> {
        let bytes = checkpoint::bytes(self.whose, self.params, reached)?;
        let path = &self.schedule.saving().path;
        Ok(save_at_last(|| checkpoint::put(path, &bytes))?)
    }
}

/// The tables and the order of a circuit's blind rotations, which do not change during a run.
struct Plan<'a> {
    graph: &'a Graph,
    /// The encoded table of each different lookup of digits. Gates of bits need none, as they read the sign.
    tables: HashMap<Table, LookupTable>,
    /// For each blind rotation the numbers of the lookups that share it, one or several.
    rotations: Vec<Vec<usize>>,
    /// For each wire the blind rotations whose operand contains it.
    takers: Vec<Vec<usize>>,
    /// For each blind rotation the number of rotations on its longest path to an output, itself included.
    height: Vec<usize>,
    begin: Instant,
    /// The number of blind rotations that were computed before the checkpoint from which the run continues.
    before: usize,
}

/// Runs a circuit on the ciphertexts of its inputs, and returns the ciphertexts of its outputs. The result does not
/// depend on the number of threads.
///
/// # Errors
/// [`CircuitRunError::OtherBasis`] if the parameters are for other messages than the circuit, and
/// [`CircuitRunError::Ciphertexts`] for another number of inputs. [`CircuitRunError::Tfhe`] or
/// [`CircuitRunError::Bootstrap`] for ciphertexts of other keys or parameters, and for a device that fails.
/// [`CircuitRunError::Threads`] if threads do not start, [`CircuitRunError::Worker`] if one of them panics, and
/// [`CircuitRunError::Checkpoint`]. [`CircuitRunError::Halt`] if the run is stopped or memory runs out. A halted run is
/// saved if the caller asked for checkpoints.
pub fn run(
    graph: &Graph,
    server: &Server<'_>,
    inputs: Vec<LweCiphertext>,
    keeping: &Keeping,
) -> Result<CircuitRun, CircuitRunError> {
    let linear = server.engine.linear();
    let params = linear.params();
    let messages = params.sizes().messages;
    match (graph.basis, messages) {
        (Basis::Bits, Messages::Booleans) | (Basis::Digits, Messages::CIRCUITS) => {}
        (basis, _) => return Err(CircuitRunError::OtherBasis { basis }),
    }
    if inputs.len() != graph.inputs as usize {
        return Err(CircuitRunError::Ciphertexts {
            port: "the circuit's inputs".to_owned(),
            expected: graph.inputs as usize,
            got: inputs.len(),
        });
    }
    let begin = Instant::now();
    let kept = keeping.saving.is_some() || keeping.resume.is_some();
    let whose = kept.then(|| Whose::of(graph, &inputs));
    let reached = match (&keeping.resume, whose) {
        (Some(path), Some(whose)) => checkpoint::read(path, whose, params, graph, server.watch)?,
        _ => Reached {
            done: vec![false; graph.lookups.len()],
            ciphertexts: Vec::new(),
        },
    };
    let saver = keeping.saving.as_ref().zip(whose);
    let saver = saver.map(|(saving, whose)| Saver::new(saving, whose, server));
    let saver = saver.transpose()?;
    let plan = Plan::new(graph, linear, &reached, begin)?;
    let threads = server.threads.clamp(1, plan.rotations.len().max(1));
    let state = Mutex::new(plan.start(inputs, reached, saver));
    let changed = Condvar::new();
    std::thread::scope(|scope| -> Result<(), CircuitRunError> {
        let mut workers = Vec::with_capacity(threads);
        for _ in 1..threads {
            let (plan, state, changed) = (&plan, &state, &changed);
            let worker = std::thread::Builder::new()
                .spawn_scoped(scope, move || plan.work(server, state, changed));
            match worker {
                Ok(worker) => workers.push(worker),
                Err(e) => {
                    // Threads that already run finish their current rotation and end.
                    lock(state).failed = Some(CircuitRunError::Threads {
                        threads,
                        reason: e.to_string(),
                    });
                    break;
                }
            }
        }
        plan.work(server, &state, &changed);
        changed.notify_all();
        for worker in workers {
            worker.join().map_err(|_| CircuitRunError::Worker)?;
        }
        Ok(())
    })?;
    let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = state.failed {
        if let (CircuitRunError::Halt(_), Some(saver)) = (&error, &state.saver) {
            saver.save_at_last(&plan.reached(&state.finished, &state.wires))?;
        }
        return Err(error);
    }
    let wire = |wire: Wire| state.wires[wire.0 as usize].as_deref();
    let outputs = graph.outputs.iter();
    let outputs = outputs.map(|sum| summed(linear, sum, wire));
    Ok(CircuitRun {
        outputs: outputs.collect::<Result<_, _>>()?,
        elapsed: begin.elapsed(),
        threads,
        peak_wires: state.peak,
    })
}

/// Returns the sum of wires that all lookups of a blind rotation read.
fn operand<'a>(graph: &'a Graph, rotation: &[usize]) -> &'a Sum {
    &graph.lookups[rotation[0]].operand
}

/// Computes the ciphertext of a sum of wires whose own ciphertexts are in memory.
fn summed<'a>(
    linear: &LinearEvaluator,
    sum: &Sum,
    wire: impl Fn(Wire) -> Option<&'a LweCiphertext>,
) -> Result<LweCiphertext, CircuitRunError> {
    let mut terms = Vec::with_capacity(sum.terms().len());
    for &(at, factor) in sum.terms() {
        terms.push((factor, wire(at).ok_or(CircuitRunError::Worker)?));
    }
    Ok(linear.sum(&terms, sum.halves())?)
}

impl<'a> Plan<'a> {
    fn new(
        graph: &'a Graph,
        linear: &LinearEvaluator,
        reached: &Reached,
        begin: Instant,
    ) -> Result<Self, CircuitRunError> {
        let mut tables = HashMap::new();
        for lookup in &graph.lookups {
            if graph.basis == Basis::Digits
                && let Entry::Vacant(entry) = tables.entry(lookup.table)
            {
                let halves = lookup.table.map(i64::from);
                entry.insert(LookupTable::of_halves(linear.params(), &halves)?);
            }
        }
        let rotations = graph.rotations();
        let mut takers = vec![Vec::new(); graph.wires()];
        // The rotation of each lookup.
        let mut giver = vec![0; graph.lookups.len()];
        for (i, rotation) in rotations.iter().enumerate() {
            rotation.iter().for_each(|&at| giver[at] = i);
            for &(wire, _) in operand(graph, rotation).terms() {
                takers[wire.0 as usize].push(i);
            }
        }
        let mut height = vec![1; rotations.len()];
        for (i, rotation) in rotations.iter().enumerate().rev() {
            for &(wire, _) in operand(graph, rotation).terms() {
                if let Some(source) = graph.source(wire) {
                    let source = giver[source];
                    height[source] = height[source].max(height[i] + 1);
                }
            }
        }
        let done = |rotation: &&Vec<usize>| rotation.iter().all(|&at| reached.done[at]);
        let before = rotations.iter().filter(done).count();
        Ok(Self {
            graph,
            tables,
            rotations,
            takers,
            height,
            begin,
            before,
        })
    }

    /// Returns the progress of the run in the form in which a checkpoint stores it.
    fn reached(&self, done: &[bool], wires: &[Option<Arc<LweCiphertext>>]) -> Reached {
        let first = self.graph.inputs as usize;
        let kept = checkpoint::kept(self.graph, done).into_iter();
        Reached {
            done: done.to_vec(),
            ciphertexts: kept
                .filter_map(|at| wires[first + at].as_deref().cloned())
                .collect(),
        }
    }

    fn start<'s>(
        &self,
        inputs: Vec<LweCiphertext>,
        reached: Reached,
        saver: Option<Saver<'s>>,
    ) -> State<'s> {
        let graph = self.graph;
        let Reached { done, ciphertexts } = reached;
        let uses = checkpoint::uses(graph, &done);
        let first = graph.inputs as usize;
        let mut wires: Vec<_> = inputs.into_iter().map(|x| Some(Arc::new(x))).collect();
        wires.resize_with(graph.wires(), || None);
        for (at, ciphertext) in checkpoint::kept(graph, &done).into_iter().zip(ciphertexts) {
            wires[first + at] = Some(Arc::new(ciphertext));
        }
        let waits = |&&(wire, _): &&(Wire, i64)| graph.source(wire).is_some_and(|at| !done[at]);
        let rotations = self.rotations.iter();
        let missing: Vec<usize> = rotations
            .map(|rotation| {
                operand(graph, rotation)
                    .terms()
                    .iter()
                    .filter(waits)
                    .count()
            })
            .collect();
        let all = missing.iter().zip(&self.rotations).enumerate();
        let ready = all.filter(|(_, (missing, rotation))| **missing == 0 && !done[rotation[0]]);
        let ready = ready.map(|(i, _)| (self.height[i], std::cmp::Reverse(i)));
        let live = wires.iter().flatten().count();
        State {
            ready: ready.collect(),
            missing,
            uses,
            live,
            peak: live,
            done: self.before,
            finished: done,
            failed: None,
            told: None,
            saver,
            wires,
        }
    }

    /// Runs blind rotations in one thread until none is left, or one fails in any thread.
    fn work(&self, server: &Server<'_>, state: &Mutex<State<'_>>, changed: &Condvar) {
        let mut worker = server.engine.worker(server.watch);
        let mut held = lock(state);
        loop {
            if held.failed.is_some() || held.done == self.rotations.len() {
                return;
            }
            let Some((_, std::cmp::Reverse(at))) = held.ready.pop() else {
                held = changed.wait(held).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let terms = operand(self.graph, &self.rotations[at]).terms();
            let operands: Vec<(Wire, Option<Arc<LweCiphertext>>)> = terms
                .iter()
                .map(|&(wire, _)| (wire, held.wires[wire.0 as usize].clone()))
                .collect();
            drop(held);
            let result = self.rotate(server, &mut worker, at, &operands);
            drop(operands);
            held = lock(state);
            match result {
                Ok(outputs) => self.finished(server, &mut held, at, outputs),
                Err(error) => held.failed = held.failed.take().or(Some(error)),
            }
            changed.notify_all();
            // The thread that saves takes the saver out of the state, so that no other thread saves meanwhile.
            let goes_on = held.failed.is_none();
            let due = held
                .saver
                .take_if(|saver| goes_on && saver.schedule.is_due());
            if let Some(mut saver) = due {
                let reached = self.reached(&held.finished, &held.wires);
                drop(held);
                let saved = saver.save(&reached);
                held = lock(state);
                held.saver = Some(saver);
                held.failed = held.failed.take().or(saved.err());
            }
        }
    }

    fn rotate(
        &self,
        server: &Server<'_>,
        worker: &mut Worker<'_>,
        at: usize,
        operands: &[(Wire, Option<Arc<LweCiphertext>>)],
    ) -> Result<Vec<LweCiphertext>, CircuitRunError> {
        server.watch.check()?;
        let rotation = &self.rotations[at];
        let wire = |wanted: Wire| {
            let found = operands.iter().find(|(wire, _)| *wire == wanted);
            found.and_then(|(_, x)| x.as_deref())
        };
        let operand = summed(server.engine.linear(), operand(self.graph, rotation), wire)?;
        let table = |at: usize| self.tables.get(&self.graph.lookups[at].table);
        let wanted = match (self.graph.basis, rotation.as_slice()) {
            (Basis::Bits, _) => Wanted::Sign,
            (Basis::Digits, &[at]) if !self.graph.lookups[at].shared => {
                Wanted::Table(table(at).ok_or(CircuitRunError::Worker)?)
            }
            (Basis::Digits, all) => {
                let tables: Option<Vec<_>> = all.iter().map(|&at| table(at)).collect();
                Wanted::Shared(tables.ok_or(CircuitRunError::Worker)?)
            }
        };
        worker.look_up(&wanted, &operand)
    }

    /// Stores the results of a blind rotation, drops wires that nothing needs any more, and makes waiting rotations
    /// ready.
    fn finished(
        &self,
        server: &Server<'_>,
        state: &mut State<'_>,
        at: usize,
        outputs: Vec<LweCiphertext>,
    ) {
        for (&lookup, output) in self.rotations[at].iter().zip(outputs) {
            let wire = self.graph.inputs as usize + lookup;
            state.finished[lookup] = true;
            state.wires[wire] = Some(Arc::new(output));
            state.live += 1;
            state.peak = state.peak.max(state.live);
            for &(operand, _) in self.graph.lookups[lookup].operand.terms() {
                let operand = operand.0 as usize;
                state.uses[operand] -= 1;
                if state.uses[operand] == 0 {
                    state.wires[operand] = None;
                    state.live -= 1;
                }
            }
            for &taker in &self.takers[wire] {
                state.missing[taker] -= 1;
                if state.missing[taker] == 0 {
                    let height = self.height[taker];
                    state.ready.push((height, std::cmp::Reverse(taker)));
                }
            }
        }
        state.done += 1;
        let (done, total) = (state.done, self.rotations.len());
        if state.told.is_none_or(|told| told.elapsed() > PERIOD) || done == total {
            state.told = Some(Instant::now());
            let elapsed = self.begin.elapsed();
            let left = elapsed.mul_f64((total - done) as f64 / (done - self.before) as f64);
            server.progress.step(Step {
                stage: "bootstrapping",
                done: done as u64,
                total: total as u64,
                elapsed,
                remaining: Some(left),
            });
        }
    }
}

fn lock<'l, 's>(state: &'l Mutex<State<'s>>) -> MutexGuard<'l, State<'s>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
