// SPDX-License-Identifier: Apache-2.0
//! Trace files that Perfetto and Chrome's viewer open: one lane for each unit of a machine, one for each CPU thread.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::time::Duration;

use ringmill_isa::mid::Procedure;
use ringmill_isa::source::SourceLoc;

/// What an event is a part of, as far as the device knows it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Context<'a> {
    /// The line of the user's program.
    pub line: Option<&'a SourceLoc>,
    /// The name of the procedure that is called there.
    pub procedure: Option<&'a str>,
    /// The level of the procedure's ciphertexts.
    pub level: Option<u32>,
    /// The modulus of the limb, by its place among the program's moduli.
    pub limb: Option<u16>,
}

impl<'a> Context<'a> {
    /// Of a call of a procedure at a line.
    pub fn of_call(line: Option<&'a SourceLoc>, procedure: &'a Procedure) -> Self {
        Self {
            line,
            procedure: Some(&procedure.name),
            level: procedure.level(),
            limb: None,
        }
    }

    /// The same of one limb.
    #[must_use]
    pub fn limb(self, limb: Option<u16>) -> Self {
        Self { limb, ..self }
    }
}

/// Takes the events of a machine's run; one lane a unit.
pub trait TraceSink {
    /// `name` occupied `lane` for `cycles` from cycle `start` of the program, as a part of a call.
    fn event(&mut self, lane: &str, name: &str, start: u64, cycles: u64, of: &Context<'_>);

    /// `memory` holds so many bytes from cycle `at` of the program on.
    fn memory(&mut self, memory: &str, at: u64, bytes: u64);
}

/// Receives what the CPU's threads did.
pub trait SpanSink: Send {
    /// `lane` was busy with `name` for `took`, beginning `start` after the run began, as a part of a call.
    fn span(&mut self, lane: &str, name: &str, start: Duration, took: Duration, of: &Context<'_>);

    /// `memory` holds so many bytes, `at` after the run began.
    fn memory(&mut self, memory: &str, at: Duration, bytes: u64);
}

/// Passes everything on to two sinks.
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

/// The operation that each procedure is, by the procedure's name: what the compiler knows and no device.
pub type Operations = BTreeMap<String, String>;

/// Writes the Trace Event Format's JSON as events come; nothing is kept but the lanes' names.
///
/// Lanes become threads of one process. Times are microseconds: those of a machine are its cycles at its clock. A
/// write that fails is remembered and given by [`TraceWriter::finish`]; without `finish` the file is incomplete.
pub struct TraceWriter<W: Write> {
    out: W,
    lanes: HashMap<String, usize>,
    operations: Operations,
    clock_mhz: f64,
    begun: bool,
    failed: Option<io::Error>,
}

impl<W: Write> TraceWriter<W> {
    /// `process` names the whole, for instance `sim:ring`; `clock_mhz` turns cycles into microseconds.
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

    /// The same that says of events which operation they are a part of.
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

    /// The lane's number; a new lane gets a name and its place in the order of first appearance.
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

    /// What is known of an event. Files have their names without folders, as traces go to others.
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

    /// Ends the JSON and gives the writer back, or the first error met.
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
