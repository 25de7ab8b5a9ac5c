// SPDX-License-Identifier: Apache-2.0
//! Writes trace files for Perfetto and Chrome's viewer: one lane for each unit of a machine or each CPU thread.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::time::Duration;

use ringmill_isa::mid::Procedure;
use ringmill_isa::source::SourceLoc;

/// The call of a procedure to which an event of a trace belongs, as far as the device knows it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Context<'a> {
    /// The line of the user's program that makes the call.
    pub line: Option<&'a SourceLoc>,
    /// The name of the procedure that the line calls.
    pub procedure: Option<&'a str>,
    /// The level of the ciphertexts that the call's procedure takes.
    pub level: Option<u32>,
    /// The index, among the program's moduli, of the modulus of the limb on which the unit worked.
    pub limb: Option<u16>,
}

impl<'a> Context<'a> {
    /// Returns the context of a call of `procedure` from a line of the user's program.
    pub fn of_call(line: Option<&'a SourceLoc>, procedure: &'a Procedure) -> Self {
        Self {
            line,
            procedure: Some(&procedure.name),
            level: procedure.level(),
            limb: None,
        }
    }

    /// Returns the context with the modulus index of the limb on which the unit worked, or without
    /// one for `None`.
    #[must_use]
    pub fn limb(self, limb: Option<u16>) -> Self {
        Self { limb, ..self }
    }
}

/// The interface that receives the events of a machine's run. Each unit of the machine has one lane.
pub trait TraceSink {
    /// Receives an event of a unit: `name` occupied `lane` for `cycles` from cycle `start` of the program, in the call
    /// `of`.
    fn event(&mut self, lane: &str, name: &str, start: u64, cycles: u64, of: &Context<'_>);

    /// Receives a change of a memory's fill: `memory` holds `bytes` bytes from cycle `at` of the program on.
    fn memory(&mut self, memory: &str, at: u64, bytes: u64);
}

/// The interface that receives the events of the CPU's threads.
pub trait SpanSink: Send {
    /// Receives an event of a thread: `lane` was busy with `name` for the time `took`, in the call `of`. It began at
    /// `start`, counted from the start of the run.
    fn span(&mut self, lane: &str, name: &str, start: Duration, took: Duration, of: &Context<'_>);

    /// Receives a change of a memory's fill: `memory` holds `bytes` bytes from the time `at` after the start of the
    /// run.
    fn memory(&mut self, memory: &str, at: Duration, bytes: u64);
}

/// A sink that passes every event on to two sinks.
pub struct Both<A, B>(pub A, pub B);

impl<A: TraceSink, B: TraceSink> TraceSink for Both<&mut A, &mut B> {
    fn event(&mut self, lane: &str, name: &str, start: u64, cycles: u64, of: &Context<'_>) {
        self.0.event(lane, name, start, cycles, of);
        self.1.event(lane, name, start, cycles, of);
    }

    fn memory(&mut self, memory: &str, at: u64, bytes: u64) {
        TraceSink::memory(self.0, memory, at, bytes);
        TraceSink::memory(self.1, memory, at, bytes);
    }
}

impl<A: SpanSink, B: SpanSink> SpanSink for Both<&mut A, &mut B> {
    fn span(&mut self, lane: &str, name: &str, start: Duration, took: Duration, of: &Context<'_>) {
        self.0.span(lane, name, start, took, of);
        self.1.span(lane, name, start, took, of);
    }

    fn memory(&mut self, memory: &str, at: Duration, bytes: u64) {
        SpanSink::memory(self.0, memory, at, bytes);
        SpanSink::memory(self.1, memory, at, bytes);
    }
}

/// A map from a procedure's name to the homomorphic operation that it computes. The compiler knows this, and no device
/// does.
pub type Operations = BTreeMap<String, String>;

/// A writer of a trace as JSON in the Trace Event Format. It writes each event as it comes, and keeps no event in
/// memory.
///
/// Each lane becomes a thread of one process. Times are microseconds; a machine's cycles are converted at its clock. A
/// failed write is remembered, and [`TraceWriter::finish`] returns its error. Without `finish` the file is incomplete.
pub struct TraceWriter<W: Write> {
    out: W,
    lanes: HashMap<String, usize>,
    operations: Operations,
    clock_mhz: f64,
    begun: bool,
    failed: Option<io::Error>,
}

impl<W: Write> TraceWriter<W> {
    /// Makes a writer of a trace to `out`. `process` names the process, for instance `sim:ring`; `clock_mhz` converts
    /// cycles to microseconds.
    pub fn new(out: W, process: &str, clock_mhz: f64) -> Self {
        let clock_mhz = if clock_mhz.is_finite() && clock_mhz > 0.0 {
            clock_mhz
        } else {
            1.0
        };
        let mut writer = Self {
            out,
            lanes: HashMap::new(),
            operations: Operations::new(),
            clock_mhz,
            begun: false,
            failed: None,
        };
        let name = serde_json::Value::from(process);
        writer.event(format_args!(
            r#"{{"ph":"M","name":"process_name","pid":1,"args":{{"name":{name}}}}}"#
        ));
        writer
    }

