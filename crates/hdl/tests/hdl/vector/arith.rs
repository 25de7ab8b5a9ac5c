// SPDX-License-Identifier: Apache-2.0
//! Tests of the vector machine's multiplier and butterflies, and of the generic butterfly that they are compared with,
//! against `ringmill_math`. Each item has a modulus of its own.

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::{BuildOptions, Hdl, Top};
use ringmill_math::Modulus;
use ringmill_math::modmul::{MontgomeryFriendly32, Reduction};

use crate::common::failure::{Check, Failure};
use crate::common::setup::{hdl, seed};
use crate::vector::ranks::{Item, Of, Ranks, Side};

/// The stages of a multiplier, `MulStages` of `rm_vector_pkg`.
pub const MUL: usize = 4;

pub fn side(name: &'static str, of: Of) -> Side {
    Side {
        name,
        width: 32,
        count: 1,
        of,
    }
}

/// Draws a modulus q = 1 mod 2^17 below 2^32, in half of the cases at an end of the range. The reduction needs no
/// prime.
pub fn friendly(dice: &mut Dice) -> u64 {
    let largest = (1 << 15) - 1;
    let high = match dice.below(6) {
        0 => 1,
        1 => largest,
        2 => largest - 1,
        _ => 1 + dice.below(largest),
    };
    (high << 17) + 1
}

/// Draws a residue modulo q, often one at which carries and corrections change.
pub fn residue(q: u64, dice: &mut Dice) -> u64 {
    match dice.below(8) {
        0 => 0,
        1 => 1,
        2 => q - 1,
        3 => q / 2,
        4 => q / 2 + 1,
        _ => dice.below(q),
    }
}

/// A modulus with the operations that the tests compute.
pub struct Arithmetic {
    pub q: Modulus,
    pub multiplier: MontgomeryFriendly32,
}

impl Arithmetic {
    pub fn new(q: u64) -> Self {
        let q = Modulus::new(q).expect("below 2^61");
        let multiplier = MontgomeryFriendly32::new(q).expect("1 modulo 2^17");
        Self { q, multiplier }
    }

    /// Computes a b / R mod q for any word a.
    pub fn product(&self, a: u64, b: u64) -> u64 {
        self.multiplier.reduce(u128::from(a) * u128::from(b))
    }

    fn half(&self, a: u64) -> u64 {
        self.q.mul(a, self.q.value().div_ceil(2))
    }
}

fn a_word(q: u64, dice: &mut Dice) -> u64 {
    match dice.below(4) {
        0 => u64::from(u32::MAX),
        1 => dice.bits() >> 32,
        _ => residue(q, dice),
    }
}

pub fn check_multiplier(hdl: &Hdl, seed: u64) -> Check {
    let mut dice = Dice::new(seed);
    let model = hdl.model(&Top::new("rm_vector_mul"), BuildOptions::default())?;
    let sides = [
        side("q_i", Of::Every),
        side("a_i", Of::Rank(0)),
        side("b_i", Of::Rank(0)),
    ];
    let mut ranks = Ranks::new(model, MUL, &sides, &[("r_o", 32)])?;
    let items: Vec<Item> = (0..3000)
        .map(|_| {
            let q = friendly(&mut dice);
            let (a, b) = (a_word(q, &mut dice), residue(q, &mut dice));
            Item {
                sides: vec![vec![q], vec![a], vec![b]],
                outputs: vec![vec![Arithmetic::new(q).product(a, b)]],
            }
        })
        .collect();
    ranks.run(&items, &mut dice)
}

#[test]
fn friendly_multiplier() {
    check_multiplier(hdl(), seed()).unwrap();
}

/// Computes q^-1 modulo 2^32.
fn inverse(q: u64) -> u64 {
    let q = q as u32;
    let step = |x: u32, _| x.wrapping_mul(2u32.wrapping_sub(q.wrapping_mul(x)));
    (0..5).fold(q, step).into()
}

