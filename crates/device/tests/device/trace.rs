// SPDX-License-Identifier: Apache-2.0
//! Tests that trace files have the form that viewers read.

use std::io::{self, Write};
use std::time::Duration;

use ringmill_device::trace::{Context, Operations, SpanSink, TraceSink, TraceWriter};
use ringmill_isa::source::SourceLoc;

#[test]
fn trace_is_json_with_one_lane_a_unit() -> Result<(), Box<dyn std::error::Error>> {
    let mut trace = TraceWriter::new(Vec::new(), "sim:ring", 200.0);
    let none = Context::default();
    TraceSink::event(&mut trace, "rpau0.ntt", "NTT", 0, 400, &none);
    TraceSink::event(&mut trace, "link \"in\"", "LOAD", 400, 200, &none);
    TraceSink::event(&mut trace, "rpau0.ntt", "INTT", 600, 2, &none);
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
fn events_say_what_they_are_a_part_of() -> Result<(), Box<dyn std::error::Error>> {
    let operations = Operations::from([("mul.L2".to_owned(), "MUL".to_owned())]);
    let mut trace = TraceWriter::new(Vec::new(), "cpu:1", 1.0).with_operations(operations);
    let (file, line) = ("/home/ada/</script> \"model\".py".into(), 7);
    let at = SourceLoc { file, line };
    let of = Context {
        line: Some(&at),
        procedure: Some("mul.L2"),
        level: Some(2),
        limb: Some(1),
    };
    let moment = Duration::from_micros(3);
    trace.span("thread 0", "NTT", moment, moment, &of);
    SpanSink::memory(&mut trace, "limb buffers", moment, 4096);
    let json: serde_json::Value = serde_json::from_slice(&trace.finish()?)?;
    let events = json["traceEvents"].as_array().ok_or("no events")?;
    let of_phase = |phase: &str| events.iter().find(|e| e["ph"] == phase);
    let span = of_phase("X").ok_or("no span")?;
    assert_eq!(
        span["args"],
        serde_json::json!({
            "line": "script> \"model\".py:7", "operation": "MUL", "procedure": "mul.L2", "level": 2, "limb": 1,
        })
    );
    let memory = of_phase("C").ok_or("no memory")?;
    assert_eq!(memory["args"]["bytes"], 4096);
    assert_eq!(memory["ts"], 3.0);
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
    TraceSink::event(&mut trace, "a", "b", 0, 1, &Context::default());
    assert!(trace.finish().is_err());
}
