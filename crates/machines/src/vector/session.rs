// SPDX-License-Identifier: Apache-2.0
//! Runs a program's calls on the vector machine's cycle model, fed one after another.
//!
//! Each call is placed, lowered to micro instructions, and timed from the state in which the calls before it left the
//! machine. If the same procedure was called in the same state before, the call is not timed again but replayed. A
//! state is everything on which times depend:
//!
//! - the arguments' places in the buffer, and the channels of their copies in distant memory,
//! - which arguments are one limb, which belong to an input ciphertext or plaintext, and which a later call needs,
//! - the other limbs in the buffer, in the order of their use, with the channels of their copies,
//! - the limbs that die with the call,
//! - the items in the pipelines, the port, the instruction queue and the channels of distant memory.
//!
//! The machine does not wait for its pipelines to empty between calls. Times do not depend on the numbers of the
//! buffer's places. So places are renumbered between calls, and two states that differ only in the numbers are one.
//!
//! The cost of a replay depends on the call's arguments and the buffer's places, and not on the call's instructions.
//! Each state is stored once, and states are compared by their numbers.

mod replay;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use ringmill_device::report::Ledger;
use ringmill_isa::macros::Visibility;
use ringmill_isa::mid::{
    Called, Head, HeadInput, InputRole, LimbId, LimbMap, LimbTable, Order, Procedure,
};
use ringmill_isa::vector::{MicroOp, Shape};

use self::replay::{Key, Replay};
use super::buffer::{Buffer, Content, Held};
use super::clockwork::{Clockwork, Decoded, Stuck};
use super::description::Description;
use super::emit::Emitter;
use super::graph::Value;
use super::lower::Prepared;
use super::merge::merge;
use super::place::{Param, Request, StepKind, place};
use super::readers::Readers;
use super::report::CallsUse;
use super::sides::{Side, Sides};
use super::states::{COUNTINGS, Clocks, State, States};
use super::tally::Ops;
/// The time and the counts of one call or of several.
pub use super::tally::Ran;
use crate::{MachineError, SimOptions};

/// The place of a limb of the program during a run, and the calls that use the limb.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The limb's place in the buffer, or `None` if it is not there.
    place: Option<u32>,
    /// The address of the limb's copy in distant memory, in limbs, or `None` if it has no copy there.
    distant: Option<u32>,
    /// The last call that has the limb as an argument. `first` is the index of the first argument of that call that is
    /// the limb.
    call: u64,
    first: u32,
    /// The number of the call after which nothing reads the limb, or 0 before that call.
    dies: u64,
}

/// A run of a program on the vector machine's cycle model.
pub struct Running<'m> {
    d: &'m Description,
    order: Order<'m>,
    /// Whether the program ends with the halt instruction HCF, which waits until the pipelines are empty.
    halts: bool,
    procs: &'m [Arc<Procedure>],
    shape: Shape,
    prepared: Vec<Option<Rc<Prepared>>>,
    buffer: Buffer,
    /// The two halves of distant memory's channels, called sides, or `None` if the number of channels is odd.
    sides: Option<Sides>,
    states: States,
    state: State,
    limbs: LimbTable<Known>,
    inputs: u64,
    /// For each input of the program, the ciphertext or plaintext that a macro `LOAD` brings in; `None` for keys and
    /// exponents.
    operands: Vec<Option<(Visibility, u32)>>,
    /// The ciphertexts and plaintexts that calls have read.
    loaded: HashSet<(Visibility, u32)>,
    /// For each address of distant memory, counted in limbs, whether a limb of an input ciphertext or plaintext was put
    /// there.
    homes: Vec<bool>,
    met: LimbMap<Rc<Replay>, Key>,
    /// The key of the current call: all that the call's times depend on. A call with a key that occurred before is
    /// replayed.
    key: Key,
    options: SimOptions<'m>,
    /// The time of the run's calls by source line and by procedure, in micro-cycles (`micro.buffer` of them make one
    /// cycle of the ciphertext buffer).
    pub ledger: Ledger,
    /// The time and the counts of all calls since the run's start. After [`Self::finish`] it also contains the stores
    /// of outputs and the work that was in the pipelines after the last call.
    pub total: Ran,
    pub calls: u64,
    pub replayed: u64,
    pub stepped: u64,
    /// For each procedure of the program, its calls and their time.
    used: Vec<CallsUse>,
    /// Whether a call in a state that occurred before is replayed, which applies its known effect. Otherwise every
    /// call is timed.
    pub replays: bool,
}

