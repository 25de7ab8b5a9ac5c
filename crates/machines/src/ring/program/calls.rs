//! The calls that the machine runs, one after another: the program's, some of them cut into parts, and what is known of
//! the calls to come.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use ringmill_isa::mid::{Ahead, Call, Called, Head, InputRole, LimbId, Procedure};

use crate::ring::description::Description;
use crate::ring::parts::Cutter;
use crate::{Cuts, MachineError};

/// Calls that are cut before they run, and calls beyond them that are in sight. Of programs no longer than that everything
/// is known from the first call on.
const WINDOW: usize = 4096;

/// When a call runs: the number of a call of the program, and which of those that stand before it, the call itself last.
pub type Place = (u64, u32);

/// The call itself.
const ITSELF: u32 = u32::MAX;
/// Not in sight.
const FAR: Place = (u64::MAX, u32::MAX);

/// A call of the program, or a part of one.
#[derive(Debug)]
pub struct Planned {
    pub at: Place,
    pub call: Call,
}

pub struct Calls<'a> {
    ahead: Ahead,
    cutter: Cutter<'a>,
    /// Limbs on the machine before the call that is cut next, as far as the program tells: the RPAU of each.
    alive: HashMap<LimbId, usize>,
    /// What runs next.
    queue: VecDeque<Planned>,
    /// Parts that stand before a call that is not in the queue yet.
    waiting: HashMap<u64, Vec<Call>>,
    /// When what is planned reads a limb, in order.
    uses: HashMap<LimbId, VecDeque<Place>>,
    /// Arguments of calls that were cut which no part reads, and no call to come.
    stale: Vec<LimbId>,
    cuts: Cuts,
    d: &'a Description,
    head: Head<'a>,
}

impl<'a> Calls<'a> {
    pub fn new(d: &'a Description, head: Head<'a>) -> Self {
        Self {
            ahead: Ahead::new(head.inputs.len(), WINDOW),
            cutter: Cutter::new(d, head.procs),
            alive: HashMap::new(),
            queue: VecDeque::new(),
            waiting: HashMap::new(),
            uses: HashMap::new(),
            stale: Vec::new(),
            cuts: Cuts::default(),
            d,
            head,
        }
    }

    /// The program's call after those fed so far.
    pub fn feed(&mut self, called: Called) {
        self.ahead.feed(called);
    }

    /// There are no more calls, and these are the outputs.
    pub fn end(&mut self, outputs: Vec<LimbId>) {
        self.ahead.end(outputs);
    }

    /// The next call to run, if enough is known of what comes after it; what is said of limbs from then on is of the calls after it.
    ///
    /// # Errors
    /// Those of legalising a part.
    pub fn next_call(&mut self) -> Result<Option<Planned>, MachineError> {
        while self.queue.len() < WINDOW {
            let Some(called) = self.ahead.next_call() else {
                break;
            };
            self.plan(called)?;
        }
        if self.queue.len() < WINDOW && !self.ahead.is_done() {
            return Ok(None);
        }
        let Some(planned) = self.queue.pop_front() else {
            return Ok(None);
        };
        for limb in &planned.call.args {
            let Some(uses) = self.uses.get_mut(limb) else {
                continue;
            };
            if uses.front() == Some(&planned.at) {
                uses.pop_front();
            }
            if uses.is_empty() {
                self.uses.remove(limb);
            }
        }
        Ok(Some(planned))
    }

    fn plan(&mut self, called: Called) -> Result<(), MachineError> {
        let Called { number, call, dies } = called;
        let mut before = self.waiting.remove(&number).unwrap_or_default();
        let size = match self.cutter.ciphers(call.proc).len() {
            0 | 1 => None,
            _ => {
                let slots = self.beside(&call);
                let later = |limb| self.ahead.read_later(limb);
                self.cutter.size(&call, &slots, &later)?
            }
        };
        if let Some(size) = size {
            self.cuts.calls += 1;
            let all = self.cutter.ciphers(call.proc).to_vec();
            for some in all.chunks(size) {
                self.cuts.parts += 1;
                let part = self.cutter.part(&call, some);
                let reads = part.results.iter().filter_map(|&l| self.ahead.next_read(l));
                let at = reads.min().unwrap_or(number);
                let list = match at == number {
                    true => &mut before,
                    false => self.waiting.entry(at).or_default(),
                };
                let place = (at, list.len() as u32);
                list.push(part.clone());
                self.note(&part, place);
            }
            for &limb in &call.args {
                if !self.used_later(limb) {
                    self.stale.push(limb);
                }
            }
        }
        self.see(&call, &dies);
        let parts = (0..).zip(before);
        self.queue.extend(parts.map(|(sub, call)| Planned {
            at: (number, sub),
            call,
        }));
        if size.is_none() {
            let at = (number, ITSELF);
            self.note(&call, at);
            self.queue.push_back(Planned { at, call });
        }
        Ok(())
    }

