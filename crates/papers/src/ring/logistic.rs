// SPDX-License-Identifier: Apache-2.0
//! Section 5.3 of the ring paper: logistic regression on one batch of encrypted records.

use ringmill_compiler::Passes;
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::{Compiled, Options};
use ringmill_isa::macros::Visibility;
use ringmill_schemes::ckks::Params;

use crate::error::PaperError;

/// Records in one ciphertext, 18 features each.
pub const RECORDS: u32 = 455;
const SLOTS: u32 = 8192;

/// 8192 slots: as many records of as many features as the paper has in a batch, summed by five rotations, sigmoid of degree
/// 7; plaintext weights. The paper gives its operation counts but not its program, so the counts stand beside ours.
pub fn compile() -> Result<Compiled, PaperError> {
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
