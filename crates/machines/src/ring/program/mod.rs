// SPDX-License-Identifier: Apache-2.0
//! Runs whole programs on the ring machine's cycle model: calls one after another, with values on the machine while
//! they are needed.
//!
//! The caller gives a run its calls one by one. A run stores the known calls, the live limbs, and the schedule of each
//! pair of a procedure and a placement of its arguments. A call whose procedure and placement occurred before takes the
//! stored schedule, unless a full cache was emptied since.

mod calls;
mod cutting;
mod layout;
mod moving;
mod outcomes;
mod placing;
mod state;

use ringmill_isa::mid::{Call, Called, Head, LimbId, ParamRole, Procedure, Verified};
use ringmill_limits::Watch;

use super::description::Description;
use super::keys::KeyLoad;
use super::model;
use super::schedule::Scheduled;
use super::tally::{
    LINK_INPUTS, LINK_KEYS, LINK_OUTPUTS, LINK_PROGRAMS, LINK_SPILLS, Tally, Tracer,
};
use crate::ring::report::{Cuts, KeyUse, Spills};
use crate::{MachineError, SimOptions};
use moving::KeyTable;
use ringmill_device::report::Ledger;
use ringmill_device::trace::{Context, TraceSink};
use state::{Run, Traffic};

/// The schedule of a procedure for one placement of its arguments, with its cycles.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub scheduled: Scheduled,
    pub cycles: u64,
    pub tally: Tally,
}

/// The sums over all calls of a program's run on the ring machine: cycles, bytes over the host link, and counts.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// log2 of the program's ring degree.
    pub log_n: u8,
    pub cycles: u64,
    /// The cycles of the program's run by source line and by procedure.
    pub ledger: Ledger,
    /// The number of calls that ran. Each part of a cut call counts as a call.
    pub calls: u64,
    pub tally: Tally,
    pub procedures: std::collections::BTreeMap<String, ringmill_device::report::ProcedureUse>,
    pub peak: Vec<u8>,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub keys: KeyUse,
    /// The bytes of instruction words, tables and call descriptions that crossed the link. The twiddles of a ring below
    /// the native degree and those of stand-ins count, too.
    pub program_bytes: u64,
    /// The bytes of key limbs that crossed the link between calls.
    pub key_bytes: u64,
    /// The number of different key limbs, in pieces of the native degree, on the RPAU that uses most of them.
    pub key_limbs: u64,
    pub spills: Spills,
    pub cuts: Cuts,
    /// The number of key limbs, in pieces of the native degree, that count as loaded before the first call.
    pub resident_keys: u64,
}

/// A function that receives every schedule when it is made, even if no call uses it in the end.
pub type OnSchedule<'a> = dyn FnMut(&Outcome) -> Result<(), MachineError> + 'a;

/// A call of the program when it begins to run on the machine, before its results have memory slots.
#[derive(Debug)]
pub struct Step<'a> {
    /// The call: one of the program, or a part of one that was cut. `procedure` is the procedure that it calls.
    pub call: &'a Call,
    pub procedure: &'a Procedure,
    /// For each argument the memory slots of its pieces. A limb has one piece for each memory slot that it fills. The
    /// list is empty for a key limb, which lies in key memory, and for operands that start on the host because the
    /// procedure does not fit polynomial memory.
    pub args: Vec<Vec<u8>>,
    /// The arguments that crossed the link before this call; those that cross inside the procedure are not listed.
    pub arrived: Vec<LimbId>,
    /// The call's key table: for each RPAU and key index (the number by which instruction words name a key limb),
    /// the key slot.
    pub key_table: KeyTable,
    /// The key limbs that crossed the link before this call; those that the procedure loads itself are not listed.
    pub key_loads: Vec<KeyLoad>,
    pub outcome: &'a Outcome,
}