    /// The call reads its arguments then.
    fn note(&mut self, call: &Call, at: Place) {
        for &limb in &call.args {
            let uses = self.uses.entry(limb).or_default();
            let index = uses.partition_point(|&use_at| use_at < at);
            if uses.get(index) != Some(&at) {
                uses.insert(index, at);
            }
        }
    }

    /// The limbs of a call are on the machine before the next one, unless they died.
    fn see(&mut self, call: &Call, dies: &[LimbId]) {
        let Some(procedure) = self.head.procs.get(call.proc as usize) else {
            return;
        };
        let args = call.args.iter().zip(procedure.param_types());
        for (&limb, ty) in args.chain(call.results.iter().zip(procedure.result_types())) {
            let input = self.head.inputs.get(limb.0 as usize);
            if !input.is_some_and(|input| matches!(input.role, InputRole::Key { .. })) {
                self.alive
                    .insert(limb, usize::from(ty.modulus.0) % self.d.rpaus);
            }
        }
        for limb in dies {
            self.alive.remove(limb);
        }
    }

    /// Slots in use on each RPAU by what is on the machine before a call and read after it, but not by it.
    fn beside(&mut self, call: &Call) -> Vec<usize> {
        let pieces = 1 + usize::from(self.head.log_n > self.d.log_n);
        let mut slots = vec![0; self.d.rpaus];
        let ahead = &self.ahead;
        self.alive.retain(|&limb, _| ahead.read_later(limb));
        for (limb, &rpau) in &self.alive {
            if !call.args.contains(limb) {
                slots[rpau] += pieces;
            }
        }
        slots
    }

    /// A bound procedure of the program, or that of a part.
    ///
    /// # Errors
    /// Where there is none.
    pub fn procedure(&self, proc: u32) -> Result<&Arc<Procedure>, MachineError> {
        let procedure = self.cutter.procedure(proc);
        procedure.ok_or_else(|| MachineError::Program("a call of no procedure".into()))
    }

    /// Procedures of parts that are scheduled alike have a shape in common.
    pub fn shape(&self, proc: u32) -> Option<usize> {
        self.cutter.shape_of_part(proc)
    }

    pub fn cuts(&self) -> Cuts {
        self.cuts
    }

    /// When the limb is read next, as far as that is in sight.
    pub fn next_use(&self, limb: LimbId) -> Place {
        let planned = self.uses.get(&limb).and_then(|uses| uses.front()).copied();
        let beyond = || self.ahead.next_read(limb).map(|number| (number, ITSELF));
        planned.or_else(beyond).unwrap_or(FAR)
    }

    /// Whether the limb may be read by a call to come.
    pub fn used_later(&self, limb: LimbId) -> bool {
        self.uses.contains_key(&limb) || self.ahead.read_later(limb)
    }

    /// Whether the limb is known to be an output.
    pub fn is_output(&self, limb: LimbId) -> bool {
        self.ahead.is_output(limb)
    }

    /// The outputs, after the last call.
    pub fn outputs(&self) -> &[LimbId] {
        self.ahead.outputs().unwrap_or_default()
    }

    /// Nothing will be asked about a limb that is used no more.
    pub fn forget(&mut self, limb: LimbId) {
        self.ahead.forget(limb);
    }

    /// Limbs that turned out to be of no use.
    pub fn take_stale(&mut self) -> Vec<LimbId> {
        std::mem::take(&mut self.stale)
    }
}
