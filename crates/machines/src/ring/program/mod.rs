//! Whole programs: calls one after another, values kept on the machine while they are needed.
//!
//! Calls are fed ([`calls`]): what is held is those in sight, the limbs alive, and the schedules of distinct (procedure,
//! placement) pairs; a repeated call costs a table look-up.

mod calls;
mod moving;
mod placing;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ringmill_isa::mid::{Call, Called, Head, LimbId, Order, Procedure, Verified};
use ringmill_limits::Watch;

use super::description::Description;
use super::keys::{KeyLoad, KeyMemory};
use super::model;
use super::policy::Policy;
use super::residency::Residency;
use super::schedule::{Placement, Scheduled};
use super::search::Prepared;
use super::tally::{LINK_INPUTS, LINK_KEYS, LINK_OUTPUTS, LINK_SPILLS, Lanes, Tally, Tracer};
use crate::{Inside, KeyUse, MachineError, SimOptions, Spills, TraceSink};
use calls::{Calls, Planned};

/// Schedules kept at once.
const MAX_CACHED: usize = 4096;
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
    /// How many of the program's calls are done, this one among them; a part counts as the call that it stands before.
    pub done: u64,
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

/// Runs `program` without data, pulling its calls.
///
/// # Errors
/// A program that the machine cannot run or that does not fit; whatever the callbacks return.
pub fn run(
    d: &Description,
    program: &Verified,
    options: SimOptions<'_>,
    on_schedule: &mut OnSchedule<'_>,
    on_call: &mut OnCall<'_>,
) -> Result<Totals, MachineError> {
    let mut running = Running::new(d, program.head(), options.for_now());
    let mut stream = program.stream();
    while let Some(called) = stream.next_call()? {
        running.feed(called, on_schedule, on_call)?;
    }
    running.finish(stream.outputs()?, on_schedule, on_call)
}

/// A run without data, fed its calls.
pub struct Running<'a> {
    run: Run<'a>,
    clock: Clock<'a>,
    trace: Option<&'a mut dyn TraceSink>,
    watch: Watch,
}

impl<'a> Running<'a> {
    pub fn new(d: &'a Description, head: Head<'a>, options: SimOptions<'a>) -> Self {
        Self {
            run: Run::new(d, head, &options),
            clock: Clock { d, cycle: 0.0 },
            trace: options.trace,
            watch: options.watch,
        }
    }

    /// Cycles of the calls that ran.
    pub fn cycles(&self) -> u64 {
        self.run.totals.cycles
    }

    /// Takes the next call; what is far enough behind it runs.
    ///
    /// # Errors
    /// A call that cannot come next, or that the machine cannot run; whatever the callbacks return.
    pub fn feed(
        &mut self,
        called: Called,
        on_schedule: &mut OnSchedule<'_>,
        on_call: &mut OnCall<'_>,
    ) -> Result<(), MachineError> {
        self.run.order.take(&called)?;
        self.run.calls.feed(called);
        self.go_on(on_schedule, on_call)
    }

    /// After the last call: what is left runs.
    ///
    /// # Errors
    /// As [`Self::feed`]; an output that no call made.
    pub fn finish(
        mut self,
        outputs: Vec<LimbId>,
        on_schedule: &mut OnSchedule<'_>,
        on_call: &mut OnCall<'_>,
    ) -> Result<Totals, MachineError> {
        self.run.order.check(&outputs)?;
        self.run.calls.end(outputs);
        self.go_on(on_schedule, on_call)?;
        let before = self.run.traffic();
        self.run.send_rest();
        if let Some(sink) = self.trace.as_deref_mut() {
            let [_, _, _, outputs] = crossed(before, self.run.traffic());
            self.clock.link(sink, (LINK_OUTPUTS, "OUT"), outputs);
        }
        Ok(self.run.finish())
    }

    fn go_on(
        &mut self,
        on_schedule: &mut OnSchedule<'_>,
        on_call: &mut OnCall<'_>,
    ) -> Result<(), MachineError> {
        let Self {
            run,
            clock,
            trace,
            watch,
        } = self;
        while let Some(planned) = run.next_call()? {
            watch.check()?;
            let at = |e: MachineError| match &planned.call.loc {
                _ if matches!(e, MachineError::Halt(_)) => e,
                Some(loc) => MachineError::At {
                    loc: loc.to_string(),
                    error: Box::new(e),
                },
                None => e,
            };
            let before = run.traffic();
            let outcome = run.call(&planned, on_schedule, on_call).map_err(at)?;
            if let Some(sink) = trace.as_deref_mut() {
                let [spills, inputs, keys, outputs] = crossed(before, run.traffic());
                clock.link(sink, (LINK_SPILLS, "SPILL"), spills);
                clock.link(sink, (LINK_INPUTS, "IN"), inputs);
                clock.link(sink, (LINK_KEYS, "KEYS"), keys);
                let mut tracer = Tracer {
                    sink: &mut *sink,
                    offset: clock.now(),
                    lanes: &run.lanes,
                };
                model::run(clock.d, &outcome.scheduled.code, &mut tracer)?;
                clock.cycle += outcome.cycles as f64;
                clock.link(sink, (LINK_OUTPUTS, "OUT"), outputs);
            }
            run.totals.cycles += outcome.cycles;
        }
        Ok(())
    }
}

