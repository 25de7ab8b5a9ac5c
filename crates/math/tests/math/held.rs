// SPDX-License-Identifier: Apache-2.0
//! Tests loops over words of 32 bits, on each backend, against loops over words of 64 bits on the scalar
//! backend.

use crate::common;

use ringmill_math::kernels::Store;
use ringmill_math::{AutoEvalPlan, Backend, Modulus, Residues, is_short, kernels};

/// The number of coefficients. It is odd, so that a tail remains after vectors of any width.
const N: usize = 531;

/// Each way to write a result, with whether the result starts at a cache line.
const WAYS: [(Store, bool); 4] = [
    (Store::Cached, true),
    (Store::Cached, false),
    (Store::Streamed, true),
    (Store::Streamed, false),
];

fn moduli() -> Vec<Modulus> {
    let above = [(1 << 31) + 1, (1 << 31) - 1, 1 << 31, 0xffff_fffb, 127].map(Modulus::new);
    let above = above.into_iter().map(Result::unwrap);
    let all = common::any_moduli().into_iter().chain(above);
    all.filter(|q| is_short(q.value().into())).collect()
}

fn short(limb: &[u64]) -> Vec<u32> {
    limb.iter().map(|&x| x.try_into().unwrap()).collect()
}

/// Returns N words of `room` that start at a cache line, or one word past it.
fn cut(room: &mut Vec<u32>, aligned: bool) -> &mut [u32] {
    room.resize(N + 32, 7);
    let line = room.as_ptr().align_offset(64);
    let start = line + usize::from(!aligned);
    &mut room[start..start + N]
}

/// Checks that `f` writes the expected residues in each of the ways to write, and nothing before or
/// after them.
fn writes(what: &str, expected: &[u64], f: impl Fn(&mut [u32], Store)) {
    for (store, aligned) in WAYS {
        let mut room = vec![7; N + 32];
        let out = cut(&mut room, aligned);
        f(out, store);
        assert_eq!(Residues::Short(out), Residues::Wide(expected), "{what}");
        let start = room.as_ptr().align_offset(64) + usize::from(!aligned);
        let (before, after) = (&room[..start], &room[start + N..]);
        assert!(before.iter().chain(after).all(|&x| x == 7), "{what}");
    }
}

type Wide = fn(Modulus, &mut [u64], &[u64], &[u64]) -> Result<(), ringmill_math::MathError>;
type Short = fn(Modulus, &mut [u32], &[u32], &[u32], Store) -> Result<(), ringmill_math::MathError>;

#[test]
fn sums_differences_and_products() {
    let functions: [(&str, Wide, Short); 3] = [
        ("add", kernels::add, kernels::add_short),
        ("sub", kernels::sub, kernels::sub_short),
        ("mul", kernels::mul, kernels::mul_short),
    ];
    for q in moduli() {
        for (i, a) in common::limbs(q, N, 1).iter().enumerate() {
            for b in common::limbs(q, N, 2) {
                for (name, wide, narrow) in functions {
                    let mut expected = vec![0; N];
                    let scalar = || wide(q, &mut expected, a, &b).unwrap();
                    kernels::with_backend(Backend::Scalar, scalar).unwrap();
                    let (a, b) = (short(a), short(&b));
                    common::on_every_backend(|backend| {
                        let what = format!("{name} {q:?} {i} {backend:?}");
                        writes(&what, &expected, |out, store| {
                            narrow(q, out, &a, &b, store).unwrap();
                        });
                    });
                }
            }
        }
    }
}

#[test]
fn scaled_differences() {
    for q in moduli() {
        let top = q.value() - 1;
        for (i, a) in common::limbs(q, N, 3).iter().enumerate() {
            for (j, b) in common::limbs(q, N, 4).iter().enumerate() {
                let c = common::random_limb(q, N, (i * 10 + j) as u64);
                let w = q.shoup([top, 1, top / 2, 0x1234_5678][(i + j) % 4]);
                for add in [false, true] {
                    let mut expected = vec![0; N];
                    let addend = add.then_some(&c[..]);
                    let scalar = || {
                        let store = Store::Cached;
                        kernels::sub_scale(q, &mut expected, a, b, w, addend, store).unwrap();
                    };
                    kernels::with_backend(Backend::Scalar, scalar).unwrap();
                    let (short_a, short_c) = (short(a), short(&c));
                    let words = |which: usize| match which % 2 {
                        0 => (Residues::Wide(a), Residues::Wide(&c)),
                        _ => (Residues::Short(&short_a), Residues::Short(&short_c)),
                    };
                    // Each operand is given in words of 32 and of 64 bits.
                    for form in 0..4 {
                        let (a, c) = (words(form).0, add.then(|| words(form / 2).1));
                        common::on_every_backend(|backend| {
                            let what = format!("{q:?} {i} {j} {add} {form} {backend:?}");
                            writes(&what, &expected, |out, store| {
                                kernels::sub_scale_short(q, out, a, b, w, c, store).unwrap();
                            });
                        });
                    }
                }
            }
        }
    }
}

#[test]
fn words_of_either_length() {
    let q = Modulus::new(0xffff_fffb).unwrap();
    for limb in common::limbs(q, N, 5) {
        let words = short(&limb);
        common::on_every_backend(|backend| {
            let mut wide = vec![7; N];
            kernels::widen(&mut wide, &words).unwrap();
            assert_eq!(wide, limb, "{backend:?}");
            writes(&format!("{backend:?}"), &limb, |out, store| {
                kernels::narrow(out, &limb, store).unwrap();
            });
        });
    }
}

#[test]
fn automorphisms() {
    let q = Modulus::new(0xffff_fffb).unwrap();
    for log_n in [1, 2, 3, 4, 5, 9] {
        let limb = common::random_limb(q, 1 << log_n, 6);
        let words = short(&limb);
        for galois in [1u64, 3, 5, 7, (2 << log_n) - 1] {
            let plan = AutoEvalPlan::new(log_n, galois % (2 << log_n)).unwrap();
            common::on_every_backend(|backend| {
                let (mut expected, mut out) = (vec![0; limb.len()], vec![7; limb.len()]);
                plan.apply(&mut expected, &limb).unwrap();
                plan.apply(&mut out, &words[..]).unwrap();
                assert_eq!(out, expected, "{log_n} {galois} {backend:?}");
            });
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let q = Modulus::new(97).unwrap();
    let large = Modulus::new((1 << 32) + 15).unwrap();
    let (mut out, a, b, wide) = ([0u32; 8], [1u32; 8], [2u32; 7], [3u64; 8]);
    let store = Store::Cached;
    assert!(kernels::add_short(q, &mut out, &a, &b, store).is_err());
    assert!(kernels::sub_short(q, &mut out, &b, &a, store).is_err());
    assert!(kernels::mul_short(large, &mut out, &a, &a, store).is_err());
    assert!(kernels::widen(&mut [0; 7], &a).is_err());
    assert!(kernels::narrow(&mut out, &wide[..7], store).is_err());
    let (a, b) = (Residues::Short(&a), Residues::Short(&b));
    let w = q.shoup(5);
    assert!(kernels::sub_scale_short(q, &mut out, b, &wide, w, None, store).is_err());
    assert!(kernels::sub_scale_short(q, &mut out, a, &wide[..7], w, None, store).is_err());
    assert!(kernels::sub_scale_short(q, &mut out, a, &wide, w, Some(b), store).is_err());
    assert!(kernels::sub_scale_short(large, &mut out, a, &wide, w, None, store).is_err());
}
