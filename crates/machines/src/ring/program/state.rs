// SPDX-License-Identifier: Apache-2.0
//! The state of a run of the ring machine between calls, and the effect of a call on the state.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ringmill_isa::mid::{Call, Head, LimbId, Order, Procedure};
use ringmill_limits::Watch;

use super::calls::{Calls, Planned};
use super::layout::Layout;
use super::outcomes::{Outcomes, Size};
use super::placing::Key;
use super::{Outcome, Step, Told, Totals};
use crate::ring::description::Description;
use crate::ring::keys::{KeyLoad, KeyMemory};
use crate::ring::policy::Policy;
use crate::ring::report::{Inside, KeyUse};
use crate::ring::residency::Residency;
use crate::ring::search::Prepared;
use crate::ring::tally::Lanes;
use crate::{MachineError, SimOptions};

/// The bytes that the simulator's scheduler takes for each instruction of a procedure, in all rewritten forms and
/// schedules.
const SCHEDULED: u64 = 16 << 10;

/// A procedure that is prepared for scheduling, with the layout of its arguments.
pub struct Ready {
    procedure: Arc<Procedure>,
    pub prepared: Prepared,
    layout: Arc<Layout>,
}

impl Ready {
    /// Prepares a procedure for scheduling, if the limit on memory allows it.
    fn new(
        d: &Description,
        procedure: &Arc<Procedure>,
        watch: &Watch,
    ) -> Result<Self, MachineError> {
        watch.check()?;
        let bytes = SCHEDULED.saturating_mul(procedure.instrs.len() as u64);
        watch.admit("the schedule of a procedure", bytes)?;
        let prepared = Prepared::new(d, procedure)?.watched(watch.clone());
        Ok(Self {
            procedure: Arc::clone(procedure),
            layout: Arc::new(Layout::new(procedure, prepared.graph(), d.rpaus)),
            prepared,
        })
    }
}

/// The call that the machine runs, with its procedure, its layout, and whether its arguments must stay in their
/// slots.
pub struct Now<'c> {
    pub call: &'c Call,
    pub procedure: &'c Arc<Procedure>,
    pub layout: &'c Layout,
    /// For each argument, whether its slots must not be overwritten.
    pub pinned: &'c [bool],
}

/// The bytes that have crossed the link between calls: of programs, spills, inputs, keys and
/// outputs.
pub type Traffic = [u64; 5];

pub struct Run<'a> {
    pub d: &'a Description,
    pub head: Head<'a>,
    pub order: Order<'a>,
    pub calls: Calls<'a>,
    /// The scheduling policy that was best for the first part of each shape, by the index of the shape
    /// ([`Calls::shape`]).
    pub policies: HashMap<usize, Policy>,
    pub spill: bool,
    watch: Watch,
    pub ready: HashMap<u32, Ready>,
    pub outcomes: Outcomes,
    pub residency: Residency,
    pub keys: KeyMemory,
    /// For each input of the program, whether it has crossed the link. A second transfer counts as a spill.
    pub came: Vec<bool>,
    /// The program's outputs that have crossed the link to the host.
    pub sent: HashSet<LimbId>,
    pub limb_bytes: u64,
    /// The number of pieces of a limb, each as large as one memory slot: two at twice the native ring degree.
    pub pieces: u8,
    pub lanes: Lanes,
    pub totals: Totals,
    /// For each RPAU, the index of the prime whose twiddles the RPAU has loaded.
    primes: Vec<u8>,
    /// A buffer in which the cache key of a call's placement is computed.
    pub key: Key,
    /// A buffer for the flags which say whether the slots of a call's arguments must stay.
    pinned: Vec<bool>,
    loads: Vec<KeyLoad>,
}

impl<'a> Run<'a> {
    pub fn new(d: &'a Description, head: Head<'a>, options: &SimOptions<'_>) -> Self {
        let inputs = head.inputs.len();
        Self {
            watch: options.watch.clone(),
            d,
            order: Order::new(&head),
            calls: Calls::new(d, head),
            policies: HashMap::new(),
            spill: options.spill,
            ready: HashMap::new(),
            outcomes: Outcomes::default(),
            residency: Residency::new(d, &head),
            keys: KeyMemory::new(d, head.log_n, inputs, options.resident_keys),
            came: vec![false; inputs],
            sent: HashSet::new(),
            limb_bytes: 8 << head.log_n,
            pieces: d.pieces(head.log_n) as u8,
            lanes: Lanes::new(d.rpaus),
            totals: Totals {
                log_n: head.log_n,
                peak: vec![0; d.rpaus],
                // Limbs below the native degree have twiddles of their own, which replace the machine's.
                program_bytes: if head.log_n < d.log_n {
                    d.rpaus.min(head.moduli.len()) as u64 * d.twiddle_bytes(head.log_n)
                } else {
                    0
                },
                ..Totals::default()
            },
            primes: (0..d.rpaus as u8).collect(),
            key: Key::default(),
            pinned: Vec::new(),
            loads: Vec::new(),
            head,
        }
    }

    pub fn next_call(&mut self) -> Result<Option<Planned>, MachineError> {
        let next = self.calls.next_call()?;
        while let Some(limb) = self.calls.next_stale() {
            self.residency.forget(limb);
        }
        Ok(next)
    }

    pub fn prepared(&self, proc: u32) -> Option<&Prepared> {
        self.ready.get(&proc).map(|ready| &ready.prepared)
    }

