// SPDX-License-Identifier: Apache-2.0
//! What the RTL asserts of itself: a fault that only an assertion can see stops the simulation, and sound RTL runs.

use ringmill_hdl::{BuildOptions, Hdl, HdlError, Model, Top};

use crate::common::faulty::Faulty;
use crate::rtl::support::{Rng, hdl, seed};

/// So many that an empty queue is met, whatever the seed.
const CYCLES: usize = 10_000;

/// Sets a port of a model.
fn set(model: &mut Model, port: &str, value: u64) -> Result<(), HdlError> {
    let port = model.input(port)?;
    model.set(port, value)
}

/// Random offers and random readiness, nothing looked at.
fn stream(hdl: &Hdl, module: &str) -> Result<(), HdlError> {
    let mut rng = Rng::new(seed());
    let mut model = hdl.model(&Top::new(module), BuildOptions::default())?;
    model.reset()?;
    for _ in 0..CYCLES {
        for (port, value) in [
            ("valid_i", rng.below(2)),
            ("ready_i", rng.below(2)),
            ("data_i", rng.below(1 << 32)),
        ] {
            set(&mut model, port, value)?;
        }
        model.step(1)?;
    }
    Ok(())
}

fn queue(hdl: &Hdl) -> Result<(), HdlError> {
    stream(hdl, "rm_fifo")
}

fn skid(hdl: &Hdl) -> Result<(), HdlError> {
    stream(hdl, "rm_skid")
}

/// A half and a full product of 256 coefficients, two rows of 64 units: every pass but the sum, with every wait.
fn sequencer(hdl: &Hdl) -> Result<(), HdlError> {
    const HALF_AND_FULL: [u64; 2] = [3, 4];
    let mut model = hdl.model(&Top::new("rm_polymul_seq"), BuildOptions::default())?;
    for (port, value) in [
        ("start_i", 0),
        ("rows_i", 2),
        ("log_rows_i", 1),
        ("last_stage_i", 7),
        ("tw_top_i", 8 * 2 - 1),
        ("slot_i", 1),
        ("set_i", 1),
        ("buf_i", 0),
    ] {
        set(&mut model, port, value)?;
    }
    model.reset()?;
    for op in HALF_AND_FULL {
        set(&mut model, "op_i", op)?;
        set(&mut model, "start_i", 1)?;
        model.step(1)?;
        set(&mut model, "start_i", 0)?;
        model.step(400)?;
    }
    Ok(())
}

/// A drive, then faults: file, text, what it is changed to, and the module whose assertion fails.
type Broken = (&'static str, &'static str, &'static str, &'static str);

fn stopped(drive: fn(&Hdl) -> Result<(), HdlError>, faults: &[Broken]) {
    drive(hdl()).unwrap_or_else(|e| panic!("{e}"));
    for (file, from, to, module) in faults {
        let copy = Faulty::copy(file, from, to);
        let hdl = hdl().with_sources(&[copy.root()]).unwrap();
        match drive(&hdl) {
            Err(HdlError::Simulation(message)) => {
                assert!(message.contains(module), "{file}: {message}");
            }
            other => panic!("{file}: `{to}` runs on: {other:?}"),
        }
    }
}

#[test]
#[ignore = "models of their own; `make full` runs it"]
fn of_a_queue() {
    let module = "rm_fifo.sv";
    stopped(
        queue,
        &[
            (module, "pop = valid_o & ready_i", "pop = ready_i", module),
            (module, "!push ? tail_q :", "!valid_i ? tail_q :", module),
            (module, "data_o = mem[head_q]", "data_o = data_i", module),
        ],
    );
}

#[test]
#[ignore = "models of their own; `make full` runs it"]
fn of_a_skid_buffer() {
    let module = "rm_skid.sv";
    stopped(
        skid,
        &[
            (
                module,
                "move ? (spare_valid_q | push) : 1'b1",
                "move & (spare_valid_q | push)",
                module,
            ),
            (module, "!move & (spare_valid_q | push)", "push", module),
            (module, "if (move) out_q", "if (push) out_q", module),
        ],
    );
}

#[test]
#[ignore = "twenty seconds, a model for each assertion; `make full` runs it"]
fn of_the_sequencer() {
    let module = "rm_polymul_seq.sv";
    stopped(
        sequencer,
        &[
            (
                "rm_polymul_pkg.sv",
                "TurnGap = DepLatency - 2",
                "TurnGap = DepLatency - 3",
                module,
            ),
            (
                module,
                "more = (WaitWidth + 1)'(hot_q >> 1);",
                "more = '0;",
                module,
            ),
            (module, "low_d = low_q >> 1;", "low_d = low_q;", module),
            (module, "tw_d = tw_top_q;", "tw_d = tw_q;", module),
        ],
    );
}
