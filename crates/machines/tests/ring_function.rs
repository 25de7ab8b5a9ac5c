//! Micro words executed on residues give the mid-level procedure's result, bit for bit.

mod common;

use common::{description, execute_both, params};
use ringmill_schemes::ckks::ops::OpKey;

fn operations(level: u32, log_n: u8) -> Vec<OpKey> {
    let conjugate = (2u32 << log_n) - 1;
    let mut list = vec![
        OpKey::Add {
            level,
            size_a: 2,
            size_b: 2,
        },
        OpKey::Sub {
            level,
            size_a: 3,
            size_b: 2,
        },
        OpKey::Sub {
            level,
            size_a: 2,
            size_b: 3,
        },
        OpKey::Neg { level, size: 2 },
        OpKey::AddPlain { level, size: 2 },
        OpKey::MulPlain { level, size: 3 },
        OpKey::MulScalar {
            level,
            size: 2,
            residues: (0..=u64::from(level)).map(|i| 12345 + i).collect(),
        },
        OpKey::AddScalar {
            level,
            size: 2,
            residues: (0..=u64::from(level)).map(|i| 77 + i).collect(),
        },
        OpKey::Mul { level },
        OpKey::Square { level },
    ];
    for seeded in [false, true] {
        list.push(OpKey::Relin { level, seeded });
        list.push(OpKey::MulRelin { level, seeded });
        list.push(OpKey::SquareRelin { level, seeded });
        list.push(OpKey::Rotate {
            level,
            galois: 3,
            seeded,
        });
        list.push(OpKey::Rotate {
            level,
            galois: conjugate,
            seeded,
        });
        list.push(OpKey::HoistedRotate {
            level,
            galois: vec![3, 9],
            seeded,
        });
    }
    if level > 0 {
        list.push(OpKey::Rescale { level, size: 2 });
        list.push(OpKey::Rescale { level, size: 3 });
    }
    list
}

/// Every operation at the native degree, at half of it and at twice it (half rings), with few and many RPAUs.
#[test]
fn every_operation_at_every_ring_degree() {
    let params = params(8, 3, 1);
    for native in [9, 8, 7] {
        for (rpaus, butterflies, stored) in
            [(4, 4, false), (2, 8, true), (3, 2, false), (10, 16, true)]
        {
            // Half rings double what an RPAU holds; two limbs of them each would not fit.
            let rpaus = if native == 7 { rpaus + 2 } else { rpaus };
            let d = description(native, rpaus, butterflies, stored);
            for level in [0, params.max_level()] {
                for key in operations(level, 8) {
                    execute_both(&d, &params, &key);
                }
            }
        }
    }
}

/// One RPAU holds all limbs; one controller feeds it.
#[test]
fn one_rpau_and_one_controller() {
    let params = params(8, 2, 1);
    let mut d = description(8, 1, 4, false);
    d.controllers = 1;
    d.keys.slots = 128;
    d.memory[0].slots = 27;
    for key in operations(1, 8) {
        execute_both(&d, &params, &key);
    }
}

/// Digits of several primes go through the base extension.
#[test]
fn digits_of_several_primes() {
    let params = params(8, 4, 2);
    for native in [8, 7] {
        let mut d = description(native, 6, 4, true);
        d.memory[0].slots = 24;
        for key in [
            OpKey::MulRelin {
                level: 3,
                seeded: true,
            },
            OpKey::Rotate {
                level: 3,
                galois: 5,
                seeded: false,
            },
        ] {
            execute_both(&d, &params, &key);
        }
    }
}
