//! `ringmill rtl sim`: a machine's RTL on random data, in lockstep with its model.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use ringmill_devices::DeviceError;
use ringmill_devices::shown::{Bar, Parts};
use ringmill_hdl::polymul::{Dice, DriveError, Lockstep, Multiplier, lockstep};
use ringmill_hdl::{BuildOptions, Optimise};
use ringmill_machines::polymul::{ArrayOp, Degree, Shape, Tables, check_modulus, cycles, floor};
use ringmill_math::primes::ntt_primes;
use serde::Serialize;
use serde_json::json;

use super::args::DesignArgs;
use super::{design, open};
use crate::error::CliError;
use crate::output;

/// Simulate a machine's RTL with Verilator on random data, in lockstep with its cycle model and the reference transform.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ringmill rtl sim polymul --set p=4 --n 1024
  ringmill rtl sim polymul --set p=4 --op fpm --n 256 --modulus 7681 --seed 7 --stalls
  ringmill rtl sim polymul --set p=4 --op ntt --n 256 --waves ntt.vcd

Residues are compared one by one, and in every cycle whether the array issues. Exit status: 0 all agree, 1 they do not,
2 the request could not be carried out. The model is built once for each shape: about a minute for the paper's 32 units.
Waves are VCD, which GTKWave and Surfer open.")]
pub struct RtlSimArgs {
    #[command(flatten)]
    pub design: DesignArgs,

    /// The operation; every one when left out.
    #[arg(long, value_enum)]
    pub op: Option<Operation>,

    /// The degree [default: the machine's largest, at most 4096].
    #[arg(long)]
    pub n: Option<usize>,

    /// The modulus, a prime that is 1 modulo 2n [default: the largest that the machine takes].
    #[arg(long)]
    pub modulus: Option<u64>,

    /// Seed of the data and of the stalls.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Let both streams stall at random in one cycle of two.
    #[arg(long)]
    pub stalls: bool,

    /// Write every signal of the run to a VCD file.
    #[arg(long, value_name = "FILE")]
    pub waves: Option<PathBuf>,

    /// Print a JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// What the array does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Operation {
    /// Forward transform.
    Ntt,
    /// Inverse transform.
    Intt,
    /// Coefficient-wise product.
    Mul,
    /// Transform, product with a polynomial in evaluation form, inverse transform.
    Hpm,
    /// Product of two polynomials.
    Fpm,
    /// Sum.
    Add,
    /// Difference.
    Sub,
}

impl Operation {
    fn op(self) -> ArrayOp {
        match self {
            Self::Ntt => ArrayOp::Ntt,
            Self::Intt => ArrayOp::Intt,
            Self::Mul => ArrayOp::Mul,
            Self::Hpm => ArrayOp::Hpm,
            Self::Fpm => ArrayOp::Fpm,
            Self::Add => ArrayOp::Add,
            Self::Sub => ArrayOp::Sub,
        }
    }
}

/// One operation, RTL and model agreeing.
#[derive(Debug, Serialize)]
struct Row {
    operation: &'static str,
    /// Cycles of the array, counted in the RTL, and of each stream.
    rtl: Lockstep,
    model_cycles: u64,
    /// The least that its butterflies and multipliers could need.
    floor_cycles: u64,
}

pub fn sim(args: &RtlSimArgs) -> Result<(), CliError> {
    let hdl = open()?;
    let design = design::find(&hdl, &args.design)?;
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
    let mut multiplier = Multiplier::new(&hdl, shape, options)?;
    if let Some(path) = &args.waves {
        multiplier.driver_mut().waves(path)?;
    }
    multiplier.stall(args.stalls.then_some(args.seed));
    multiplier.load_tables(&tables).map_err(failed)?;
    let operations = args.op.map_or(ArrayOp::ALL.to_vec(), |op| vec![op.op()]);
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

/// Each operation on fresh random operands, the sets in turn.
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

/// The largest prime that the machine takes at a degree.
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

/// RTL and model that part are a disagreement, all else a request that cannot be carried out.
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
