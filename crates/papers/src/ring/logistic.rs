// SPDX-License-Identifier: Apache-2.0
//! Section 5.3 of the ring paper: logistic regression on one batch of encrypted records.

use ringmill_compiler::Passes;
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::{Compiled, Options};
use ringmill_cpu::Cpu;
use ringmill_isa::macros::Visibility;
use ringmill_machines::Machine;
use ringmill_runtime::shown::Parts;
use ringmill_schemes::ckks::Params;

use super::application::{Case, Operations, SPILLS, Taken};
use super::paper;
use crate::error::PaperError;
use crate::figure::{Figure, How};
use crate::single::{measure, own, simulate};

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
) -> Result<Vec<Figure>, PaperError> {
    let compiled = compile()?;
    let theirs = &paper.logistic_regression;
    let counts = Operations::of(&compiled);
    let records = f64::from(RECORDS);
    let case = |machine| Case {
        table: TABLE,
        case: "one batch",
        machine,
    };
    let mut figures = Vec::new();
    for (name, machine) in machines {
        let report = simulate(machine.as_ref(), &compiled.program)?;
        parts.done();
        let taken = Taken::by(&report);
        let case = case(name);
        let batch = |metric: &str, unit: &str, paper, ours| {
            case.figure(metric, unit, Some(paper), ours, How::Model)
        };
        figures.push(case.figure(
            "records a batch",
            "",
            Some(theirs.samples),
            records,
            How::Stated,
        ));
        figures.extend([
            batch("rotations", "", theirs.rotations, counts.rotations),
            batch(
                "multiplications",
                "",
                theirs.multiplications,
                counts.multiplications,
            ),
            batch("rescales", "", theirs.rescales, counts.rescales),
            batch(
                "instructions",
                "",
                theirs.instructions,
                report.instructions as f64,
            ),
            batch("compute", "cycles", theirs.cycles, taken.cycles),
            batch(
                "compute a record",
                "cycles",
                theirs.cycles / theirs.samples,
                taken.cycles / records,
            ),
            batch(
                "communication, inputs and outputs",
                "ms",
                theirs.communication_ms,
                taken.communication_ms,
            ),
        ]);
        let limbs_of = &own(&report)?.keys;
        for (metric, unit, ours) in [
            ("key limbs needed", "", limbs_of.needed as f64),
            ("key limbs that fit the key memory", "", limbs_of.fit as f64),
            (
                "key limbs loaded during the run",
                "",
                limbs_of.loaded as f64,
            ),
            (
                "communication, keys loaded during the run",
                "ms",
                taken.keys_ms,
            ),
            (SPILLS, "ms", taken.spills_ms),
        ] {
            figures.push(case.figure(metric, unit, None, ours, How::Model));
        }
        figures.extend([
            batch("total", "ms", theirs.total_ms, taken.total_ms),
            batch(
                "total a record",
                "us",
                theirs.total_ms * 1e3 / theirs.samples,
                taken.total_ms * 1e3 / records,
            ),
        ]);
    }
    let ours = measure(cpu, &compiled.program)? * 1e3;
    parts.done();
    let case = case("cpu");
    figures.extend([
        case.figure(
            "records a batch",
            "",
            Some(theirs.samples),
            records,
            How::Stated,
        ),
        case.figure(
            "total (paper: SEAL)",
            "ms",
            Some(theirs.seal_s * 1e3),
            ours,
            How::Measured,
        ),
    ]);
    Ok(figures)
}

fn compile() -> Result<Compiled, PaperError> {
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
