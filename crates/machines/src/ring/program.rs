//! Whole programs: calls one after another, values kept on the machine while they are needed.
//!
//! Memory of the simulation is the liveness table (one word a limb) and the schedules of distinct (procedure, placement)
//! pairs; a repeated call costs a table look-up.

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_isa::mid::{Call, InputRole, LimbId, ParamRole, Procedure, Unrolled, Verified};
use ringmill_limits::Watch;

use super::description::Description;
use super::graph::KeyPlan;
use super::keys::{KeyLimb, KeyLoad, KeyMemory};
use super::model;
use super::parts;
use super::policy::Policy;
use super::residency::{Arrangement, Bundle, Residency};
use super::schedule::{Failure, Placement, Scheduled};
use super::search::Prepared;
use super::tally::{LINK_INPUTS, LINK_KEYS, LINK_OUTPUTS, LINK_SPILLS, Lanes, Tally, Tracer};
use crate::{Inside, KeyUse, MachineError, SimOptions, Spills, TraceSink};

/// Schedules kept at once.
const MAX_CACHED: usize = 4096;
/// A limb that is never read.
const NEVER: u32 = u32::MAX;

/// A scheduled and timed procedure at one placement.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub scheduled: Scheduled,
    pub cycles: u64,
    pub tally: Tally,
}

/// Totals of a run.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// log2 of the program's ring degree.
    pub log_n: u8,
    pub cycles: u64,
    pub calls: u64,
    pub tally: Tally,
    pub procedures: std::collections::BTreeMap<String, crate::ProcedureUse>,
    pub peak: Vec<u8>,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub keys: KeyUse,
    /// Key limbs' bytes over the link between calls.
    pub key_bytes: u64,
    /// Distinct key limbs on the RPAU with most.
    pub key_limbs: u64,
    pub spills: Spills,
    pub cuts: crate::Cuts,
    /// Key limbs that were there before the first call.
    pub resident_keys: u64,
}

/// Told of every schedule when it is first used.
pub type OnSchedule<'a> = dyn FnMut(&Outcome) -> Result<(), MachineError> + 'a;

/// One call, before its results settle.
#[derive(Debug)]
pub struct Step<'a> {
    /// How many of the program's calls are done, parts of calls counted as they come.
    pub done: usize,
    /// The call, of the program or a part of one of its calls, and its procedure.
    pub call: &'a Call,
    pub procedure: &'a Procedure,
    /// Slots of each argument's pieces; none for key limbs.
    pub args: Vec<Vec<u8>>,
    /// Arguments that came over the link for this call.
    pub arrived: Vec<LimbId>,
    /// The call's key table: the key slot of each RPAU and key index.
    pub key_table: HashMap<(usize, u8), u8>,
    /// Key limbs that came over the link for this call.
    pub key_loads: Vec<KeyLoad>,
    pub outcome: &'a Outcome,
}

/// Told of every call.
pub type OnCall<'a> = dyn FnMut(&Step<'_>) -> Result<(), MachineError> + 'a;

/// Runs `program` without data.
///
/// # Errors
/// A program that the machine cannot run or that does not fit; whatever the callbacks return.
pub fn run(
    d: &Description,
    program: Verified<'_>,
    mut options: SimOptions<'_>,
    on_schedule: &mut OnSchedule<'_>,
    on_call: &mut OnCall<'_>,
) -> Result<Totals, MachineError> {
    let program = program.program();
    let fitted = parts::fit(d, program)?;
    let calls = program.calls.len();
    let program = fitted.as_ref().map_or(program, |f| &f.program);
    let mut run = Run::new(d, program, calls, &options);
    if let Some(fitted) = &fitted {
        run.totals.cuts = fitted.cuts;
        run.shapes = fitted.shapes.clone();
    }
    let mut clock = Clock { d, cycle: 0.0 };
    for index in 0..program.calls.len() {
        let call = &program.calls[index];
        options.watch.check()?;
        let at = |e: MachineError| match &call.loc {
            _ if matches!(e, MachineError::Halt(_)) => e,
            Some(loc) => MachineError::At {
                loc: loc.to_string(),
                error: Box::new(e),
            },
            None => e,
        };
        let before = run.traffic();
        let outcome = run.call(index, call, on_schedule, on_call).map_err(at)?;
        if let Some(sink) = options.trace.as_deref_mut() {
            let [spills, inputs, keys, outputs] = crossed(before, run.traffic());
            clock.link(sink, (LINK_SPILLS, "SPILL"), spills);
            clock.link(sink, (LINK_INPUTS, "IN"), inputs);
            clock.link(sink, (LINK_KEYS, "KEYS"), keys);
            let mut tracer = Tracer {
                sink: &mut *sink,
                offset: clock.now(),
                lanes: &run.lanes,
            };
            model::run(d, &outcome.scheduled.code, &mut tracer)?;
            clock.cycle += outcome.cycles as f64;
            clock.link(sink, (LINK_OUTPUTS, "OUT"), outputs);
        }
        run.totals.cycles += outcome.cycles;
    }
    run.finish()
}

