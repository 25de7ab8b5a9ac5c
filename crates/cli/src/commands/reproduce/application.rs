//! The application of the ring paper's section 5.3: logistic regression on one batch of encrypted records.

use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::{Compiled, Options};
use ringmill_devices::Cpu;
use ringmill_isa::macros::{MacroOp, MacroProgram, Visibility};
use ringmill_machines::Machine;
use ringmill_schemes::ckks::Params;

use super::figure::{Figure, How};
use super::paper;
use super::single::{measure, simulate};
use crate::error::CliError;
use crate::progress::Parts;

const TABLE: &str = "Section 5.3: logistic regression";

/// 8192 slots: 256 records of 18 features padded to 32, summed by log2 rotations, sigmoid of degree 7; plaintext weights.
/// The paper gives its operation counts but not its program, so the counts stand beside ours.
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
    for (name, machine) in machines {
        let report = simulate(machine.as_ref(), &compiled.program)?;
        parts.done();
        let communication = (report.link.seconds_in + report.link.seconds_out) * 1e3;
        let keys = report.link.key_seconds * 1e3;
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
        for (metric, limbs) in [
            ("key limbs needed", report.keys.needed),
            ("key limbs that fit the key memory", report.keys.fit),
            ("key limbs loaded during the run", report.keys.loaded),
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
        push(
            name,
            "total",
            "ms",
            Some(theirs.total_ms),
            report.seconds * 1e3 + communication + keys,
            How::Model,
        );
    }
    let ours = measure(cpu, &compiled.program)? * 1e3;
    parts.done();
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
    const RECORDS: i64 = 256;
    const FEATURES: i64 = 32;
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
    let mut t = TraceBuilder::new("logistic_regression", (RECORDS * FEATURES) as u32)?;
    let x = t.input("x", Visibility::Encrypted, None)?;
    let w = t.input("w", Visibility::Plain, None)?;
    let mut sum = t.mul(x, w, None)?;
    let mut step = RECORDS * FEATURES / 2;
    while step >= RECORDS {
        let rotated = t.rotate(sum, step, None)?;
        sum = t.add(sum, rotated, None)?;
        step /= 2;
    }
    let y = t.polynomial(sum, &SIGMOID, None)?;
    t.output("y", y, None)?;
    let params = Params::builder(14)
        .prime_bits(&[60, 54, 54, 54, 54, 54], &[54])
        .build()?;
    Ok(ringmill_compiler::compile(
        t.finish(),
        &Options::given(params),
    )?)
}
