// SPDX-License-Identifier: Apache-2.0
//! The programs of the applications in section 5.3 of the Medha paper: logistic regression, and classification of an
//! encrypted text by the published method PrivFT. The forecast of demand is in `forecast.rs`.
//!
//! The Medha paper counts the operations of PrivFT's inference and gives Medha's time for it, but not the program. So
//! two programs are timed. One is the counted operations alone, one after another at Set-1's highest level. The other
//! is the classification of our example. The printed time is 45 times the time that the paper's own Table 2 gives for
//! these counts. So our totals stand beside the latter, which has no communication.

use ringmill_compiler::Passes;
use ringmill_compiler::builder::{TraceBuilder, TraceError, Traced};
use ringmill_compiler::ckks::{Compiled, Options};
use ringmill_isa::macros::Visibility;
use ringmill_schemes::ckks::{Level, Params};

use crate::error::PaperError;
use crate::scope::Scope;

const SLOTS: u32 = 8192;

/// The number of records in one ciphertext, with 18 features each.
pub const RECORDS: u32 = 455;

/// Compiles a logistic regression to a CKKS program on 8192 slots. It takes the Medha paper's batch of records and
/// features, which five rotations sum, a sigmoid of degree 7, and plaintext weights. The paper gives operation counts
/// but no program, so our counts are printed beside the paper's.
///
/// # Errors
/// Fails if the compiler refuses the program.
pub fn logistic() -> Result<Compiled, PaperError> {
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

/// The sizes of `examples/07_text_classification.py`: 24,576 words in three ciphertexts, and 20 classes in rows of 32
/// slots.
const PARTS: u32 = 3;
const CLASSES: usize = 20;
const PLACES: u32 = 32;

/// Compiles a program with as many products, additions and rotations as the Medha paper counts for its text
/// classification, and only the operations that these entail. The program has products of one ciphertext, sums that are
/// rotated and added to themselves, and the other additions.
///
/// # Errors
/// Fails if the paper's counts are missing, or if the compiler refuses the program.
///
/// # Panics
/// Panics if the paper's count of products is 0. With overflow checks it also panics if the paper counts more rotations
/// than additions.
pub fn counted(at: &Scope<'_>) -> Result<Compiled, PaperError> {
    let mut t = TraceBuilder::new("privft_counts", SLOTS)?;
    let x = t.input("x", Visibility::Encrypted, None)?;
    let mut products = Vec::new();
    for i in 0..at.count("privft.scalar_multiplications")? as u32 {
        let factor = t.scalar(0.3 + 0.1 * f64::from(i), None)?;
        products.push(t.mul(x, factor, None)?);
    }
    let mut sum = products[0];
    let rotations = at.count("privft.rotations")? as u32;
    for i in 0..rotations {
        let rotated = t.rotate(sum, 1 << (i % SLOTS.ilog2()), None)?;
        sum = t.add(sum, rotated, None)?;
    }
    let others = at.count("privft.additions")? - rotations as usize;
    for &product in products.iter().cycle().skip(1).take(others) {
        sum = t.add(sum, product, None)?;
    }
    t.output("y", sum, None)?;
    let options = Options {
        passes: Passes {
            hoist: false,
            ..Passes::ALL
        },
        // Small enough that no level is kept for the size of the result.
        input_bound: 1e-6,
        // The highest level, as the paper uses the whole of Set-1.
        output_level: Level(5),
        ..Options::given(Params::named("set1")?)
    };
    Ok(ringmill_compiler::compile(t.finish(), &options)?)
}

/// Compiles the text classification of our example with arbitrary weights, since the time does not depend on them.
///
/// # Errors
/// Fails if the compiler refuses the program.
pub fn classifier() -> Result<Compiled, PaperError> {
    let mut t = TraceBuilder::new("text_classification", SLOTS)?;
    let mut words = Vec::new();
    for part in 0..PARTS {
        words.push(t.input(&format!("words{part}"), Visibility::Encrypted, None)?);
    }
    let mut total = None;
    for step in (0..PLACES).rev() {
        if let Some(sum) = total {
            total = Some(t.rotate(sum, 1, None)?);
        }
        for (part, &x) in (0u32..).zip(&words) {
            let weights = t.vector(weights(PARTS * step + part), None)?;
            let term = t.mul(x, weights, None)?;
            total = Some(plus(&mut t, total, term)?);
        }
    }
    let Some(mut sum) = total else {
        return Err(PaperError::Internal("a matrix of nothing".to_owned()));
    };
    let mut step = SLOTS / 2;
    while step >= PLACES {
        let moved = t.rotate(sum, step.into(), None)?;
        sum = t.add(sum, moved, None)?;
        step /= 2;
    }
    let biases = t.vector(weights(PARTS * PLACES), None)?;
    let scores = t.add(sum, biases, None)?;
    t.output("scores", scores, None)?;
    let params = Params::builder(14).prime_bits(&[60, 45], &[60]).build()?;
    Ok(ringmill_compiler::compile(
        t.finish(),
        &Options::given(params),
    )?)
}

fn plus(t: &mut TraceBuilder, sum: Option<Traced>, term: Traced) -> Result<Traced, TraceError> {
    match sum {
        Some(sum) => t.add(sum, term, None),
        None => Ok(term),
    }
}

/// Returns arbitrary weights in [-1/2, 1/2) in the slots that have a class, and 0 in the others.
fn weights(number: u32) -> Vec<(f64, f64)> {
    let slot = |s: u32| {
        let mixed = (s ^ number.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b);
        let weight = f64::from(mixed >> 8) / f64::from(1 << 24) - 0.5;
        let has_class = (s % PLACES) < CLASSES as u32;
        (if has_class { weight } else { 0.0 }, 0.0)
    };
    (0..SLOTS).map(slot).collect()
}