/// Bytes that have crossed the link between calls: spills, inputs, keys, outputs.
type Traffic = [u64; 4];

fn crossed(before: Traffic, now: Traffic) -> Traffic {
    std::array::from_fn(|i| now[i] - before[i])
}

/// The cycle of a trace: of machine and link in turn, as the time is added up.
struct Clock<'a> {
    d: &'a Description,
    cycle: f64,
}

impl Clock<'_> {
    fn now(&self) -> u64 {
        self.cycle.round() as u64
    }

    /// The link carries some bytes.
    fn link(&mut self, sink: &mut dyn TraceSink, (lane, name): (&str, &str), bytes: u64) {
        if bytes == 0 {
            return;
        }
        let start = self.now();
        self.cycle += self.d.link_seconds(bytes) * self.d.clock_mhz * 1e6;
        sink.event(lane, name, start, self.now() - start);
    }
}

/// Bytes of memory that an instruction takes in all the forms of its procedure and their schedules.
const SCHEDULED: u64 = 16 << 10;

/// A procedure made ready to be scheduled, if there is memory for it.
fn prepared(
    d: &Description,
    procedure: &Procedure,
    watch: &Watch,
) -> Result<Prepared, MachineError> {
    watch.check()?;
    let bytes = SCHEDULED.saturating_mul(procedure.instrs.len() as u64);
    watch.admit("the schedule of a procedure", bytes)?;
    Ok(Prepared::new(d, procedure)?.watched(watch.clone()))
}

struct Run<'a> {
    d: &'a Description,
    program: &'a Unrolled,
    /// Calls before any was cut.
    calls: usize,
    /// The shape of each procedure that is a part, and the policy that served the first of a shape best.
    shapes: HashMap<u32, usize>,
    policies: HashMap<usize, Policy>,
    spill: bool,
    watch: Watch,
    prepared: HashMap<u32, Prepared>,
    cache: HashMap<(u32, Placement), Arc<Outcome>>,
    /// Procedures that spill inside: these start from an empty memory, so one schedule each.
    spilled: HashMap<u32, Arc<Outcome>>,
    residency: Residency,
    keys: KeyMemory,
    /// Last call that reads each limb.
    last_use: Vec<u32>,
    is_output: Vec<bool>,
    /// Inputs that have crossed the link once: coming again is a spill.
    came: Vec<bool>,
    limb_bytes: u64,
    /// Pieces of a limb: two at twice the native ring degree.
    pieces: u8,
    lanes: Lanes,
    totals: Totals,
}

