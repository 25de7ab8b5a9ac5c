//! A program's calls, fed one after another: each is placed, made into micro instructions and timed from the state in which
//! the calls before it left the machine; a call in a state that was met before is replayed.
//!
//! A state is everything that times depend on: which arguments lie in the buffer and which of them distant memory has, too,
//! what else lies there in the order of its use, what is under way in the pipelines, the port, the queue and distant memory's
//! channels. Nothing is flushed between calls. Times do not depend on the numbers of the buffer's places, so places are renamed
//! before each call and two states that differ in the numbers alone are one.

use std::collections::HashMap;
use std::rc::Rc;

use ringmill_isa::mid::{Called, Head, LimbId, LimbMap, Order, Procedure};
use ringmill_isa::vector::{MicroOp, Shape};

use super::clockwork::{Clockwork, Counting};
use super::description::Description;
use super::graph::Value;
use super::lower::Prepared;
use super::merge::merge;
use super::place::{Buffer, Content, Held, Request, place};
use super::tally::Tally;
use crate::{MachineError, SimOptions};

/// The machine between two calls.
#[derive(Clone, Debug)]
struct State {
    buffer: Buffer,
    /// With all times counted.
    whole: Clockwork,
    /// By the paper's own counting, sent the same instructions.
    paper: Clockwork,
}

/// Who a limb is, seen from a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Who {
    Param(usize),
    Result(usize),
    /// The place where it was before the call.
    Other(u32),
}

/// What a call's times depend on.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    procedure: u32,
    /// Of each argument: the first one that is the same limb, its place, whether it is needed later, the channel of its limb
    /// in distant memory.
    args: Vec<(usize, Option<u32>, bool, Option<u32>)>,
    /// Of each place in use: whether distant memory has its limb, too, and on which channel.
    places: Vec<Option<u32>>,
    whole: Clockwork,
    paper: Clockwork,
}

/// What a call does to a state.
struct Replay {
    places: Vec<Option<(Who, Option<Who>, u64)>>,
    free: Vec<u32>,
    /// Limbs that went to distant memory, and on which channel.
    distant: Vec<(Who, u32)>,
    state: [Clockwork; 2],
    ran: Ran,
}

/// What one run of a call took.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// Micro-cycles, all counted and by the paper's counting.
    pub micro: [u64; 2],
    pub tally: [Tally; 2],
    pub ops: HashMap<MicroOp, u64>,
    pub peak: usize,
    pub loads: u64,
    pub spilled: u64,
    pub reloaded: u64,
    pub floors: [u64; 2],
    /// Plaintexts that the host worked on and sent.
    pub hosted: u64,
}

/// A run of a program.
pub struct Running<'m> {
    d: &'m Description,
    order: Order<'m>,
    shape: Shape,
    prepared: HashMap<u32, Rc<Prepared>>,
    state: State,
    /// Limbs that are in distant memory: where.
    distant: LimbMap<u32>,
    inputs: u64,
    met: HashMap<Key, Rc<Replay>>,
    options: SimOptions<'m>,
    /// Sums over all calls.
    pub total: Ran,
    pub calls: u64,
    pub replayed: u64,
    pub stepped: u64,
    pub procedures: std::collections::BTreeMap<String, (u64, u64)>,
    /// States are looked up.
    pub replays: bool,
}

impl<'m> Running<'m> {
    /// A run on a program's head.
    pub fn new(d: &'m Description, head: &Head<'m>, options: SimOptions<'m>) -> Self {
        let shape = d.shape(head.log_n);
        let inputs = head.inputs.len() as u64;
        let limbs = d.distant_limbs(shape);
        Self {
            d,
            order: Order::new(head),
            shape,
            prepared: HashMap::new(),
            state: State {
                buffer: Buffer::new(shape.slots(), limbs, inputs as u32, d.distant.channels),
                whole: Clockwork::new(d, shape, Counting::WHOLE).at_rest_from_now(),
                paper: Clockwork::new(d, shape, Counting::PAPER).at_rest_from_now(),
            },
            distant: LimbMap::default(),
            inputs,
            met: HashMap::new(),
            options,
            total: Ran::default(),
            calls: 0,
            replayed: 0,
            stepped: 0,
            procedures: std::collections::BTreeMap::new(),
            replays: true,
        }
    }

