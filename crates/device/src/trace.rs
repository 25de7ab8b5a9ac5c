//! Trace files that Perfetto and Chrome's viewer open: one lane for each unit of a machine, one for each CPU thread.

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

/// Takes the events of a machine's run; one lane a unit.
pub trait TraceSink {
    /// `name` occupied `lane` for `cycles` from cycle `start` of the program.
    fn event(&mut self, lane: &str, name: &str, start: u64, cycles: u64);
}

/// Receives what the CPU's threads did.
pub trait SpanSink: Send {
    /// `lane` was busy with `name` for `took`, beginning `start` after the run began.
    fn span(&mut self, lane: &str, name: &str, start: Duration, took: Duration);
}

/// Writes the Trace Event Format's JSON as events come; nothing is kept but the lanes' names.
///
/// Lanes become threads of one process. Times are microseconds: those of a machine are its cycles at its clock. A
/// write that fails is remembered and given by [`TraceWriter::finish`]; without `finish` the file is incomplete.
pub struct TraceWriter<W: Write> {
    out: W,
    lanes: HashMap<String, usize>,
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

    fn complete(&mut self, lane: &str, name: &str, start_us: f64, took_us: f64) {
        let tid = self.lane(lane);
        let name = serde_json::Value::from(name);
        self.event(format_args!(
            r#"{{"ph":"X","name":{name},"pid":1,"tid":{tid},"ts":{start_us:.4},"dur":{took_us:.4}}}"#
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
    fn event(&mut self, lane: &str, name: &str, start_cycle: u64, cycles: u64) {
        let clock = self.clock_mhz;
        self.complete(
            lane,
            name,
            start_cycle as f64 / clock,
            cycles as f64 / clock,
        );
    }
}

impl<W: Write + Send> SpanSink for TraceWriter<W> {
    fn span(&mut self, lane: &str, name: &str, start: Duration, took: Duration) {
        self.complete(
            lane,
            name,
            start.as_secs_f64() * 1e6,
            took.as_secs_f64() * 1e6,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_is_json_with_one_lane_a_unit() -> Result<(), Box<dyn std::error::Error>> {
        let mut trace = TraceWriter::new(Vec::new(), "sim:ring", 200.0);
        TraceSink::event(&mut trace, "rpau0.ntt", "NTT", 0, 400);
        TraceSink::event(&mut trace, "link \"in\"", "LOAD", 400, 200);
        TraceSink::event(&mut trace, "rpau0.ntt", "INTT", 600, 2);
        let json: serde_json::Value = serde_json::from_slice(&trace.finish()?)?;
        let events = json["traceEvents"].as_array().ok_or("no events")?;
        let names: Vec<&str> = events
            .iter()
            .filter(|e| e["name"] == "thread_name")
            .filter_map(|e| e["args"]["name"].as_str())
            .collect();
        assert_eq!(names, ["rpau0.ntt", "link \"in\""]);
        let spans: Vec<(u64, f64, f64)> = events
            .iter()
            .filter(|e| e["ph"] == "X")
            .filter_map(|e| Some((e["tid"].as_u64()?, e["ts"].as_f64()?, e["dur"].as_f64()?)))
            .collect();
        assert_eq!(spans, [(1, 0.0, 2.0), (2, 2.0, 1.0), (1, 3.0, 0.01)]);
        Ok(())
    }

    #[test]
    fn a_failing_disk_is_reported_at_the_end() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::Error::other("disk full"))
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut trace = TraceWriter::new(Full, "cpu", 1.0);
        TraceSink::event(&mut trace, "a", "b", 0, 1);
        assert!(trace.finish().is_err());
    }
}