impl<'a> Run<'a> {
    fn new(
        d: &'a Description,
        program: &'a Unrolled,
        calls: usize,
        options: &SimOptions<'_>,
    ) -> Self {
        let count = program.limbs.len();
        let mut last_use = vec![NEVER; count];
        for (index, call) in program.calls.iter().enumerate() {
            for limb in &call.args {
                last_use[limb.0 as usize] = index as u32;
            }
        }
        let mut is_key = vec![false; count];
        for input in &program.inputs {
            is_key[input.limb.0 as usize] = matches!(input.role, InputRole::Key { .. });
        }
        let mut is_output = vec![false; count];
        program
            .outputs
            .iter()
            .for_each(|o| is_output[o.limb.0 as usize] = true);
        let residency = Residency::new(d, program);
        let rpau = |limb| residency.rpau(limb);
        let keys = KeyMemory::new(d, program, &is_key, rpau, options.resident_keys);
        Self {
            watch: options.watch.clone(),
            d,
            program,
            calls,
            shapes: HashMap::new(),
            policies: HashMap::new(),
            spill: options.spill,
            prepared: HashMap::new(),
            cache: HashMap::new(),
            spilled: HashMap::new(),
            residency,
            keys,
            last_use,
            is_output,
            came: vec![false; count],
            limb_bytes: 8 << program.log_n,
            pieces: 1 + u8::from(program.log_n > d.log_n),
            lanes: Lanes::new(d.rpaus),
            totals: Totals {
                log_n: program.log_n,
                peak: vec![0; d.rpaus],
                ..Totals::default()
            },
        }
    }

    fn call(
        &mut self,
        index: usize,
        call: &Call,
        on_schedule: &mut OnSchedule<'_>,
        on_call: &mut OnCall<'_>,
    ) -> Result<Arc<Outcome>, MachineError> {
        let program = self.program;
        let procedure = program.procs.get(call.proc as usize);
        let procedure =
            procedure.ok_or_else(|| MachineError::Program("a call of no procedure".into()))?;
        if !self.prepared.contains_key(&call.proc) {
            let mut prepared = prepared(self.d, procedure, &self.watch)?;
            let shape = self.shapes.get(&call.proc);
            if let Some(&policy) = shape.and_then(|shape| self.policies.get(shape)) {
                prepared.prefer(policy);
            }
            self.prepared.insert(call.proc, prepared);
        }
        let needs = self
            .prepared
            .get(&call.proc)
            .map_or(0, |p| p.graph().key_slots);
        if needs > self.d.keys.slots && (!self.spill || self.d.keys.slots == 0) {
            let procedure = procedure.name.clone();
            return Err(MachineError::KeyMemory {
                procedure,
                needs,
                slots: self.d.keys.slots,
            });
        }
        let bundles = self.missing(call);
        let outcome = self.place_and_schedule(index, call, &bundles, on_schedule)?;
        let (key_table, key_loads) = self.bring_keys(index, call, &outcome.scheduled.key_plans);
        let inside = outcome.scheduled.host_params.iter().any(|p| !p.is_empty());
        let bundles = if inside { Vec::new() } else { bundles };
        for &limb in bundles.iter().flat_map(|b| &b.limbs) {
            self.arrived(limb);
        }
        let slots = |l: &LimbId| self.residency.slots(*l).cloned().unwrap_or_default();
        let args = call.args.iter().map(slots).collect();
        let arrived = bundles.into_iter().flat_map(|b| b.limbs).collect();
        // A call and its parts are as much work, give or take.
        let done = (index + 1) * self.calls / program.calls.len();
        on_call(&Step {
            done,
            call,
            procedure,
            args,
            arrived,
            key_table,
            key_loads,
            outcome: &outcome,
        })?;
        self.settle_results(index, call, &outcome);
        self.totals.calls += 1;
        self.totals.tally.add(&outcome.tally);
        let entry = self
            .totals
            .procedures
            .entry(procedure.name.clone())
            .or_default();
        entry.calls += 1;
        entry.cycles += outcome.cycles;
        for (peak, now) in self.totals.peak.iter_mut().zip(outcome.scheduled.peak) {
            *peak = now.max(*peak);
        }
        Ok(outcome)
    }

    fn traffic(&self) -> Traffic {
        let totals = &self.totals;
        let spilled = (totals.spills.stores + totals.spills.loads) * self.limb_bytes;
        let keys = self.keys.loads * self.limb_bytes / u64::from(self.pieces);
        [spilled, totals.bytes_in, keys, totals.bytes_out]
    }