impl<'m> Running<'m> {
    /// Begins a run of a program. `head` has the program's ring degree, moduli, procedures and inputs.
    pub fn new(d: &'m Description, head: &Head<'m>, options: SimOptions<'m>) -> Self {
        let shape = d.shape(head.log_n);
        let inputs = head.inputs.len();
        let distant = d.distant_limbs(shape);
        let mut states = States::default();
        let clock = |counting| Clockwork::new(d, shape, counting);
        let state = states.note(&COUNTINGS.map(clock));
        Self {
            d,
            order: Order::new(head),
            halts: head.halts,
            procs: head.procs,
            shape,
            prepared: vec![None; head.procs.len()],
            buffer: Buffer::new(shape.slots(), distant, 0, d.distant.channels),
            sides: Sides::new(d, shape),
            states,
            state,
            limbs: LimbTable::new(inputs),
            inputs: inputs as u64,
            operands: head.inputs.iter().map(operand).collect(),
            loaded: HashSet::new(),
            homes: Vec::new(),
            met: LimbMap::default(),
            key: Key::default(),
            options,
            ledger: Ledger::default(),
            total: Ran::default(),
            calls: 0,
            replayed: 0,
            stepped: 0,
            used: vec![CallsUse::default(); head.procs.len()],
            replays: true,
        }
    }

    /// Places, lowers and times the program's next call.
    ///
    /// # Errors
    /// An error for a call out of order, or one that the machine cannot run. [`MachineError::Memory`] for a call that
    /// stores limbs for lack of room although the options forbid it. [`MachineError::Halt`] if the options' watch stops
    /// the run.
    pub fn feed(&mut self, called: &Called) -> Result<(), MachineError> {
        self.options.watch.check()?;
        let procedure = self.order.take(called)?;
        let number = called.call.proc as usize;
        self.calls += 1;
        for &limb in &called.dies {
            self.limbs.entry(limb).dies = self.calls;
        }
        self.settle_inputs(called, procedure)?;
        self.look(called);
        let known = self.replays.then(|| self.met.get(&self.key)).flatten();
        let replay = match known.map(Rc::clone) {
            Some(known) => {
                self.replayed += 1;
                self.apply(&known, called)?;
                self.bury(called);
                known
            }
            None => {
                let prepared = self.prepared(number, procedure)?;
                let made = Rc::new(self.step(called, procedure, &prepared)?);
                self.met.insert(self.key.clone(), Rc::clone(&made));
                made
            }
        };
        if let Some(used) = self.used.get_mut(number) {
            used.add(&CallsUse {
                calls: 1,
                micro_cycles: replay.ran.micro[0],
                loading: replay.ran.loading,
                turning: replay.ran.took.of(MicroOp::Morph),
            });
        }
        self.total.add(&replay.ran);
        let call = &called.call;
        let entry = self.ledger.call(call.loc.as_ref(), call.proc);
        self.ledger.spend(entry, replay.ran.micro[0]);
        if let Some(tell) = &mut self.options.progress {
            tell(self.calls);
        }
        Ok(())
    }

    fn prepared(
        &mut self,
        number: usize,
        procedure: &Procedure,
    ) -> Result<Rc<Prepared>, MachineError> {
        if let Some(Some(known)) = self.prepared.get(number) {
            return Ok(Rc::clone(known));
        }
        let made = Rc::new(Prepared::new(self.d, procedure)?);
        if let Some(place) = self.prepared.get_mut(number) {
            *place = Some(Rc::clone(&made));
        }
        Ok(made)
    }

