// SPDX-License-Identifier: Apache-2.0
//! Compares the predicted precision of CKKS with the measured one on random programs.

use crate::common::{STEPS, Setup};
use num_complex::Complex64;
use ringmill_isa::Level;
use ringmill_schemes::ckks::noise::measured_bits;
use ringmill_schemes::ckks::{Ball, Ciphertext, Factor, Noise, NoiseModel, Params, Slots};

struct Value {
    cipher: Ciphertext,
    slots: Vec<Complex64>,
    noise: Noise,
    /// The inputs on which the value depends, one bit for each.
    origins: u32,
}

fn factor(slots: &[Complex64]) -> Factor {
    Ball::constants(&slots.iter().map(|z| (z.re, z.im)).collect::<Vec<_>>()).into()
}

fn sizes(slots: &[Complex64]) -> Slots {
    Slots::each(slots.iter().map(|z| z.norm()).collect())
}

/// Runs a random program, and returns the least and the largest of measured minus predicted bits over its values.
fn gaps(s: &mut Setup, seed: u64) -> (f64, f64) {
    let mut model = NoiseModel::new(&s.params, s.params.slots());
    let scale = s.params.default_scale();
    let mut state = seed.wrapping_mul(0x2545_f491_4f6c_dd1d) | 1;
    let mut choose = move |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % n
    };
    let mut values = Vec::new();
    for tag in 0..3 {
        let slots = s.values(seed * 10 + tag);
        let (cipher, noise) = if tag == 2 {
            let cipher = s.secret.encrypt(&s.encode(&slots)).unwrap();
            (cipher, model.fresh_secret(&sizes(&slots), scale))
        } else {
            (s.encrypt(&slots), model.fresh_public(&sizes(&slots), scale))
        };
        values.push(Value {
            cipher,
            slots,
            noise,
            origins: 1 << tag,
        });
    }
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for _ in 0..24 {
        let a = &values[choose(values.len())];
        // Levels and scales must agree exactly: a difference of scales would be an error of its own.
        let same = |v: &&Value| {
            v.cipher.level() == a.cipher.level() && v.cipher.scale() == a.cipher.scale()
        };
        let peers: Vec<&Value> = values.iter().filter(same).collect();
        let b = peers[choose(peers.len())];
        let (level, at) = (a.cipher.level(), a.cipher.scale());
        let zip = |f: fn(Complex64, Complex64) -> Complex64| -> Vec<Complex64> {
            a.slots
                .iter()
                .zip(&b.slots)
                .map(|(&x, &y)| f(x, y))
                .collect()
        };
        let e = &s.evaluator;
        let origins = a.origins | b.origins;
        // The difference of a value and itself is transparent, which the evaluator refuses.
        let op = match choose(7) {
            1 if a.origins & b.origins != 0 => 0,
            op => op,
        };
        let next = match op {
            0 => Value {
                cipher: e.add(&a.cipher, &b.cipher).unwrap(),
                slots: zip(|x, y| x + y),
                noise: model.add(&a.noise, &b.noise),
                origins,
            },
            1 => Value {
                cipher: e.sub(&a.cipher, &b.cipher).unwrap(),
                slots: zip(|x, y| x - y),
                noise: model.sub(&a.noise, &b.noise),
                origins,
            },
            2 | 3 if level > Level(0) => {
                let product = e.mul_relin(&a.cipher, &b.cipher, &s.relin).unwrap();
                let noise = model.mul(&a.noise, &factor(&a.slots), &b.noise, &factor(&b.slots));
                let noise = model.relinearise(&noise, level, product.scale(), None);
                let cipher = e.rescale(&product).unwrap();
                let noise = model.rescale(&noise, 2, cipher.scale(), [None; 3]);
                Value {
                    cipher,
                    slots: zip(|x, y| x * y),
                    noise,
                    origins,
                }
            }
            4 if level > Level(0) => {
                let plain = s.values(seed + 99);
                let m = s.encoder.encode(&plain, level, scale).unwrap();
                let cipher = e.rescale(&e.mul_plain(&a.cipher, &m).unwrap()).unwrap();
                let encoded = model.encoded(&sizes(&plain), scale, None);
                let noise = model.mul(&a.noise, &factor(&a.slots), &encoded, &factor(&plain));
                let slots = a.slots.iter().zip(&plain).map(|(x, y)| x * y).collect();
                Value {
                    noise: model.rescale(&noise, 2, cipher.scale(), [None; 3]),
                    cipher,
                    slots,
                    origins: a.origins,
                }
            }
            5 => {
                let step = STEPS[choose(STEPS.len())];
                let n = a.slots.len() as i64;
                let slots = (0..n)
                    .map(|i| a.slots[(i + step).rem_euclid(n) as usize])
                    .collect();
                let (cipher, noise) = if choose(2) == 0 {
                    let noise = model.rotate(&a.noise, step, level, at, None);
                    (e.rotate(&a.cipher, step, &s.galois).unwrap(), noise)
                } else {
                    let turned = e.rotate_hoisted(&a.cipher, &[step], &s.galois);
                    let noise = model.rotate_hoisted(&a.noise, step, level, at, None);
                    (turned.unwrap().pop().unwrap(), noise)
                };
                Value {
                    cipher,
                    slots,
                    noise,
                    origins: a.origins,
                }
            }
            6 if level > Level(0) => {
                let cipher = e
                    .rescale(&e.mul_scalar(&a.cipher, -1.3, scale).unwrap())
                    .unwrap();
                let noise = model.mul_scalar(&a.noise, &sizes(&a.slots), -1.3, scale);
                let noise = model.rescale(&noise, 2, cipher.scale(), [None; 3]);
                Value {
                    cipher,
                    slots: a.slots.iter().map(|z| z * -1.3).collect(),
                    noise,
                    origins: a.origins,
                }
            }
            _ => {
                let cipher = e.add_scalar(&a.cipher, 0.7).unwrap();
                Value {
                    cipher,
                    slots: a.slots.iter().map(|z| z + 0.7).collect(),
                    noise: model.add_scalar(&a.noise, 0.7, at),
                    origins: a.origins,
                }
            }
        };
        // A value that is too large for level 0 would wrap, so the program leaves it out.
        if sizes(&next.slots).largest(usize::MAX) > 64.0 {
            continue;
        }
        let measured = measured_bits(&s.decrypt(&next.cipher), &next.slots).unwrap();
        // The difference of a value and itself is exact.
        if measured.is_infinite() {
            continue;
        }
        let gap = measured + model.bound(&next.noise, &sizes(&next.slots)).log2();
        (least, most) = (least.min(gap), most.max(gap));
        values.push(next);
    }
    (least, most)
}

