// SPDX-License-Identifier: Apache-2.0
//! An application of section 5.3 of the Medha paper: logistic regression on one batch of encrypted records.

use ringmill_compiler::Passes;
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::{Compiled, Options};
use ringmill_isa::macros::Visibility;
use ringmill_schemes::ckks::Params;

use crate::error::PaperError;

/// The number of records in one ciphertext, with 18 features each.
pub const RECORDS: u32 = 455;
const SLOTS: u32 = 8192;

/// Compiles a logistic regression to a CKKS program on 8192 slots. It takes the Medha paper's batch of records and
/// features, which five rotations sum, a sigmoid of degree 7, and plaintext weights. The paper gives operation counts
/// but no program, so our counts are printed beside the paper's.
pub fn compile() -> Result<Compiled, PaperError> {
    // The least-squares fit of the sigmoid on [-8, 8], from the paper's source [KSK+18].
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
    // Feature f of record r is in slot 455 f + r. The loop sums 2, 4, 8 and 16 features; the last two are added to it.
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
        // Nothing is encrypted. With inputs of 1 and more, a level would have to be kept for the size of the results.
        input_bound: 0.05,
        ..Options::given(params)
    };
    Ok(ringmill_compiler::compile(t.finish(), &options)?)
}