    /// Returns whether the program ends with the halt instruction HCF, which waits until the pipelines are empty.
    pub fn halts(&self) -> bool {
        self.halts
    }

    /// Returns the time since the run's start in micro-cycles (`micro.buffer` of them make one cycle of the
    /// ciphertext buffer). It contains distant memory and instructions.
    pub fn micro(&self) -> u64 {
        self.total.micro[0]
    }

    /// Returns for each procedure that was called, by its name, its calls and their time.
    pub fn procedures(&self) -> BTreeMap<String, CallsUse> {
        let mut found: BTreeMap<String, CallsUse> = BTreeMap::new();
        for (procedure, used) in self.procs.iter().zip(&self.used) {
            if used.calls > 0 {
                let entry = found.entry(procedure.name.clone()).or_default();
                entry.add(used);
            }
        }
        found
    }

    /// Returns the number of the program's input ciphertexts and plaintexts that were an operand of a call so far.
    pub fn loaded(&self) -> u64 {
        self.loaded.len() as u64
    }

    /// Ends the run: waits until the pipelines are empty. Outputs without a copy in distant memory are stored first,
    /// so that the host can take them.
    ///
    /// # Errors
    /// An error if an output is neither an input nor a call's result, or if distant memory is full.
    pub fn finish(&mut self, outputs: &[LimbId]) -> Result<(), MachineError> {
        self.order.check(outputs)?;
        let mut clocks = self.awake()?;
        let were = clocks.each_ref().map(Clockwork::now);
        self.store(outputs, &mut clocks)?;
        for (at, clock) in clocks.iter_mut().enumerate() {
            self.total.micro[at] += clock.drain() - were[at];
            self.total.tally[at] = self.total.tally[at].plus(clock.tally);
            self.total.tally[at].instructions += u64::from(self.halts);
        }
        if self.halts {
            let sent: u64 = self.total.took.iter().map(|(_, micro)| micro).sum();
            self.total.ops.count(MicroOp::Hcf);
            let waited = self.total.micro[0].saturating_sub(sent);
            self.total.took.more(MicroOp::Hcf, waited);
        }
        Ok(())
    }

    /// Returns the number of limbs of distant memory that the run's data and keys take, with the plaintexts that are
    /// new in each call.
    pub fn distant_limbs(&self) -> u64 {
        u64::from(self.buffer.most_distant()) + self.total.hosted
    }

    /// Stores the outputs without a copy in distant memory, on successive channels.
    fn store(&mut self, outputs: &[LimbId], clocks: &mut Clocks) -> Result<(), MachineError> {
        let mut emitter = Emitter::new(self.shape);
        let (mut channel, channels) = (0, self.buffer.channels());
        for &limb in outputs {
            let known = self.known(limb);
            let (Some(place), None) = (known.place, known.distant) else {
                continue;
            };
            let at = self.buffer.take_distant(channel).ok_or_else(full)?;
            channel = (channel + 1) % channels;
            self.limbs.entry(limb).distant = Some(at);
            emitter.fill(StepKind::Store(at), &[], &[place], &[]);
            for instr in &mut emitter {
                let [whole, paper, apart] = &mut *clocks;
                let decoded = whole.decode(&instr);
                let before = whole.now();
                let sent = whole.step_decoded(&decoded, 0).map_err(stuck)?;
                self.total.ops.count(instr.op);
                self.total.took.more(instr.op, sent - before);
                beside([paper, apart], self.sides, &decoded)?;
                self.stepped += 1;
            }
        }
        Ok(())
    }

    fn awake(&self) -> Result<Clocks, MachineError> {
        let clocks = self.states.awake(&self.state, self.shape.slots());
        clocks.ok_or_else(|| MachineError::Program("a state that was not met".to_owned()))
    }

    /// Forgets the limbs that die with a call, and returns their places in the buffer.
    fn bury(&mut self, called: &Called) -> Vec<u32> {
        let mut places = Vec::new();
        for &limb in &called.dies {
            let known = self.limbs.remove(limb).unwrap_or_default();
            places.extend(known.place);
            if let Some(at) = known.distant {
                self.buffer.drop_distant(at);
            }
        }
        places
    }

