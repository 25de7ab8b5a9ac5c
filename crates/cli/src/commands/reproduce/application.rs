//! The application of the ring paper's section 5.3: logistic regression on one batch of encrypted records.

use ringmill_compiler::Passes;
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::{Compiled, Options};
use ringmill_devices::Cpu;
use ringmill_isa::macros::{MacroOp, MacroProgram, Visibility};
use ringmill_machines::Machine;
use ringmill_schemes::ckks::Params;

use super::figure::{Figure, How};
use super::paper;
use super::single::{measure, own, simulate};
use crate::error::CliError;
use crate::progress::Parts;

/// Records in one ciphertext, 18 features each.
const RECORDS: u32 = 455;
const SLOTS: u32 = 8192;
const TABLE: &str = "Section 5.3: logistic regression";

/// 8192 slots: as many records of as many features as the paper has in a batch, summed by five rotations, sigmoid of degree
/// 7; plaintext weights. The paper gives its operation counts but not its program, so the counts stand beside ours.
pub fn figures(
    paper: &paper::Ring,
    machines: &[(&str, Box<dyn Machine>)],
    cpu: &Cpu,
    parts: &mut Parts<'_>,
) -> Result<Vec<Figure>, CliError> {
    let mut figures = Vec::new();
    let compiled = compile_logistic_regression()?;
    let theirs = &paper.logistic_regression;
    let mut push =
        |machine: &str, metric: &str, unit: &str, paper: Option<f64>, ours: f64, how: How| {
            figures.push(Figure {
                machine: machine.to_owned(),
                table: TABLE.to_owned(),
                case: "one batch".to_owned(),
                metric: metric.to_owned(),
                unit: unit.to_owned(),
                paper,
                ours,
                how,
                tool: None,
            });
        };
    let counts = Operations::of(&compiled.managed);
    let records = f64::from(RECORDS);
    for (name, machine) in machines {
        let report = simulate(machine.as_ref(), &compiled.program)?;
        parts.done();
        let communication =
            (report.link.seconds_in + report.link.seconds_out + report.link.program_seconds) * 1e3;
        let keys = report.link.key_seconds * 1e3;
        push(
            name,
            "records a batch",
            "",
            Some(theirs.samples),
            records,
            How::Stated,
        );
        push(
            name,
            "rotations",
            "",
            Some(theirs.rotations),
            counts.rotations,
            How::Model,
        );
        push(
            name,
            "multiplications",
            "",
            Some(theirs.multiplications),
            counts.multiplications,
            How::Model,
        );
        push(
            name,
            "rescales",
            "",
            Some(theirs.rescales),
            counts.rescales,
            How::Model,
        );
        push(
            name,
            "instructions",
            "",
            Some(theirs.instructions),
            report.instructions as f64,
            How::Model,
        );
        push(
            name,
            "compute",
            "cycles",
            Some(theirs.cycles),
            report.cycles as f64,
            How::Model,
        );
        push(
            name,
            "communication, inputs and outputs",
            "ms",
            Some(theirs.communication_ms),
            communication,
            How::Model,
        );
        let limbs_of = &own(&report)?.keys;
        for (metric, limbs) in [
            ("key limbs needed", limbs_of.needed),
            ("key limbs that fit the key memory", limbs_of.fit),
            ("key limbs loaded during the run", limbs_of.loaded),
        ] {
            push(name, metric, "", None, limbs as f64, How::Model);
        }
        push(
            name,
            "communication, keys loaded during the run",
            "ms",
            None,
            keys,
            How::Model,
        );
        let total = report.end_to_end.seconds * 1e3;
        push(
            name,
            "total",
            "ms",
            Some(theirs.total_ms),
            total,
            How::Model,
        );
        push(
            name,
            "total a record",
            "us",
            Some(theirs.total_ms * 1e3 / theirs.samples),
            total * 1e3 / records,
            How::Model,
        );
    }
    let ours = measure(cpu, &compiled.program)? * 1e3;
    parts.done();
    push(
        "cpu",
        "records a batch",
        "",
        Some(theirs.samples),
        records,
        How::Stated,
    );
    push(
        "cpu",
        "total (paper: SEAL)",
        "ms",
        Some(theirs.seal_s * 1e3),
        ours,
        How::Measured,
    );
    Ok(figures)
}

/// Operation counts of a managed program.
struct Operations {
    rotations: f64,
    multiplications: f64,
    rescales: f64,
}

impl Operations {
    fn of(program: &MacroProgram) -> Self {
        let count = |ops: &[MacroOp]| {
            let results = |op: MacroOp, dst: usize| if op == MacroOp::Hrotate { dst } else { 1 };
            program
                .instrs
                .iter()
                .filter(|i| ops.contains(&i.op))
                .map(|i| results(i.op, i.dst.len()))
                .sum::<usize>() as f64
        };
        Self {
            rotations: count(&[MacroOp::Rotate, MacroOp::Hrotate]),
            multiplications: count(&[MacroOp::Relin]),
            rescales: count(&[MacroOp::Rescale]),
        }
    }
}

fn compile_logistic_regression() -> Result<Compiled, CliError> {
    // Least squares of the sigmoid on [-8, 8], as the paper's source [KSK+18] fits it.
    const SIGMOID: [f64; 8] = [
        0.5,
        0.216_84,
        0.0,
        -0.008_191_4,
        0.0,
        0.000_165_83,
        0.0,
        -0.000_001_195_2,
    ];
    let mut t = TraceBuilder::new("logistic_regression", SLOTS)?;
    let x = t.input("x", Visibility::Encrypted, None)?;
    let w = t.input("w", Visibility::Plain, None)?;
    let product = t.mul(x, w, None)?;
    // Feature f of record r is in slot 455 f + r. Sums of 2, 4, 8 and 16 features, and of the last two beside them.
    let mut sum = product;
    let mut pair = product;
    for features in [1, 2, 4, 8] {
        let rotated = t.rotate(sum, features * i64::from(RECORDS), None)?;
        sum = t.add(sum, rotated, None)?;
        if features == 1 {
            pair = sum;
        }
    }
    let last = t.rotate(pair, 16 * i64::from(RECORDS), None)?;
    let sum = t.add(sum, last, None)?;
    let y = t.polynomial(sum, &SIGMOID, None)?;
    t.output("y", y, None)?;
    let params = Params::builder(14)
        .prime_bits(&[60, 54, 54, 54, 54, 54], &[54])
        .build()?;
    // One rotation after another, as the paper counts them.
    let options = Options {
        passes: Passes {
            hoist: false,
            ..Passes::ALL
        },
        // Nothing is encrypted; with inputs of 1 and more a level would have to be kept for the size of the results.
        input_bound: 0.05,
        ..Options::given(params)
    };
    Ok(ringmill_compiler::compile(t.finish(), &options)?)
}