/// Checks the generic butterfly with which areas are compared: if it were wrong, the comparison would mean nothing. Its
/// modulus does not have a port for each rank.
fn check_baseline(deep: bool, seed: u64) -> Check {
    let mut dice = Dice::new(seed);
    let top = Top::new("rm_vector_butterfly_any").int("Deep", deep.into());
    let mut model = hdl().model(&top, BuildOptions::default())?;
    let port = |model: &ringmill_hdl::Model, name: &str| model.input(name);
    let stages = 1 + MUL + 2 * usize::from(deep);
    let all = (1u64 << stages) - 1;
    let move_i = port(&model, "move_i")?;
    model.set(move_i, all)?;
    for _ in 0..300 {
        let q = match dice.below(4) {
            0 => u64::from(u32::MAX),
            1 => friendly(&mut dice),
            _ => (dice.bits() >> 32) | 0x8000_0001,
        };
        let modulus = Modulus::new(q).expect("below 2^61");
        let [u, v, w] = [0; 3].map(|_| residue(q, &mut dice));
        let ports = [
            ("u_i", u),
            ("v_i", v),
            ("w_i", w),
            ("inverse_i", inverse(q)),
        ];
        for (name, value) in ports {
            let input = port(&model, name)?;
            model.set(input, value)?;
        }
        let q_i = port(&model, "q_i")?;
        model.set_words(q_i, &[q as u32; 3])?;
        model.step(stages as u64)?;
        let r = modulus.inv(1 << 32).expect("odd");
        let turned = modulus.mul(modulus.mul(modulus.sub(u, v), w), r);
        for (name, want) in [("sum_o", modulus.add(u, v)), ("turned_o", turned)] {
            let got = model.get(model.output(name)?)?;
            if got != want {
                let text = format!("q {q} u {u} v {v} w {w}: {name} {got}, not {want}");
                return Err(Failure::Mismatch(text));
            }
        }
    }
    Ok(())
}

#[test]
#[ignore = "two models that no machine has; `make full` runs it"]
fn baseline_butterfly() {
    for deep in [false, true] {
        check_baseline(deep, seed()).unwrap();
    }
}

pub fn check_butterfly(hdl: &Hdl, product: bool, seed: u64) -> Check {
    let mut dice = Dice::new(seed);
    let top = Top::new("rm_vector_butterfly").int("Product", product.into());
    let model = hdl.model(&top, BuildOptions::default())?;
    let bit = |name, of| Side {
        width: 1,
        ..side(name, of)
    };
    let sides = [
        side("q_i", Of::Every),
        bit("half_i", Of::Rank(0)),
        bit("pass_i", Of::Rank(0)),
        side("u_i", Of::Rank(0)),
        side("v_i", Of::Rank(0)),
        side("w_i", Of::Rank(1)),
    ];
    let mut ranks = Ranks::new(model, 1 + MUL, &sides, &[("sum_o", 32), ("turned_o", 32)])?;
    let items: Vec<Item> = (0..3000)
        .map(|_| {
            let of = Arithmetic::new(friendly(&mut dice));
            let q = of.q.value();
            let [u, v, w] = [0; 3].map(|_| residue(q, &mut dice));
            let (half, pass) = (dice.chance(2), dice.chance(3));
            let (sum, difference) = match (pass, half) {
                (true, _) => (u, v),
                (false, true) => (of.half(of.q.add(u, v)), of.half(of.q.sub(u, v))),
                (false, false) => (of.q.add(u, v), of.q.sub(u, v)),
            };
            let turned = if product {
                of.product(difference, w)
            } else {
                difference
            };
            Item {
                sides: [q, half.into(), pass.into(), u, v, w]
                    .map(|x| vec![x])
                    .into(),
                outputs: vec![vec![sum], vec![turned]],
            }
        })
        .collect();
    ranks.run(&items, &mut dice)
}

pub fn check_both_butterflies(hdl: &Hdl, seed: u64) -> Check {
    check_butterfly(hdl, true, seed)?;
    check_butterfly(hdl, false, seed)
}

#[test]
#[ignore = "a transform unit is made of them; `make full` runs it"]
fn butterflies_with_and_without_a_factor() {
    check_both_butterflies(hdl(), seed()).unwrap();
}