    /// Renumbers the buffer's places in the order of their use, if some are not in order.
    fn rename(&mut self) {
        if let Some(new) = self.buffer.rename() {
            self.state.rename(&new);
        }
        self.settle();
    }

    /// Notes for each limb in the buffer the number of its place.
    fn settle(&mut self) {
        for (at, content) in (0..).zip(&self.buffer.places) {
            if let Some(content) = content {
                self.limbs.entry(LimbId(content.limb.0)).place = Some(at);
            }
        }
    }

    /// Assigns addresses in distant memory to inputs that no call has read before. They lie there from the beginning,
    /// on successive channels, in the order in which the procedure reads them.
    fn settle_inputs(
        &mut self,
        called: &Called,
        procedure: &Procedure,
    ) -> Result<(), MachineError> {
        let args = &called.call.args;
        let inputs = self.inputs;
        let new = |limbs: &LimbTable<Known>, limb: LimbId| {
            limb.0 < inputs && limbs.get(limb).is_none_or(|known| known.distant.is_none())
        };
        if !args.iter().any(|&limb| new(&self.limbs, limb)) {
            return Ok(());
        }
        let prepared = self.prepared(called.call.proc as usize, procedure)?;
        let channels = self.buffer.channels();
        let mut channel = 0;
        for &at in &prepared.params_by_use {
            let Some(&limb) = args.get(at) else { continue };
            if !new(&self.limbs, limb) {
                continue;
            }
            let home = self.buffer.take_distant(channel).ok_or_else(full)?;
            self.limbs.entry(limb).distant = Some(home);
            if let Some(&Some(operand)) = self.operands.get(limb.0 as usize) {
                self.loaded.insert(operand);
                let home = home as usize;
                self.homes.resize(self.homes.len().max(home + 1), false);
                self.homes[home] = true;
            }
            channel = (channel + 1) % channels;
        }
        Ok(())
    }

    fn known(&self, limb: LimbId) -> Known {
        self.limbs.get(limb).copied().unwrap_or_default()
    }

