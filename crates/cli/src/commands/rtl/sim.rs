// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill rtl sim`: runs the polynomial multiplier's RTL on random data, in lockstep with its cycle
//! model.

use std::sync::Arc;

use ringmill_device::DeviceError;
use ringmill_hdl::polymul::{Dice, DriveError, Lockstep, Multiplier, lockstep};
use ringmill_hdl::{BuildOptions, Optimise};
use ringmill_machines::polymul::{ArrayOp, Degree, Shape, Tables, check_modulus, cycles, floor};
use ringmill_math::primes::ntt_primes;
use ringmill_runtime::shown::{Bar, Parts};
use serde::Serialize;
use serde_json::json;

use super::{design, open};
use crate::args::rtl::{Operation, RtlSimArgs};
use crate::error::CliError;
use crate::output;
use crate::waiting::Waiting;

/// Converts an operation of the command line to the polynomial multiplier's operation.
fn array_op(operation: Operation) -> ArrayOp {
    match operation {
        Operation::Ntt => ArrayOp::Ntt,
        Operation::Intt => ArrayOp::Intt,
        Operation::Mul => ArrayOp::Mul,
        Operation::Hpm => ArrayOp::Hpm,
        Operation::Fpm => ArrayOp::Fpm,
        Operation::Add => ArrayOp::Add,
        Operation::Sub => ArrayOp::Sub,
    }
}

/// The result of one simulated operation, on which RTL and model agree.
#[derive(Debug, Serialize)]
struct Row {
    operation: &'static str,
    /// The cycles of the multiplier's array of butterflies and of each of its streams, counted in the RTL.
    rtl: Lockstep,
    model_cycles: u64,
    /// The least cycles that the machine's butterflies and multipliers could need for the operation.
    floor_cycles: u64,
}

pub fn sim(args: &RtlSimArgs) -> Result<(), CliError> {
    let hdl = open()?;
    let design = design::find(hdl.sources(), &args.design)?;
    let Some(machine) = &design.machine else {
        return Err(CliError::Usage(format!(
            "`{}` does not run here: what runs in lockstep with a model by this command is a machine of the kind polymul",
            design.name
        )));
    };
    let shape = machine.shape()?;
    let n = args.n.unwrap_or(1 << shape.max_log_n().min(12));
    let degree = shape.degree(n).map_err(DriveError::from).map_err(failed)?;
    let q = args.modulus.map_or_else(|| largest(degree), Ok)?;
    let tables = Arc::new(Tables::new(shape, n, q)?);

    let options = BuildOptions {
        optimise: Optimise::Run,
        waves: args.waves.is_some(),
        open: false,
    };
    // A first build takes half a minute, and tells no steps.
    let building = Waiting::new(format!(
        "building the RTL of {} with Verilator",
        design.name
    ));
    let mut multiplier = Multiplier::new(&hdl, shape, options)?;
    drop(building);
    if let Some(path) = &args.waves {
        multiplier.driver_mut().waves(path)?;
    }
    multiplier.stall(args.stalls.then_some(args.seed));
    multiplier.load_tables(&tables).map_err(failed)?;
    let operations = args
        .op
        .map_or(ArrayOp::ALL.to_vec(), |op| vec![array_op(op)]);
    let rows = rows(&mut multiplier, &operations, (degree, q), args.seed)?;
    if args.waves.is_some() {
        multiplier.driver_mut().waves_close()?;
    }
    if args.json {
        return output::json(&json!({
            "machine": machine, "top": design.top, "n": n, "modulus": q, "seed": args.seed, "stalls": args.stalls,
            "operations": rows, "agrees": true, "verilator": hdl.tools().versions().verilator,
        }));
    }
    let head = format!("{}, n = {n}, q = {q}, seed {}", design.top, args.seed);
    output::text(&table(&head, &rows))
}

/// Simulates each operation on new random operands. Successive operations alternate between the two sets of limbs in
/// the machine's memory.
fn rows(
    multiplier: &mut Multiplier,
    operations: &[ArrayOp],
    (degree, q): (Degree, u64),
    seed: u64,
) -> Result<Vec<Row>, CliError> {
    let shape: Shape = multiplier.shape();
    let bar = Bar::new();
    let mut parts = Parts::new(&bar, "simulating", operations.len() as u64);
    let mut dice = Dice::new(seed);
    let mut rows = Vec::with_capacity(operations.len());
    for (number, &op) in operations.iter().enumerate() {
        let (a, b) = (dice.limb(degree.n(), q), dice.limb(degree.n(), q));
        let rtl = lockstep(multiplier, op, &a, &b, number % 2).map_err(failed)?;
        parts.done();
        rows.push(Row {
            operation: op.name(),
            rtl,
            model_cycles: cycles(shape, degree, op),
            floor_cycles: floor(shape, degree, op),
        });
    }
    Ok(rows)
}

/// Returns the largest prime that the machine takes as modulus at a ring degree.
fn largest(degree: Degree) -> Result<u64, CliError> {
    for bits in (degree.log_n() + 2..=32).rev() {
        if let Ok(primes) = ntt_primes(bits, degree.log_n(), 1)
            && let Some(&q) = primes.first()
            && check_modulus(degree, q).is_ok()
        {
            return Ok(q);
        }
    }
    Err(CliError::Usage(format!(
        "no prime is 1 modulo {}; give --modulus",
        2 * degree.n()
    )))
}

/// Converts an error of a simulation. A difference between RTL and model becomes a disagreement, and any other error a
/// request that cannot be carried out.
fn failed(error: DriveError) -> CliError {
    match error {
        DriveError::Mismatch(mismatch) => CliError::Disagreement(mismatch.to_string()),
        error => DeviceError::from(error).into(),
    }
}

fn table(head: &str, rows: &[Row]) -> String {
    let mut text = format!(
        "{head}\n  {:<10} {:>12} {:>12} {:>12} {:>12} {:>12}\n",
        "operation", "cycles, RTL", "model", "floor", "load", "unload"
    );
    for row in rows {
        text += &format!(
            "  {:<10} {:>12} {:>12} {:>12} {:>12} {:>12}\n",
            row.operation,
            row.rtl.cycles,
            row.model_cycles,
            row.floor_cycles,
            row.rtl.load,
            row.rtl.unload
        );
    }
    text + "every residue is the reference's, every cycle the model's\n"
}