    /// Returns the writer with a map of procedures to homomorphic operations, whose names it adds to the events.
    #[must_use]
    pub fn with_operations(self, operations: Operations) -> Self {
        Self { operations, ..self }
    }

    fn event(&mut self, event: std::fmt::Arguments<'_>) {
        if self.failed.is_some() {
            return;
        }
        let opening = if self.begun {
            ",\n"
        } else {
            "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
        };
        self.begun = true;
        if let Err(e) = write!(self.out, "{opening}{event}") {
            self.failed = Some(e);
        }
    }

    /// Returns the number of a lane by its name. A new lane gets the next number.
    fn lane(&mut self, lane: &str) -> usize {
        if let Some(&tid) = self.lanes.get(lane) {
            return tid;
        }
        let tid = self.lanes.len() + 1;
        self.lanes.insert(lane.to_owned(), tid);
        let name = serde_json::Value::from(lane);
        self.event(format_args!(
            r#"{{"ph":"M","name":"thread_name","pid":1,"tid":{tid},"args":{{"name":{name}}}}}"#
        ));
        self.event(format_args!(
            r#"{{"ph":"M","name":"thread_sort_index","pid":1,"tid":{tid},"args":{{"sort_index":{tid}}}}}"#
        ));
        tid
    }

    fn complete(&mut self, lane: &str, name: &str, start_us: f64, took_us: f64, of: &Context<'_>) {
        let tid = self.lane(lane);
        let name = serde_json::Value::from(name);
        let args = serde_json::Value::from(self.args(of));
        self.event(format_args!(
            r#"{{"ph":"X","name":{name},"pid":1,"tid":{tid},"ts":{start_us:.4},"dur":{took_us:.4},"args":{args}}}"#
        ));
    }

    /// Returns the arguments of an event in JSON. Source files have their names without folders, because users pass
    /// traces to others.
    fn args(&self, of: &Context<'_>) -> serde_json::Map<String, serde_json::Value> {
        let operation = of.procedure.and_then(|name| self.operations.get(name));
        let line = of.line.map(|at| format!("{}:{}", at.file_name(), at.line));
        let known = [
            ("line", line.map(Into::into)),
            ("operation", operation.map(|name| name.as_str().into())),
            ("procedure", of.procedure.map(Into::into)),
            ("level", of.level.map(Into::into)),
            ("limb", of.limb.map(Into::into)),
        ];
        let known = known
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?)));
        known.collect()
    }

    fn counter(&mut self, memory: &str, at_us: f64, bytes: u64) {
        let name = serde_json::Value::from(memory);
        self.event(format_args!(
            r#"{{"ph":"C","name":{name},"pid":1,"ts":{at_us:.4},"args":{{"bytes":{bytes}}}}}"#
        ));
    }

    /// Writes the end of the JSON and returns the inner writer, or the first error of any write.
    ///
    /// # Errors
    /// The first error of a write.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(e) = self.failed {
            return Err(e);
        }
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()?;
        Ok(self.out)
    }
}

impl<W: Write> TraceSink for TraceWriter<W> {
    fn event(&mut self, lane: &str, name: &str, start_cycle: u64, cycles: u64, of: &Context<'_>) {
        let clock = self.clock_mhz;
        self.complete(
            lane,
            name,
            start_cycle as f64 / clock,
            cycles as f64 / clock,
            of,
        );
    }

    fn memory(&mut self, memory: &str, at: u64, bytes: u64) {
        self.counter(memory, at as f64 / self.clock_mhz, bytes);
    }
}

impl<W: Write + Send> SpanSink for TraceWriter<W> {
    fn span(&mut self, lane: &str, name: &str, start: Duration, took: Duration, of: &Context<'_>) {
        self.complete(
            lane,
            name,
            start.as_secs_f64() * 1e6,
            took.as_secs_f64() * 1e6,
            of,
        );
    }

    fn memory(&mut self, memory: &str, at: Duration, bytes: u64) {
        self.counter(memory, at.as_secs_f64() * 1e6, bytes);
    }
}