    /// Takes the next call.
    ///
    /// # Errors
    /// A call out of turn, or one that the machine cannot run.
    pub fn feed(&mut self, called: &Called) -> Result<(), MachineError> {
        self.options.watch.check()?;
        let procedure = self.order.take(called)?;
        let number = called.call.proc;
        let prepared = match self.prepared.get(&number) {
            Some(known) => Rc::clone(known),
            None => {
                let made = Rc::new(Prepared::new(self.d, procedure)?);
                self.prepared.insert(number, Rc::clone(&made));
                made
            }
        };
        let ran = self.run(called, procedure, &prepared)?;
        for limb in &called.dies {
            self.state.buffer.drop_limb(Held(limb.0));
            if let Some(at) = self.distant.remove(limb) {
                self.state.buffer.drop_distant(at);
            }
        }
        self.calls += 1;
        let used = self.procedures.entry(procedure.name.clone()).or_default();
        used.0 += 1;
        used.1 += ran.micro[0];
        self.total.add(&ran);
        if let Some(tell) = &mut self.options.progress {
            tell(self.calls);
        }
        Ok(())
    }

    /// Micro-cycles so far.
    pub fn micro(&self) -> u64 {
        self.total.micro[0]
    }

    /// Lets everything come to its end.
    ///
    /// # Errors
    /// Outputs that no call made.
    pub fn finish(&mut self, outputs: &[LimbId]) -> Result<(), MachineError> {
        self.order.check(outputs)?;
        let State { whole, paper, .. } = &mut self.state;
        for (at, clock) in [whole, paper].into_iter().enumerate() {
            let before = clock.now();
            let end = clock.drain();
            self.total.micro[at] += end - before;
            self.total.tally[at] = self.total.tally[at].plus(clock.tally);
        }
        Ok(())
    }

    fn address(&self, limb: LimbId) -> Option<u32> {
        match limb.0 < self.inputs {
            true => Some(limb.0 as u32),
            false => self.distant.get(&limb).copied(),
        }
    }

    fn run(
        &mut self,
        called: &Called,
        procedure: &Procedure,
        prepared: &Prepared,
    ) -> Result<Ran, MachineError> {
        let new = self.state.buffer.rename();
        self.state.whole.rename(&new);
        self.state.paper.rename(&new);
        let call = &called.call;
        let first = |limb: LimbId| call.args.iter().position(|arg| *arg == limb).unwrap_or(0);
        let channels = self.d.distant.channels as u32;
        let args = call.args.iter().map(|&limb| {
            (
                first(limb),
                self.state.buffer.find(Held(limb.0)),
                !called.dies.contains(&limb),
                self.address(limb).map(|at| at % channels),
            )
        });
        let contents = self.state.buffer.places.iter().flatten();
        let key = Key {
            procedure: call.proc,
            args: args.collect(),
            places: contents
                .map(|c| c.distant.map(|at| at % channels))
                .collect(),
            whole: self.state.whole.clone(),
            paper: self.state.paper.clone(),
        };
        if self.replays
            && let Some(known) = self.met.get(&key)
        {
            let known = Rc::clone(known);
            self.replayed += 1;
            self.apply(&known, called)?;
            return Ok(known.ran.clone());
        }
        let before: Vec<Option<Content>> = self.state.buffer.places.clone();
        let mut same = HashMap::new();
        let mut params = Vec::new();
        for (at, (param, &limb)) in procedure.params.iter().zip(&call.args).enumerate() {
            let value = param.value.0 as Value;
            let one = first(limb);
            if one != at {
                let of = procedure.params.get(one).map_or(0, |p| p.value.0 as Value);
                same.insert(value, of);
                continue;
            }
            if prepared.graph.hosted.fresh(at).is_some() {
                // Another limb in each call, which the host puts into the operand's place in distant memory.
                let held = Held(u64::MAX - at as u64);
                params.push((value, held, Some(self.address(limb).unwrap_or(0)), false));
                continue;
            }
            let later = !called.dies.contains(&limb);
            let address = self.address(limb);
            let source = address.map(|at| self.d.source(&param.role, at));
            params.push((value, Held(limb.0), source, later));
        }
        let results = prepared.graph.results.iter().zip(&call.results);
        let request = Request {
            procedure: &procedure.name,
            params,
            same,
            results: results
                .map(|(&value, limb)| (value, Held(limb.0)))
                .collect(),
            replacement: self.d.replacement,
        };
        let State {
            buffer,
            whole,
            paper,
        } = &mut self.state;
        let placed = place(buffer, prepared.tasks.as_ref().clone(), &request)?;
        if !self.options.spill && placed.spilled > 0 {
            return Err(MachineError::Memory {
                procedure: procedure.name.clone(),
                needs: placed.peak + placed.spilled as usize,
                live: before.iter().flatten().count(),
                slots: before.len(),
            });
        }
        let watch = self.options.watch.clone();
        let instrs = merge(
            &placed.steps,
            self.shape,
            self.d.schedule,
            whole,
            &mut || Ok(watch.check()?),
        )?;
        for instr in &instrs {
            let stepped = paper.step(instr);
            stepped.map_err(|stuck| MachineError::Program(stuck.to_string()))?;
        }
        self.stepped += instrs.len() as u64;
        let mut ran = Ran {
            peak: placed.peak,
            loads: placed.loads,
            spilled: placed.spilled,
            reloaded: placed.reloaded,
            floors: prepared.floors(self.d),
            hosted: prepared
                .graph
                .hosted
                .work
                .iter()
                .filter(|w| !w.is_none())
                .count() as u64,
            ops: super::lower::counts(&instrs),
            ..Ran::default()
        };
        let (whole_key, paper_key) = (&key.whole, &key.paper);
        for (at, (clock, was)) in [(whole, whole_key), (paper, paper_key)]
            .into_iter()
            .enumerate()
        {
            ran.micro[at] = clock.now() - was.now();
            ran.tally[at] = clock.tally;
            *clock = clock.at_rest_from_now();
        }
        for (&limb, &at) in &placed.distant {
            self.distant.insert(LimbId(limb.0), at);
        }
        let replay = self.replay(called, &before, &placed.distant, ran.clone());
        self.met.insert(key, Rc::new(replay));
        Ok(ran)
    }

