// SPDX-License-Identifier: Apache-2.0
//! Runs random programs on random ring machines, most of which have little memory. Each program gives the interpreter's
//! bits, or is refused with the field of the description that forbids it.

use std::sync::Arc;

use crate::common::programs::{Builder, Cipher};
use crate::common::{description, execute_program, params, with_slots};
use ringmill_isa::mid::Verified;
use ringmill_machines::ring::RingUse;
use ringmill_machines::ring::description::StandIn;
use ringmill_machines::ring::{Description, RingMachine};
use ringmill_machines::{Machine, SimOptions};
use ringmill_schemes::ckks::params::Params;
use ringmill_schemes::ckks::{Galois, Level, OpKey};

/// The generator xorshift64*, which draws the same numbers for the same seed.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Draws a number from 0 to `sides` - 1.
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % sides
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.roll(list.len())]
    }
}

/// Returns the ciphertext without its limbs modulo primes above `level`.
fn lowered(cipher: &Cipher, level: Level) -> Cipher {
    let poly = |p: &Vec<_>| p[..=level.index()].to_vec();
    cipher.iter().map(poly).collect()
}

/// Draws a program of one to three inputs and at most `operations` operations. Their first operands are late values
/// more often than early ones.
fn program(dice: &mut Dice, params: &Arc<Params>, operations: usize) -> Verified {
    let seeded = dice.roll(4) > 0;
    let mut b = Builder::new(params);
    let top = params.max_level();
    let mut values: Vec<(Cipher, Level)> = Vec::new();
    for number in 0..1 + dice.roll(3) as u32 {
        values.push((b.input(params, top, number), top));
    }
    let inputs = values.len();
    let galois = |k: usize| (0..k).fold(3u32, |g, _| g * 3 % 512);
    for _ in 0..operations {
        let back = dice.roll(values.len()).min(dice.roll(values.len()));
        let (x, level) = values[values.len() - 1 - back].clone();
        let (y, other) = values[dice.roll(values.len())].clone();
        let least = level.min(other);
        let (x_low, y_low) = (lowered(&x, least), lowered(&y, least));
        match dice.roll(8) {
            0 | 1 => {
                let key = OpKey::add(least, 2, 2);
                values.push((b.apply(&key, &[&x_low, &y_low], 0), least));
            }
            2 if x_low != y_low => {
                let key = OpKey::mul_relin(least, seeded);
                values.push((b.apply(&key, &[&x_low, &y_low], 0), least));
            }
            3 => {
                let key = OpKey::square_relin(level, seeded);
                values.push((b.apply(&key, &[&x], 0), level));
            }
            4 if level > Level(0) => {
                let key = OpKey::rescale(level, 2);
                values.push((b.apply(&key, &[&x], 0), level.below().unwrap()));
            }
            5 => {
                let which = dice.roll(4);
                let key = OpKey::rotate(level, Galois(galois(which)), seeded);
                values.push((b.apply(&key, &[&x], which as u16), level));
            }
            6 | 7 => {
                let count = 2 + dice.roll(6);
                let first = dice.roll(3);
                let key = OpKey::hoisted_rotate(
                    level,
                    (first..first + count).map(galois).map(Galois),
                    seeded,
                );
                let set = b.apply(&key, &[&x], first as u16);
                let limbs = level.index() + 1;
                for k in 0..count {
                    let poly = |p: &Vec<_>| p[k * limbs..(k + 1) * limbs].to_vec();
                    values.push((set.iter().map(poly).collect(), level));
                }
            }
            _ => {}
        }
    }
    if values.len() == inputs {
        let (x, level) = values[0].clone();
        let key = OpKey::neg(level, 2);
        values.push((b.apply(&key, &[&x], 0), level));
    }
    b.output(&values[values.len() - 1].0);
    if values.len() > inputs + 1 {
        let at = inputs + dice.roll(values.len() - inputs - 1);
        b.output(&values[at].0.clone());
    }
    b.finish()
}

/// Draws a machine of a native degree from 2^7 to 2^9, with 2 to 32 slots and 0 to 64 key slots in each RPAU.
fn machine(dice: &mut Dice) -> Description {
    let native = dice.pick(&[7, 8, 8, 9]);
    let mut d = description(native, 1 + dice.roll(6), 4, dice.roll(2) == 0);
    let slots = dice.pick(&[2, 4, 6, 8, 10, 13, 13, 20, 32]);
    d = with_slots(d, slots);
    // Half of the machines with several RPAUs have stand-ins.
    if dice.roll(2) == 0 && d.rpaus > 1 {
        let prime = dice.roll(d.rpaus - 1);
        let helpers = (prime + 1..d.rpaus).rev().take(1 + dice.roll(2));
        d.stand_in = helpers.map(|rpau| StandIn { rpau, prime }).collect();
    }
    d.keys.slots = dice.pick(&[0, 1, 3, 6, 12, 18, 18, 64]);
    d.controllers = 1 + dice.roll(2);
    d.check().unwrap();
    d
}

fn play(seed: u64, operations: usize) -> bool {
    let mut dice = Dice::new(seed);
    let parameters = params(8, 1 + dice.roll(3), 1);
    let operations = 1 + dice.roll(operations);
    let program = program(&mut dice, &parameters, operations);
    let d = machine(&mut dice);
    let what = format!(
        "seed {seed}: 2^{} on {} RPAUs of {} slots and {} keys",
        d.log_n,
        d.rpaus,
        d.slots(),
        d.keys.slots
    );
    match RingMachine::new(d.clone())
        .unwrap()
        .simulate(&program, SimOptions::default())
    {
        Ok(report) => {
            let resident = report.end_to_end.resident_key_limbs;
            assert!(
                resident <= report.own::<RingUse>().unwrap().keys.needed,
                "{what}"
            );
            execute_program(&d, &program, true);
            true
        }
        Err(refused) => {
            let text = refused.to_string();
            let named = ["`memory.slots`", "`keys.slots`", "`rpaus`", "`log_n`"];
            assert!(named.iter().any(|f| text.contains(f)), "{what}: {text}");
            // A machine with at least 13 slots and some key memory must run every program.
            let roomy = d.slots() >= 13 && d.keys.slots > 0;
            assert!(!roomy, "{what}: {text}");
            false
        }
    }
}

#[test]
fn random_programs_give_the_same_bits_or_name_the_field() {
    let ran = (0..10).filter(|&seed| play(seed, 6)).count();
    assert!(ran >= 5, "{ran} ran");
}

#[test]
#[ignore = "many random programs; `make full` runs it"]
fn many_random_programs_give_the_same_bits_or_name_the_field() {
    let ran = (1000..1400).filter(|&seed| play(seed, 14)).count();
    assert!(ran >= 200, "{ran} ran");
}