    /// Brings the call's key limbs into key memory; gives their slots, and what crosses the link.
    fn bring_keys(
        &mut self,
        index: usize,
        call: &Call,
        plans: &[KeyPlan],
    ) -> (HashMap<(usize, u8), u8>, Vec<KeyLoad>) {
        let mut wanted: Vec<(Vec<u8>, Vec<KeyLimb>)> = vec![Default::default(); self.d.rpaus];
        if let Some(prepared) = self.prepared.get(&call.proc) {
            for (&limb, base) in call.args.iter().zip(&prepared.graph().keys) {
                let Some(base) = base else { continue };
                let (indices, limbs) = &mut wanted[self.residency.rpau(limb)];
                for piece in 0..self.pieces {
                    indices.push(base + piece);
                    limbs.push((limb, piece));
                }
            }
        }
        let (mut table, mut loads) = (HashMap::new(), Vec::new());
        for (r, (indices, limbs)) in wanted.into_iter().enumerate() {
            if let Some(plan) = plans.iter().find(|p| usize::from(p.rpau) == r) {
                // More than fit: those that the procedure starts with, then those that it leaves behind.
                let limb = |k: &u8| {
                    let at = indices.iter().position(|i| i == k);
                    at.map(|at| limbs[at])
                };
                let named = |list: &[u8]| list.iter().filter_map(limb).collect::<Vec<_>>();
                let slots = self
                    .keys
                    .bring_in(index, r, &named(&plan.entry), &mut loads);
                self.keys.leave(r, &slots, &named(&plan.exit));
                let of = |&(k, at): &(u8, u8)| Some(((r, k), *slots.get(usize::from(at))?));
                table.extend(plan.slots.iter().filter_map(of));
                continue;
            }
            let slots = self.keys.bring_in(index, r, &limbs, &mut loads);
            table.extend(
                indices
                    .into_iter()
                    .zip(slots)
                    .map(|(k, slot)| ((r, k), slot)),
            );
        }
        (table, loads)
    }

    /// Arguments that are not on the machine, bundled by operand and polynomial.
    fn missing(&self, call: &Call) -> Vec<Bundle> {
        let procedure = &self.program.procs[call.proc as usize];
        let mut bundles: Vec<((u16, u16, usize), Bundle)> = Vec::new();
        let mut seen = Vec::new();
        for (param, &limb) in procedure.params.iter().zip(&call.args) {
            let (operand, poly) = match param.role {
                ParamRole::Cipher { arg, poly } => (arg, poly),
                ParamRole::Plain { arg } => (arg, 0),
                ParamRole::Key { .. } => continue,
            };
            if self.residency.slots(limb).is_some() || seen.contains(&limb) {
                continue;
            }
            seen.push(limb);
            let modulus = self
                .program
                .limbs
                .get(limb.0 as usize)
                .map_or(0, |ty| usize::from(ty.modulus.0));
            let key = (operand, poly, modulus / self.d.rpaus);
            match bundles.iter_mut().find(|(k, _)| *k == key) {
                Some((_, bundle)) => bundle.limbs.push(limb),
                None => bundles.push((
                    key,
                    Bundle {
                        operand,
                        limbs: vec![limb],
                    },
                )),
            }
        }
        bundles.into_iter().map(|(_, bundle)| bundle).collect()
    }

    /// Brings the bundles in, by the arrangement that makes the call fastest, and schedules it; spills where allowed.
    fn place_and_schedule(
        &mut self,
        index: usize,
        call: &Call,
        bundles: &[Bundle],
        on_schedule: &mut OnSchedule<'_>,
    ) -> Result<Arc<Outcome>, MachineError> {
        let arrangements = if bundles.is_empty() {
            &Arrangement::ALL[..1]
        } else {
            &Arrangement::ALL[..]
        };
        loop {
            let mut best: Option<(Arrangement, u64)> = None;
            let mut failure = Failure::NoRoom;
            for &arrangement in arrangements {
                let Some(settled) = self.residency.bring_in(bundles, arrangement) else {
                    continue;
                };
                let outcome = self.outcome(index, call, on_schedule);
                settled.into_iter().for_each(|l| self.residency.remove(l));
                match outcome? {
                    Ok(outcome) if best.is_none_or(|(_, least)| outcome.cycles < least) => {
                        best = Some((arrangement, outcome.cycles));
                    }
                    Ok(_) => {}
                    Err(why) => failure = why,
                }
            }
            if let Some((arrangement, _)) = best
                && self.residency.bring_in(bundles, arrangement).is_some()
                && let Ok(outcome) = self.outcome(index, call, on_schedule)?
            {
                return Ok(outcome);
            }
            let procedure = self.program.procs[call.proc as usize].name.clone();
            if failure == Failure::TableFull {
                return Err(MachineError::Tables { procedure });
            }
            if !self.spill {
                return Err(self.refusal(index, call, procedure));
            }
            if !self.evict(index, call) {
                return self.inside(call, procedure, on_schedule);
            }
        }
    }