impl Step<'_> {
    /// Returns the key index of each parameter that is a key limb, and `None` for other parameters. A key index is
    /// the position of the limb's first piece in the call's key table. Parameters with the same argument, digit,
    /// polynomial of the key and layer of primes share an index, each on its own RPAU. The indices follow the order in
    /// which the parameters name these four first.
    pub fn key_indices(&self, d: &Description) -> Vec<Option<u8>> {
        let pieces = d.pieces(self.procedure.log_n);
        let mut keys = Vec::new();
        let params = self.procedure.params.iter();
        params
            .map(|param| {
                let ParamRole::Key { arg, digit, part } = param.role else {
                    return None;
                };
                let modulus = self.procedure.limb(param.value)?.modulus.0;
                let id = (arg, digit, part, usize::from(modulus) / d.rpaus);
                let at = keys.iter().position(|k| *k == id).unwrap_or_else(|| {
                    keys.push(id);
                    keys.len() - 1
                });
                u8::try_from(at * pieces).ok()
            })
            .collect()
    }
}

/// A function that receives every call when it runs.
pub type OnCall<'a> = dyn FnMut(&Step<'_>) -> Result<(), MachineError> + 'a;

/// Receives the events of a program's run: new schedules, calls, and the number of calls done.
pub trait Told {
    /// Receives a schedule when it is made.
    ///
    /// # Errors
    /// Any error ends the run.
    fn schedule(&mut self, _: &Outcome) -> Result<(), MachineError> {
        Ok(())
    }

    /// Returns whether [`Self::call`] is to be called, which costs time.
    fn wants_calls(&self) -> bool {
        false
    }

    /// Receives a call when it runs, if [`Self::wants_calls`] returns true.
    ///
    /// # Errors
    /// Any error ends the run.
    fn call(&mut self, _: &Step<'_>) -> Result<(), MachineError> {
        Ok(())
    }

    /// Receives the number of calls of the program that are done, after each call and each part of a cut call. A part
    /// counts as the call before which it runs, so that call counts before it has run.
    fn done(&mut self, _: u64) {}
}

/// A pair of functions as a receiver of events: the first gets new schedules, the second gets calls.
struct Callbacks<'a, 'b>(&'a mut OnSchedule<'b>, &'a mut OnCall<'b>);

impl Told for Callbacks<'_, '_> {
    fn schedule(&mut self, outcome: &Outcome) -> Result<(), MachineError> {
        (self.0)(outcome)
    }

    fn wants_calls(&self) -> bool {
        true
    }

    fn call(&mut self, step: &Step<'_>) -> Result<(), MachineError> {
        (self.1)(step)
    }
}

/// Runs `program` without data on the model of the machine `d`, and returns the totals.
///
/// # Errors
/// An error for a program that the machine cannot run or that does not fit; the errors of the two functions.
/// [`MachineError::Halt`] if the watch of the options stops the run.
pub fn run<'b>(
    d: &Description,
    program: &Verified,
    options: SimOptions<'_>,
    on_schedule: &mut OnSchedule<'b>,
    on_call: &mut OnCall<'b>,
) -> Result<Totals, MachineError> {
    let mut told = Callbacks(on_schedule, on_call);
    let mut running = Running::new(d, program.head(), options.for_now());
    let mut stream = program.stream();
    while let Some(called) = stream.next_call()? {
        running.feed(called, &mut told)?;
    }
    running.finish(stream.outputs()?, &mut told)
}

