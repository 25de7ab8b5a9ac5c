// SPDX-License-Identifier: Apache-2.0
//! Tests of the RTL's own assertions: they stop the simulation of a fault that only they can see, and sound RTL runs.

use ringmill_hdl::{BuildOptions, Hdl, HdlError, Model, Top};

use crate::common::failure::{Check, Failure};
use crate::faults::list::{List, When};
use crate::rtl::support::{Rng, seed};

/// The number of cycles: so many that the queue is empty in some of them, whatever the seed is.
const CYCLES: usize = 10_000;

/// Sets a port of a model.
fn set(model: &mut Model, port: &str, value: u64) -> Result<(), HdlError> {
    let port = model.input(port)?;
    model.set(port, value)
}

/// Runs a queue or a skid buffer with random offers, words and readiness, and looks at no output.
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

/// Runs the sequencer through a half and a full product of 256 coefficients, which 64 units take in two rows. These
/// have every pass but the sum, and every wait.
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

/// Returns a mismatch if an assertion of `module` stopped the simulation. One of another module says nothing about
/// `module`, and counts as a failed tool.
fn stopped(outcome: Result<(), HdlError>, module: &str) -> Check {
    match outcome {
        Err(HdlError::Simulation(message)) if !message.contains(module) => {
            Err(Failure::Tool(message))
        }
        other => Ok(other?),
    }
}

/// Faults, each of which an assertion of its module must stop.
pub const FAULTS: List = List {
    name: "assertions",
    text: include_str!("../faults/assertions.toml"),
    checks: &[
        ("queue", |hdl, _| {
            stopped(stream(hdl, "rm_fifo"), "rm_fifo.sv")
        }),
        ("skid", |hdl, _| {
            stopped(stream(hdl, "rm_skid"), "rm_skid.sv")
        }),
        ("sequencer", |hdl, _| {
            stopped(sequencer(hdl), "rm_polymul_seq.sv")
        }),
    ],
};

#[test]
#[ignore = "twenty seconds, a model for each assertion; `make full` runs it"]
fn every_fault_is_noticed() {
    FAULTS.all_are_noticed(When::Full);
}