    /// Returns the parameters, results and masks of a call, and the parameters that have the same limb as an earlier
    /// parameter, each with that parameter.
    fn request<'r>(
        &self,
        called: &Called,
        procedure: &'r Procedure,
        prepared: &Prepared,
    ) -> (Request<'r>, HashMap<Value, Value>) {
        let call = &called.call;
        let mut same = HashMap::new();
        let mut params = Vec::with_capacity(call.args.len());
        for (at, (param, &limb)) in procedure.params.iter().zip(&call.args).enumerate() {
            let value = param.value.0 as Value;
            let known = self.known(limb);
            let first = known.first as usize;
            if first != at {
                let of = procedure.params.get(first);
                same.insert(value, of.map_or(0, |p| p.value.0 as Value));
                continue;
            }
            if prepared.graph.hosted.fresh(at).is_some() {
                // A new limb in each call, which the host puts into the operand's place in distant memory.
                params.push(Param {
                    value,
                    limb: Held(u64::MAX - at as u64),
                    place: None,
                    distant: Some(known.distant.unwrap_or(0)),
                    later: false,
                });
                continue;
            }
            params.push(Param {
                value,
                limb: Held(limb.0),
                place: known.place,
                distant: known.distant,
                later: known.dies != self.calls,
            });
        }
        let results = prepared.graph.results.iter().zip(&call.results);
        let request = Request {
            procedure: &procedure.name,
            params,
            results: results
                .map(|(&value, limb)| (value, Held(limb.0)))
                .collect(),
            masks: prepared.masks(),
            replacement: self.d.replacement,
        };
        (request, same)
    }

    /// Assigns places to the limbs of a call, generates its instructions and times them. Returns the effect of the
    /// call.
    fn step(
        &mut self,
        called: &Called,
        procedure: &Procedure,
        prepared: &Prepared,
    ) -> Result<Replay, MachineError> {
        let before: Vec<Option<Content>> = self.buffer.places.clone();
        let (request, same) = self.request(called, procedure, prepared);
        let tasks = &prepared.tasks;
        let placed = match same.is_empty() {
            true => place(&mut self.buffer, tasks, &prepared.readers, &request)?,
            false => {
                let readers = Readers::new(prepared.readers.values(), tasks, same);
                place(&mut self.buffer, tasks, &readers, &request)?
            }
        };
        if !self.options.spill && placed.spilled > 0 {
            return Err(MachineError::Memory {
                procedure: procedure.name.clone(),
                needs: placed.peak + placed.spilled as usize,
                live: before.iter().flatten().count(),
                slots: before.len(),
            });
        }
        let mut clocks = self.awake()?;
        let were = clocks.each_ref().map(Clockwork::now);
        let mut ops = Ops::default();
        let mut took = Ops::default();
        let mut last = were[0];
        let (homes, chunks) = (&self.homes, self.shape.limb_chunks());
        let mut loading = 0;
        let [whole, paper, apart] = &mut clocks;
        let sides = self.sides;
        let watch = &self.options.watch;
        merge(
            (&placed, tasks),
            self.shape,
            self.d.schedule,
            whole,
            |instr, decoded, at| {
                ops.count(instr.op);
                took.more(instr.op, at - last);
                if instr.op == MicroOp::Load {
                    let home = (instr.n / chunks) as usize;
                    let operand = homes.get(home).copied().unwrap_or(false);
                    loading += if operand { at - last } else { 0 };
                }
                last = at;
                beside([paper, apart], sides, decoded)
            },
            || Ok(watch.check()?),
        )?;
        let ran = Ran {
            micro: [0, 1, 2].map(|at| clocks[at].now() - were[at]),
            tally: clocks.each_ref().map(|clock| clock.tally),
            ops,
            took,
            loading,
            peak: placed.peak,
            loads: placed.loads,
            spilled: placed.spilled,
            reloaded: placed.reloaded,
            made: placed.made,
            floors: prepared.floors,
            hosted: prepared.hosted,
        };
        self.stepped += ran.tally[0].instructions;
        for (&limb, &at) in &placed.distant {
            // Inputs stay at their addresses in distant memory.
            if limb.0 >= self.inputs {
                self.limbs.entry(LimbId(limb.0)).distant = Some(at);
            }
        }
        self.state = self.states.note(&clocks);
        for content in before.iter().flatten() {
            self.limbs.entry(LimbId(content.limb.0)).place = None;
        }
        self.rename();
        for place in self.bury(called) {
            self.buffer.release(place);
        }
        self.rename();
        self.replay(called, &before, &placed, ran)
    }
}

/// Returns the ciphertext or plaintext to which an input's limb belongs, or `None` for a key or exponent.
fn operand(input: &HeadInput) -> Option<(Visibility, u32)> {
    match input.role {
        InputRole::Cipher { input, .. } => Some((Visibility::Encrypted, input)),
        InputRole::Plain { input } => Some((Visibility::Plain, input)),
        InputRole::Key { .. } | InputRole::Exponent { .. } => None,
    }
}

/// Sends an instruction to the second and the third simulated machine. The second leaves out the time of distant
/// memory and of instructions; the third has the program's limbs on half of the channels.
fn beside(
    [paper, apart]: [&mut Clockwork; 2],
    sides: Option<Sides>,
    instr: &Decoded,
) -> Result<(), MachineError> {
    paper.step_decoded(instr, 0).map_err(stuck)?;
    let moved = sides.map_or(*instr, |sides| sides.moved(Side::First, instr));
    apart.step_decoded(&moved, 0).map_err(stuck)?;
    Ok(())
}

fn stuck(stuck: Stuck) -> MachineError {
    MachineError::Program(stuck.to_string())
}

fn full() -> MachineError {
    MachineError::Program("distant memory is full (`distant.gbyte`)".to_owned())
}