/// Bytes that have crossed the link between calls: spills, inputs, keys, outputs.
type Traffic = [u64; 4];

fn crossed(before: Traffic, now: Traffic) -> Traffic {
    std::array::from_fn(|i| now[i].saturating_sub(before[i]))
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
    head: Head<'a>,
    order: Order<'a>,
    calls: Calls<'a>,
    /// The policy that served the first procedure of a shape best.
    policies: HashMap<usize, Policy>,
    spill: bool,
    watch: Watch,
    prepared: HashMap<u32, Prepared>,
    cache: HashMap<(u32, Placement), Arc<Outcome>>,
    /// Procedures that spill inside: these start from an empty memory, so one schedule each.
    spilled: HashMap<u32, Arc<Outcome>>,
    residency: Residency,
    keys: KeyMemory,
    /// Inputs that have crossed the link once: coming again is a spill.
    came: Vec<bool>,
    /// Outputs that have crossed the link.
    sent: HashSet<LimbId>,
    limb_bytes: u64,
    /// Pieces of a limb: two at twice the native ring degree.
    pieces: u8,
    lanes: Lanes,
    totals: Totals,
}

impl<'a> Run<'a> {
    fn new(d: &'a Description, head: Head<'a>, options: &SimOptions<'_>) -> Self {
        Self {
            watch: options.watch.clone(),
            d,
            order: Order::new(&head),
            calls: Calls::new(d, head),
            policies: HashMap::new(),
            spill: options.spill,
            prepared: HashMap::new(),
            cache: HashMap::new(),
            spilled: HashMap::new(),
            residency: Residency::new(d, &head),
            keys: KeyMemory::new(d, head.log_n, options.resident_keys),
            came: vec![false; head.inputs.len()],
            sent: HashSet::new(),
            limb_bytes: 8 << head.log_n,
            pieces: 1 + u8::from(head.log_n > d.log_n),
            lanes: Lanes::new(d.rpaus),
            totals: Totals {
                log_n: head.log_n,
                peak: vec![0; d.rpaus],
                ..Totals::default()
            },
            head,
        }
    }

    fn next_call(&mut self) -> Result<Option<Planned>, MachineError> {
        let next = self.calls.next_call()?;
        for limb in self.calls.take_stale() {
            self.residency.forget(limb);
        }
        Ok(next)
    }

    fn call(
        &mut self,
        planned: &Planned,
        on_schedule: &mut OnSchedule<'_>,
        on_call: &mut OnCall<'_>,
    ) -> Result<Arc<Outcome>, MachineError> {
        let call = &planned.call;
        let procedure = Arc::clone(self.calls.procedure(call.proc)?);
        self.residency.meet(call, &procedure);
        if !self.prepared.contains_key(&call.proc) {
            let mut prepared = prepared(self.d, &procedure, &self.watch)?;
            let shape = self.calls.shape(call.proc);
            if let Some(&policy) = shape.and_then(|shape| self.policies.get(&shape)) {
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
        let bundles = self.missing(call, &procedure);
        let outcome = self.place_and_schedule(call, &procedure, &bundles, on_schedule)?;
        let (key_table, key_loads) = self.bring_keys(call, &outcome.scheduled.key_plans);
        let inside = outcome.scheduled.host_params.iter().any(|p| !p.is_empty());
        let bundles = if inside { Vec::new() } else { bundles };
        for &limb in bundles.iter().flat_map(|b| &b.limbs) {
            self.arrived(limb);
        }
        let slots = |l: &LimbId| self.residency.slots(*l).cloned().unwrap_or_default();
        let args = call.args.iter().map(slots).collect();
        let arrived = bundles.into_iter().flat_map(|b| b.limbs).collect();
        on_call(&Step {
            done: planned.at.0 + 1,
            call,
            procedure: &procedure,
            args,
            arrived,
            key_table,
            key_loads,
            outcome: &outcome,
        })?;
        self.settle_results(call, &outcome);
        self.totals.calls += 1;
        self.totals.tally.add(&outcome.tally);
        let procedures = &mut self.totals.procedures;
        let entry = procedures.entry(procedure.name.clone()).or_default();
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

    fn finish(mut self) -> Totals {
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
        self.totals.cuts = self.calls.cuts();
        self.totals
    }
}