    /// The call with its operands on the host, to spill inside the procedure.
    fn inside(
        &mut self,
        call: &Call,
        procedure: String,
        on_schedule: &mut OnSchedule<'_>,
    ) -> Result<Arc<Outcome>, MachineError> {
        for &limb in &call.args {
            if self.residency.slots(limb).is_some() {
                self.leave(limb);
            }
            self.came[limb.0 as usize] = true;
        }
        if let Some(outcome) = self.spilled.get(&call.proc) {
            return Ok(outcome.clone());
        }
        let slots = self.d.slots();
        let done = match self.prepared.get(&call.proc) {
            Some(prepared) => prepared.schedule_spilled(self.d)?,
            None => None,
        };
        let (scheduled, cycles) = done.ok_or(MachineError::TooFewSlots { procedure, slots })?;
        let outcome = self.counted(scheduled, cycles, on_schedule)?;
        self.spilled.insert(call.proc, outcome.clone());
        Ok(outcome)
    }

    /// A schedule and what its words do.
    fn counted(
        &self,
        scheduled: Scheduled,
        cycles: u64,
        on_schedule: &mut OnSchedule<'_>,
    ) -> Result<Arc<Outcome>, MachineError> {
        let mut tally = Tally::default();
        model::run(self.d, &scheduled.code, &mut tally)?;
        let outcome = Arc::new(Outcome {
            scheduled,
            cycles,
            tally,
        });
        on_schedule(&outcome)?;
        Ok(outcome)
    }

    /// Why the call does not fit: the peak it would need.
    fn refusal(&self, index: usize, call: &Call, procedure: String) -> MachineError {
        let live = self
            .residency
            .busy()
            .iter()
            .map(|b| b.count_ones())
            .max()
            .unwrap_or(0) as usize;
        let mut trial = self.residency.clone();
        let placed = trial
            .bring_in(&self.missing(call), Arrangement::Together)
            .is_some();
        let needs = match self.prepared.get(&call.proc) {
            Some(prepared) if placed => {
                prepared.appetite(self.d, &self.placement(&trial, index, call))
            }
            _ => live + prepared_inputs(self.prepared.get(&call.proc)),
        };
        MachineError::Memory {
            procedure,
            needs,
            live,
            slots: self.d.slots(),
        }
    }

    /// The call's placement by the current residency.
    fn placement(&self, residency: &Residency, index: usize, call: &Call) -> Placement {
        let mut busy = residency.busy();
        let mut args = Vec::with_capacity(call.args.len());
        let mut pinned = Vec::with_capacity(call.args.len());
        let mut count: HashMap<LimbId, u32> = HashMap::new();
        call.args
            .iter()
            .for_each(|l| *count.entry(*l).or_default() += 1);
        for &limb in &call.args {
            let slots = residency.slots(limb).cloned().unwrap_or_default();
            let r = residency.rpau(limb);
            slots.iter().for_each(|s| busy[r] &= !(1 << s));
            args.push(slots);
            // An operand that occurs twice is two parameters in one slot: neither may be overwritten.
            pinned.push(self.last_use[limb.0 as usize] != index as u32 || count[&limb] > 1);
        }
        Placement { args, pinned, busy }
    }