    /// Returns a procedure, prepared on its first use, and the layout of its arguments.
    fn meet(&mut self, proc: u32) -> Result<(Arc<Procedure>, Arc<Layout>), MachineError> {
        if let Some(ready) = self.ready.get(&proc) {
            return Ok((Arc::clone(&ready.procedure), Arc::clone(&ready.layout)));
        }
        let procedure = Arc::clone(self.calls.procedure(proc)?);
        let mut ready = Ready::new(self.d, &procedure, &self.watch)?;
        let shape = self.calls.shape(proc);
        if let Some(&policy) = shape.and_then(|shape| self.policies.get(&shape)) {
            ready.prepared.prefer(policy);
        }
        let layout = Arc::clone(&ready.layout);
        self.ready.insert(proc, ready);
        Ok((procedure, layout))
    }

    /// Runs a call: returns its schedule, and counts the call and its transfers. The caller adds the schedule's cycles
    /// to the totals.
    pub fn call(
        &mut self,
        planned: &Planned,
        told: &mut dyn Told,
    ) -> Result<Arc<Outcome>, MachineError> {
        let call = &planned.call;
        let (procedure, layout) = self.meet(call.proc)?;
        let needs = self.prepared(call.proc);
        let needs = needs.map_or(0, |p| p.graph().key_slots);
        if needs > self.d.keys.slots && (!self.spill || self.d.keys.slots == 0) {
            let procedure = procedure.name.clone();
            return Err(MachineError::KeyMemory {
                procedure,
                needs,
                slots: self.d.keys.slots,
            });
        }
        let mut pinned = std::mem::take(&mut self.pinned);
        self.calls.pinned(call, &mut pinned);
        let now = Now {
            call,
            procedure: &procedure,
            layout: &layout,
            pinned: &pinned,
        };
        let bundles = self.missing(call, &layout);
        let index = self.place_and_schedule(&now, &bundles, told)?;
        let outcome = self.outcomes.get(index).cloned();
        let lost = || MachineError::Program("a schedule that is gone".into());
        let outcome = outcome.ok_or_else(lost)?;
        let size = Size::of(&outcome.scheduled.code);
        if self
            .outcomes
            .bring_in(index, size, Size::held(&self.d.tables))
        {
            self.totals.program_bytes += size.bytes(self.d.rpaus);
        }
        // An RPAU that computes a share of another RPAU's sums (`stand_in`) works with that one's twiddles, and needs
        // no others in this program.
        for (r, (&prime, held)) in
            (0u8..).zip(outcome.scheduled.code.primes.iter().zip(&mut self.primes))
        {
            if prime != r && prime != *held {
                *held = prime;
                let log_n = self.head.log_n.min(self.d.log_n);
                self.totals.program_bytes += self.d.twiddle_bytes(log_n);
            }
        }
        self.totals.program_bytes += layout.call_bytes(self.pieces, procedure.seeds.len());
        let mut loads = std::mem::take(&mut self.loads);
        let mut table = told.wants_calls().then(HashMap::new);
        let plans = &outcome.scheduled.key_plans;
        self.bring_keys(&now, plans, table.as_mut(), &mut loads);
        let inside = outcome.scheduled.host_params.iter().any(|p| !p.is_empty());
        let bundles = if inside { Vec::new() } else { bundles };
        let arrived = || bundles.iter().flat_map(|b| &b.limbs).map(|&(limb, _)| limb);
        for limb in arrived() {
            self.arrived(limb);
        }
        if let Some(key_table) = table {
            let pieces = |&l: &LimbId| self.residency.pieces(l).unwrap_or_default();
            let slots = call.args.iter().map(|l| pieces(l).slots().to_vec());
            told.call(&Step {
                call,
                procedure: &procedure,
                args: slots.collect(),
                arrived: arrived().collect(),
                key_table,
                key_loads: loads.clone(),
                outcome: &outcome,
            })?;
        }
        // A part counts as the call before which it stands.
        told.done(planned.at.0 + 1);
        self.settle_results(&now, &outcome);
        self.outcomes.count(index);
        self.totals.calls += 1;
        (self.pinned, self.loads) = (pinned, loads);
        Ok(outcome)
    }

    pub fn traffic(&self) -> Traffic {
        let totals = &self.totals;
        let spilled = (totals.spills.stores + totals.spills.loads) * self.limb_bytes;
        let keys = self.keys.loads * self.limb_bytes / u64::from(self.pieces);
        let programs = totals.program_bytes;
        [programs, spilled, totals.bytes_in, keys, totals.bytes_out]
    }

    pub fn finish(mut self) -> Totals {
        self.outcomes.settle(&mut self.totals);
        self.totals.keys = KeyUse {
            needed: self.keys.needed(),
            fit: self.keys.fit(),
            resident: self.keys.found,
            loaded: self.keys.loads + self.totals.tally.moved[2],
        };
        self.totals.key_limbs = self.keys.most();
        self.totals.resident_keys = self.keys.found;
        let [stores, loads, key_loads] = self.totals.tally.moved;
        let bytes = (stores + loads + key_loads) * self.limb_bytes / u64::from(self.pieces);
        self.totals.key_bytes = self.keys.loads * self.limb_bytes / u64::from(self.pieces);
        let spills = &mut self.totals.spills;
        spills.inside = Inside {
            stores,
            loads,
            key_loads,
            bytes,
            seconds: self.d.link_seconds(bytes),
        };
        spills.bytes = (spills.stores + spills.loads) * self.limb_bytes;
        spills.seconds = self.d.link_seconds(spills.bytes);
        self.totals.cuts = self.calls.cuts();
        self.totals
    }
}
