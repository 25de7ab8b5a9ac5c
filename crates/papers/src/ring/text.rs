// SPDX-License-Identifier: Apache-2.0
//! An application of section 5.3 of the Medha paper: the classification of an encrypted text by the published method
//! PrivFT.
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

/// The sizes of `examples/07_text_classification.py`: 24,576 words in three ciphertexts, and 20 classes in rows of 32
/// slots.
const PARTS: u32 = 3;
const CLASSES: usize = 20;
const PLACES: u32 = 32;

/// Compiles a program with as many products, additions and rotations as the Medha paper counts for its text
/// classification, and only the operations that these entail. The program has products of one ciphertext, sums that are
/// rotated and added to themselves, and the other additions.
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