/// A run of a program without data, to which calls are fed one by one.
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

    /// Returns the cycles of all calls that have run.
    pub fn cycles(&self) -> u64 {
        self.run.totals.cycles
    }

    /// Adds the program's next call. Runs each call for which enough later calls are known for the
    /// scheduler's decisions.
    ///
    /// # Errors
    /// An error for a call that cannot come next, or that the machine cannot run; the errors of `told`.
    /// [`MachineError::Halt`] if the watch of the options stops the run.
    pub fn feed(&mut self, called: Called, told: &mut dyn Told) -> Result<(), MachineError> {
        self.run.order.take(&called)?;
        self.run.calls.feed(called);
        self.go_on(told)
    }

    /// Runs the remaining calls after the last one was fed, and returns the totals of the run.
    ///
    /// # Errors
    /// The errors of [`Self::feed`]; an error if an output is neither an input of the program nor computed by a call.
    pub fn finish(
        mut self,
        outputs: Vec<LimbId>,
        told: &mut dyn Told,
    ) -> Result<Totals, MachineError> {
        self.run.order.check(&outputs)?;
        self.run.calls.end(outputs);
        self.go_on(told)?;
        let before = self.run.traffic();
        self.run.send_rest();
        if let Some(sink) = self.trace.as_deref_mut() {
            let [_, _, _, _, outputs] = crossed(before, self.run.traffic());
            let of = Context::default();
            self.clock.link(sink, (LINK_OUTPUTS, "OUT"), outputs, &of);
        }
        Ok(self.run.finish())
    }

    fn go_on(&mut self, told: &mut dyn Told) -> Result<(), MachineError> {
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
            // Data that come before the first call, such as twiddles of a smaller ring, come with its program.
            let before = match run.totals.cycles {
                0 => [0; 5],
                _ => run.traffic(),
            };
            let outcome = run.call(&planned, told).map_err(at)?;
            if let Some(sink) = trace.as_deref_mut() {
                let [programs, spills, inputs, keys, outputs] = crossed(before, run.traffic());
                let call = &planned.call;
                let whole = run.head.procs.get(run.calls.whole(call.proc) as usize);
                let of = whole.map_or_else(Context::default, |procedure| {
                    Context::of_call(call.loc.as_ref(), procedure)
                });
                clock.link(sink, (LINK_PROGRAMS, "CODE"), programs, &of);
                clock.link(sink, (LINK_SPILLS, "SPILL"), spills, &of);
                clock.link(sink, (LINK_INPUTS, "IN"), inputs, &of);
                clock.link(sink, (LINK_KEYS, "KEYS"), keys, &of);
                let mut tracer = Tracer {
                    sink: &mut *sink,
                    offset: clock.now(),
                    lanes: &run.lanes,
                    of,
                    primes: &outcome.scheduled.code.primes,
                };
                model::run(clock.d, &outcome.scheduled.code, &mut tracer)?;
                clock.cycle += outcome.cycles as f64;
                clock.link(sink, (LINK_OUTPUTS, "OUT"), outputs, &of);
                let busy: u32 = run.residency.busy().iter().map(|r| r.count_ones()).sum();
                let bytes = u64::from(busy) * clock.d.slot_bytes();
                sink.memory("polynomial memory", clock.now(), bytes);
            }
            run.totals.cycles += outcome.cycles;
            let whole = run.calls.whole(planned.call.proc);
            let entry = run.totals.ledger.call(planned.call.loc.as_ref(), whole);
            run.totals.ledger.spend(entry, outcome.cycles);
        }
        Ok(())
    }
}

fn crossed(before: Traffic, now: Traffic) -> Traffic {
    std::array::from_fn(|i| now[i].saturating_sub(before[i]))
}

/// The time of a trace in cycles. Machine and link work one after the other in it, as they do in the total time.
struct Clock<'a> {
    d: &'a Description,
    cycle: f64,
}

impl Clock<'_> {
    fn now(&self) -> u64 {
        self.cycle.round() as u64
    }

    /// Adds a transfer of `bytes` over the link to the trace, if there are any.
    fn link(
        &mut self,
        sink: &mut dyn TraceSink,
        (lane, name): (&str, &str),
        bytes: u64,
        of: &Context<'_>,
    ) {
        if bytes == 0 {
            return;
        }
        let start = self.now();
        self.cycle += self.d.link_seconds(bytes) * self.d.clock_mhz * 1e6;
        sink.event(lane, name, start, self.now() - start, of);
    }
}