#[test]
fn measured_is_never_worse_than_predicted_and_not_far_better() {
    let shapes: [(&[u32], &[u32], u8, usize); 11] = [
        (&[50, 40, 40, 40, 40], &[50], 9, 5),
        (&[50, 40, 40, 40], &[45, 45], 9, 2),
        (&[50, 40, 40], &[50, 50, 50], 8, 1),
        (&[60, 50, 50], &[55], 11, 3),
        // Every number of digits, with a product P of the special primes as large as the largest digit.
        (&[50, 40, 40, 40, 40], &[53, 53, 53, 53], 9, 1),
        (&[50, 40, 40, 40, 40], &[45, 45, 45], 9, 2),
        (&[50, 40, 40, 40, 40], &[46, 46], 9, 3),
        (&[50, 40, 40, 40, 40], &[46, 46], 9, 4),
        (&[50, 40, 40, 40, 40], &[58], 9, 5),
        // Digits of two primes and of one, with a larger P than they need.
        (&[50, 40, 40, 40, 40, 40, 40], &[60, 60], 8, 5),
        (&[50, 40, 40, 40, 40, 40, 40], &[60, 60, 60], 8, 4),
    ];
    for (cipher, special, log_n, dnum) in shapes {
        let builder = Params::builder(log_n).prime_bits(cipher, special);
        let builder = builder.dnum(dnum);
        let builder = builder.allow_insecure_parameters_for_tests_only();
        let mut s = Setup::of(builder.build().unwrap());
        assert_eq!(s.params.dnum(), dnum);
        for seed in 1..=6 {
            let (least, most) = gaps(&mut s, seed);
            assert!(
                least >= 0.0,
                "{}: measured {:.1} bits worse than predicted",
                s.params.summary(),
                -least
            );
            assert!(
                most <= 12.0,
                "{}: predicted {most:.1} bits too low",
                s.params.summary()
            );
        }
    }
}