    /// What was done, said by who limbs are.
    fn replay(
        &self,
        called: &Called,
        before: &[Option<Content>],
        distant: &HashMap<Held, u32>,
        ran: Ran,
    ) -> Replay {
        // Parameters before results before what else is held, and of each the first.
        let mut known = HashMap::new();
        let (args, results) = (&called.call.args, &called.call.results);
        for (i, arg) in args.iter().enumerate() {
            known.entry(Held(arg.0)).or_insert(Who::Param(i));
        }
        for (i, result) in results.iter().enumerate() {
            known.entry(Held(result.0)).or_insert(Who::Result(i));
        }
        for (at, content) in before.iter().enumerate() {
            if let Some(content) = content {
                known.entry(content.limb).or_insert(Who::Other(at as u32));
            }
        }
        let who = |limb: Held| known.get(&limb).copied().unwrap_or(Who::Other(0));
        let buffer = &self.state.buffer;
        let places = buffer
            .places
            .iter()
            .map(|content| content.map(|c| (who(c.limb), c.distant.map(|_| who(c.limb)), c.used)));
        let channels = self.d.distant.channels as u32;
        let went = distant
            .iter()
            .map(|(&limb, &at)| (who(limb), at % channels));
        Replay {
            places: places.collect(),
            free: buffer.free_places(),
            distant: went.collect(),
            state: [self.state.whole.clone(), self.state.paper.clone()],
            ran,
        }
    }

    /// Does what a call did before in the same state.
    fn apply(&mut self, replay: &Replay, called: &Called) -> Result<(), MachineError> {
        let before = self.state.buffer.places.clone();
        let malformed = || MachineError::Program("a replay does not fit its state".to_owned());
        let limb = |who: Who| -> Result<LimbId, MachineError> {
            match who {
                Who::Param(at) => called.call.args.get(at).copied(),
                Who::Result(at) => called.call.results.get(at).copied(),
                Who::Other(at) => {
                    let content = before.get(at as usize).copied().flatten();
                    content.map(|c| LimbId(c.limb.0))
                }
            }
            .ok_or_else(malformed)
        };
        for &(who, channel) in &replay.distant {
            let id = limb(who)?;
            if self.address(id).is_none() {
                let at = self.state.buffer.take_distant(channel).ok_or_else(|| {
                    MachineError::Program("distant memory is full (`distant.gbyte`)".to_owned())
                })?;
                self.distant.insert(id, at);
            }
        }
        let mut places = Vec::with_capacity(replay.places.len());
        for content in &replay.places {
            places.push(match content {
                None => None,
                Some((who, distant, used)) => {
                    let id = limb(*who)?;
                    Some(Content {
                        limb: Held(id.0),
                        distant: distant.and_then(|_| self.address(id)),
                        used: *used,
                    })
                }
            });
        }
        self.state.buffer.set(places, &replay.free);
        let [whole, paper] = &replay.state;
        self.state.whole = whole.clone();
        self.state.paper = paper.clone();
        Ok(())
    }
}

impl Ran {
    fn add(&mut self, other: &Self) {
        for at in 0..2 {
            self.micro[at] += other.micro[at];
            self.tally[at] = self.tally[at].plus(other.tally[at]);
            self.floors[at] += other.floors[at];
        }
        for (&op, &count) in &other.ops {
            *self.ops.entry(op).or_default() += count;
        }
        self.peak = self.peak.max(other.peak);
        self.loads += other.loads;
        self.spilled += other.spilled;
        self.reloaded += other.reloaded;
        self.hosted += other.hosted;
    }
}
