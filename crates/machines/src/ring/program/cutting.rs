// SPDX-License-Identifier: Apache-2.0
//! Cuts some of the program's calls into parts, if the program has procedures with several result ciphertexts.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use ringmill_isa::mid::{Ahead, Call, Called, Head, InputRole, LimbId, LimbMap, Procedure};

use super::calls::{ITSELF, Place, Planned, WINDOW};
use crate::MachineError;
use crate::ring::description::Description;
use crate::ring::parts::Cutter;
use crate::ring::report::Cuts;

pub struct Cutting<'a> {
    cutter: Cutter<'a>,
    /// The limbs that are on the machine before the next call to be planned, with the RPAU of each. Limbs that were
    /// moved to the host for lack of room are included.
    alive: LimbMap<usize>,
    /// The planned calls that run next, in order.
    queue: VecDeque<Planned>,
    /// The parts of cut calls that will run before a call, by the call's number. The call is not in the queue yet.
    waiting: HashMap<u64, Vec<Call>>,
    /// For each limb the planned calls, and parts of calls, that read it, in order.
    uses: LimbMap<VecDeque<Place>>,
    /// Arguments of cut calls that no part and no later call reads.
    stale: Vec<LimbId>,
    cuts: Cuts,
    d: &'a Description,
    head: Head<'a>,
}

impl<'a> Cutting<'a> {
    /// Makes the state in which calls are cut. Returns `None` if no procedure of the program
    /// returns several ciphertexts, so that no call is ever cut.
    pub fn new(d: &'a Description, head: Head<'a>) -> Option<Self> {
        let cutter = Cutter::new(d, head.procs);
        let mut procs = 0..head.procs.len() as u32;
        procs
            .any(|proc| cutter.ciphers(proc).len() > 1)
            .then(|| Self {
                cutter,
                alive: LimbMap::default(),
                queue: VecDeque::new(),
                waiting: HashMap::new(),
                uses: LimbMap::default(),
                stale: Vec::new(),
                cuts: Cuts::default(),
                d,
                head,
            })
    }

    /// Returns the next call to run. Returns `None` if no call is left, or if fewer than [`WINDOW`] calls are planned
    /// and more calls may come.
    ///
    /// # Errors
    /// The errors of [`Cutter::size`].
    pub fn next_call(&mut self, ahead: &mut Ahead) -> Result<Option<Planned>, MachineError> {
        while self.queue.len() < WINDOW {
            let Some(called) = ahead.next_call() else {
                break;
            };
            self.plan(called, ahead)?;
        }
        if self.queue.len() < WINDOW && !ahead.is_done() {
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

    fn plan(&mut self, called: Called, ahead: &Ahead) -> Result<(), MachineError> {
        let Called { number, call, dies } = called;
        let mut before = self.waiting.remove(&number).unwrap_or_default();
        let size = match self.cutter.ciphers(call.proc).len() {
            0 | 1 => None,
            _ => {
                let slots = self.beside(&call, ahead);
                let later = |limb| ahead.read_later(limb);
                self.cutter.size(&call, &slots, &later)?
            }
        };
        if let Some(size) = size {
            self.cuts.calls += 1;
            let all = self.cutter.ciphers(call.proc).to_vec();
            for some in all.chunks(size) {
                self.cuts.parts += 1;
                let part = self.cutter.part(&call, some);
                let reads = part.results.iter().filter_map(|&l| ahead.next_read(l));
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
                if !self.reads(limb) && !ahead.read_later(limb) {
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

    /// Notes that the call at position `at` reads its arguments.
    fn note(&mut self, call: &Call, at: Place) {
        for &limb in &call.args {
            let uses = self.uses.entry(limb).or_default();
            let index = uses.partition_point(|&use_at| use_at < at);
            if uses.get(index) != Some(&at) {
                uses.insert(index, at);
            }
        }
    }

    /// Notes that the arguments and results of a call are on the machine before the next call, except key limbs and the
    /// limbs in `dies`.
    fn see(&mut self, call: &Call, dies: &[LimbId]) {
        let Some(procedure) = self.head.procs.get(call.proc as usize) else {
            return;
        };
        let args = call.args.iter().zip(procedure.param_types());
        for (&limb, ty) in args.chain(call.results.iter().zip(procedure.result_types())) {
            let input = self.head.inputs.get(limb.0 as usize);
            if !input.is_some_and(|input| matches!(input.role, InputRole::Key { .. })) {
                let modulus = ty.modulus().map_or(0, |id| id.0);
                self.alive.insert(limb, usize::from(modulus) % self.d.rpaus);
            }
        }
        for limb in dies {
            self.alive.remove(limb);
        }
    }

    /// Returns for each RPAU the number of slots of limbs that live across the call: they are on the machine before it,
    /// the call does not read them, and a later call does.
    fn beside(&mut self, call: &Call, ahead: &Ahead) -> Vec<usize> {
        let pieces = self.d.pieces(self.head.log_n);
        let mut slots = vec![0; self.d.rpaus];
        self.alive.retain(|&limb, _| ahead.read_later(limb));
        for (limb, &rpau) in &self.alive {
            if !call.args.contains(limb) {
                slots[rpau] += pieces;
            }
        }
        slots
    }

    /// Returns the index of a procedure of the program: `proc` itself, or the procedure from which
    /// `proc` was cut. A cut procedure computes some of the result ciphertexts.
    pub fn whole(&self, proc: u32) -> u32 {
        self.cutter.whole(proc)
    }

    /// Returns the procedure with index `proc`, which is one of the program or computes a part of a call.
    pub fn procedure(&self, proc: u32) -> Option<&Arc<Procedure>> {
        self.cutter.procedure(proc)
    }

    /// Returns the index of the shape of a procedure that computes a part of a call: that of the first part with as
    /// many ciphertexts. A shape is a class of parts that differ only in Galois elements and names. Returns `None` for
    /// a procedure of the program, and for a part with a number of ciphertexts that was never timed.
    pub fn shape(&self, proc: u32) -> Option<usize> {
        self.cutter.shape_of_part(proc)
    }

    pub fn cuts(&self) -> Cuts {
        self.cuts
    }

    /// Returns the position of the next planned call that reads the limb, or `None` if no planned call does.
    pub fn next_use(&self, limb: LimbId) -> Option<Place> {
        self.uses.get(&limb)?.front().copied()
    }

    /// Returns whether a call that is planned, and has not run, reads the limb.
    pub fn reads(&self, limb: LimbId) -> bool {
        self.uses.contains_key(&limb)
    }

    pub fn next_stale(&mut self) -> Option<LimbId> {
        self.stale.pop()
    }
}
