// SPDX-License-Identifier: Apache-2.0
//! Tests of the multiplier for run-time moduli of up to 61 bits against `ringmill_math`, with moduli that change from
//! cycle to cycle.

use ringmill_hdl::leaves::WIDE_MULTIPLIERS;
use ringmill_hdl::{BuildOptions, Hdl, Top};
use ringmill_math::Modulus;

use crate::common::failure::Check;
use crate::rtl::arith::pairs;
use crate::rtl::support::{Case, Pipeline, Rng, hdl, seed};

/// Returns moduli q = 1 mod 2^low below 2^width: at both ends of the range, at edges of the bits that make the
/// reduction's factor m, and random ones of every size. The reduction needs no prime.
fn moduli(width: u32, low: u32, rng: &mut Rng) -> Vec<u64> {
    let largest = (1u64 << (width - low)) - 1;
    let mut high = vec![1, 2, 3, 127, 128, largest, largest - 1, largest & !127];
    high.extend((1..=width - low).map(|bits| 1 + (rng.bits() >> (64 - bits))));
    high.iter()
        .map(|&high| (high.min(largest) << low) + 1)
        .collect()
}

/// Computes a b R^-1 mod q with R = 2^(16 ceil(width / 16)).
fn product(q: Modulus, width: u32, a: u64, b: u64) -> u64 {
    let r = q.reduce_wide(1 << (16 * width.div_ceil(16)));
    q.mul(q.mul(a, b), q.inv(r).expect("q is odd"))
}

pub fn check_wide(hdl: &Hdl, width: u32, low: u32, latency: u64, seed: u64) -> Check {
    let mut rng = Rng::new(seed);
    let top = Top::new("rm_wide_mod_mul")
        .int("Width", u64::from(width))
        .int("Low", u64::from(low));
    let model = hdl.model(&top, BuildOptions::default())?;
    let ports = ["q_i", "a_i", "b_i"].map(|name| (name, width));
    let mut pipeline = Pipeline::new(model, &ports, &["r_o"])?;
    let mut cases = Vec::new();
    for q in moduli(width, low, &mut rng) {
        let modulus = Modulus::new(q).expect("moduli of these tests are below 2^61");
        let mut operands = pairs(q, 60, &mut rng);
        // The first operand may be any number of `width` bits, as residues of other moduli are.
        let most = (1 << width) - 1;
        operands.push((most, q - 1));
        operands.extend((0..20).map(|_| (rng.bits() & most, rng.below(q))));
        for (a, b) in operands {
            cases.push(Case {
                inputs: vec![q, a, b],
                outputs: vec![product(modulus, width, modulus.reduce(a), b)],
            });
        }
    }
    // A random order, so that moduli change from product to product.
    for at in (1..cases.len()).rev() {
        cases.swap(at, rng.below(at as u64 + 1) as usize);
    }
    pipeline.run(&cases, latency, &mut rng)
}

#[test]
#[ignore = "half a minute, a model for each width; `make full` runs it"]
fn every_width_and_low() {
    for multiplier in WIDE_MULTIPLIERS {
        let (width, low) = (multiplier.width, multiplier.low);
        check_wide(hdl(), width, low, multiplier.latency + 1, seed())
            .unwrap_or_else(|e| panic!("{width} bits, 1 mod 2^{low}: {e:?}"));
    }
}

/// The multiplier is right at widths that no machine has. The product's corner tile has one bit, few bits or an odd
/// number of them; one width is the first without a corner; at one, the first factor fits one tile.
#[test]
#[ignore = "five models; `make full` runs it"]
fn widths_with_and_without_a_corner() {
    for (width, low, latency) in [(24, 9, 7), (25, 9, 7), (28, 12, 7), (31, 13, 7), (33, 9, 9)] {
        check_wide(hdl(), width, low, latency + 1, seed())
            .unwrap_or_else(|e| panic!("{width} bits, 1 mod 2^{low}: {e:?}"));
    }
}