    fn outcome(
        &mut self,
        index: usize,
        call: &Call,
        on_schedule: &mut OnSchedule<'_>,
    ) -> Result<Result<Arc<Outcome>, Failure>, MachineError> {
        let placement = self.placement(&self.residency, index, call);
        let key = (call.proc, placement);
        if let Some(outcome) = self.cache.get(&key) {
            return Ok(Ok(outcome.clone()));
        }
        let Some(prepared) = self.prepared.get_mut(&call.proc) else {
            return Err(MachineError::Program("a call of no procedure".into()));
        };
        let (scheduled, cycles) = match prepared.schedule(self.d, &key.1)? {
            Ok(done) => done,
            Err(failure) => return Ok(Err(failure)),
        };
        if let (Some(&shape), Some(policy)) = (self.shapes.get(&call.proc), prepared.policy()) {
            self.policies.entry(shape).or_insert(policy);
        }
        let outcome = self.counted(scheduled, cycles, on_schedule)?;
        if self.cache.len() >= MAX_CACHED {
            self.cache.clear();
        }
        self.cache.insert(key, outcome.clone());
        Ok(Ok(outcome))
    }

    /// Moves the limb that is needed last, and not by this call, to the host, from where most slots are in use. False when
    /// there is none.
    fn evict(&mut self, index: usize, call: &Call) -> bool {
        let distance = |limb: LimbId| {
            let ahead = self.program.calls.iter().skip(index + 1);
            ahead.take_while(|c| !c.args.contains(&limb)).count()
        };
        let busy = self.residency.busy();
        let used = |limb: LimbId| busy[self.residency.rpau(limb)].count_ones();
        let others = || {
            let limbs = self.residency.limbs();
            limbs.filter(|l| !call.args.contains(l))
        };
        let Some(most) = others().map(used).max() else {
            return false;
        };
        let candidates = others().filter(|&l| used(l) == most);
        let victim = candidates.map(|l| (distance(l), l)).max();
        let Some((_, victim)) = victim else {
            return false;
        };
        self.leave(victim);
        true
    }

    /// A limb leaves its slots, over the link unless the host has it.
    fn leave(&mut self, limb: LimbId) {
        if !self.residency.on_host(limb) {
            self.residency.copy_to_host(limb);
            self.totals.spills.stores += 1;
        }
        self.residency.remove(limb);
    }

    /// A limb has come over the link: the first time an input, later a spill.
    fn arrived(&mut self, limb: LimbId) {
        let input = self
            .came
            .get_mut(limb.0 as usize)
            .is_some_and(|came| !std::mem::replace(came, true));
        if input {
            self.totals.bytes_in += self.limb_bytes;
        } else {
            self.totals.spills.loads += 1;
        }
    }

    /// Frees what the call used last, and settles what it made and is still needed.
    fn settle_results(&mut self, index: usize, call: &Call, outcome: &Outcome) {
        for &limb in &call.args {
            if self.last_use[limb.0 as usize] == index as u32 {
                self.residency.forget(limb);
            }
        }
        for (&limb, slots) in call.results.iter().zip(&outcome.scheduled.results) {
            let at = limb.0 as usize;
            self.came[at] = true;
            if slots.is_empty() {
                // Its procedure has sent it to the host already.
                self.residency.copy_to_host(limb);
                continue;
            }
            if self.is_output[at] {
                // Outputs leave when they are made; a copy stays while the program still reads it.
                self.totals.bytes_out += self.limb_bytes;
                self.residency.copy_to_host(limb);
            }
            if self.last_use[at] != NEVER {
                self.residency.settle(limb, slots.clone());
            }
        }
    }

    fn finish(mut self) -> Result<Totals, MachineError> {
        self.totals.keys = KeyUse {
            needed: self.keys.needed(),
            fit: self.keys.fit(),
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
        Ok(self.totals)
    }
}

/// Slots of the arguments alone on the fullest RPAU.
fn prepared_inputs(prepared: Option<&Prepared>) -> usize {
    let mut counts: HashMap<u8, usize> = HashMap::new();
    if let Some(graph) = prepared.map(Prepared::graph) {
        for &v in graph.params.iter().flatten() {
            *counts.entry(graph.values[v as usize].rpau).or_default() += 1;
        }
    }
    counts.values().copied().max().unwrap_or(0)
}
