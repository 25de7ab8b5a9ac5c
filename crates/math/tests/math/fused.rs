// SPDX-License-Identifier: Apache-2.0
//! Tests each fused kernel on each backend against its steps done one after the other, on random and edge
//! values.

use crate::common;

use ringmill_math::kernels::{AutoEvalPlan, Store};
use ringmill_math::{Modulus, Residues, kernels};

/// The number of coefficients. It is odd, so that a tail remains after vectors, and more than two blocks of
/// the path that composes single kernels.
const N: usize = 531;

/// Returns a limb of [`common::limbs`]: more often one of edges, such as all q - 1, than a random one.
fn pick(q: Modulus, seed: u64) -> Vec<u64> {
    let mut all = common::limbs(q, N, seed);
    let which = [3, 0, 6, 3, 5, 1, 3, 2, 4][(seed % 9) as usize];
    all.swap_remove(which)
}

/// Returns N words of `room` that start at a cache line, or one word past it.
fn cut(room: &mut Vec<u64>, aligned: bool) -> &mut [u64] {
    room.resize(N + 16, 7);
    let line = room.as_ptr().align_offset(64);
    let start = line + usize::from(!aligned);
    &mut room[start..start + N]
}

/// Each way to write a result, with whether the result starts at a cache line.
const WAYS: [(Store, bool); 3] = [
    (Store::Cached, true),
    (Store::Streamed, true),
    (Store::Streamed, false),
];

#[test]
fn sums_and_products_stored_either_way() {
    common::on_every_backend(|backend| {
        for q in common::any_moduli() {
            for seed in 0..9 {
                let (a, b) = (pick(q, seed), pick(q, 2 * seed + 1));
                let (mut sum, mut product) = (vec![0; N], vec![0; N]);
                kernels::add(q, &mut sum, &a, &b).unwrap();
                kernels::mul(q, &mut product, &a, &b).unwrap();
                for (store, aligned) in WAYS {
                    let mut room = Vec::new();
                    let out = cut(&mut room, aligned);
                    kernels::add_stored(q, out, &a, &b, store).unwrap();
                    assert_eq!(out, sum, "{backend:?} {q:?} {store:?}");
                    kernels::mul_stored(q, out, &a, &b, store).unwrap();
                    assert_eq!(out, product, "{backend:?} {q:?} {store:?}");
                }
            }
        }
    });
}

#[test]
fn pairs_of_sums() {
    common::on_every_backend(|backend| {
        for q in common::any_moduli() {
            for terms in [0u64, 1, 2, 3, 9, 31, 32, 33, 65] {
                for all_top in [false, true] {
                    let limb = |seed| match all_top {
                        true => vec![q.value() - 1; N],
                        false => pick(q, seed),
                    };
                    let limbs: Vec<[Vec<u64>; 3]> = (0..terms)
                        .map(|k| [limb(k), limb(5 * k + 1), limb(7 * k + 2)])
                        .collect();
                    let shorts: Vec<_> = limbs
                        .iter()
                        .map(|limbs| limbs.each_ref().map(|limb| short(limb)))
                        .collect();
                    let starts = [limb(3), limb(4)];
                    for carry in [false, true] {
                        let expected = [0, 1].map(|side| {
                            let start = carry.then_some(&starts[side][..]);
                            sums(q, &limbs, side + 1, start)
                        });
                        for form in Words::ALL {
                            let list: Vec<_> = limbs
                                .iter()
                                .zip(&shorts)
                                .enumerate()
                                .map(|(k, (wide, short))| {
                                    let limb = |which: usize| {
                                        form.of(wide[which].as_slice(), &short[which], which, k)
                                    };
                                    (limb(0), limb(1), limb(2))
                                })
                                .collect();
                            let mut found = starts.clone();
                            let [a, b] = &mut found;
                            kernels::dot_pair(q, [a, b], &list, carry, None).unwrap();
                            assert_eq!(
                                found, expected,
                                "{backend:?} {q:?} {terms} terms, carry {carry}, {form:?}"
                            );
                        }
                    }
                }
            }
        }
    });
}

/// Returns a limb in words of 32 bits, or `None` if a residue does not fit.
fn short(limb: &[u64]) -> Option<Vec<u32>> {
    limb.iter().map(|&x| x.try_into().ok()).collect()
}

/// The operands that are given in words of 32 bits, if their residues are below 2^32.
#[derive(Clone, Copy, Debug)]
enum Words {
    Wide,
    Short,
    /// Only the factors of the first sum are in words of 32 bits.
    First,
    /// Only the shared factors are in words of 32 bits.
    Shared,
    /// The factors of every other term are in words of 32 bits.
    ByTurns,
}

impl Words {
    const ALL: [Self; 5] = [
        Self::Wide,
        Self::Short,
        Self::First,
        Self::Shared,
        Self::ByTurns,
    ];

    /// Returns a factor of term number `term` in its words. `which` is 0 for the shared factor, 1 for the
    /// first sum's and 2 for the second sum's.
    fn of<'a>(
        self,
        wide: &'a [u64],
        short: &'a Option<Vec<u32>>,
        which: usize,
        term: usize,
    ) -> Residues<'a> {
        let is_short = match self {
            Self::Wide => false,
            Self::Short => true,
            Self::First => which == 1,
            Self::Shared => which == 0,
            Self::ByTurns => term.is_multiple_of(2),
        };
        match short {
            Some(short) if is_short => Residues::Short(short),
            _ => Residues::Wide(wide),
        }
    }
}

/// Returns the sum of products of the shared factors, `limbs[k][0]`, and the factors `limbs[k][side]`, plus
/// the limb `start`.
fn sums(q: Modulus, limbs: &[[Vec<u64>; 3]], side: usize, start: Option<&[u64]>) -> Vec<u64> {
    let q = u128::from(q.value());
    let start = |i: usize| start.map_or(0, |start| u128::from(start[i]));
    let product = |l: &[Vec<u64>; 3], i: usize| u128::from(l[0][i]) * u128::from(l[side][i]) % q;
    (0..N)
        .map(|i| ((start(i) + limbs.iter().map(|l| product(l, i)).sum::<u128>()) % q) as u64)
        .collect()
}

#[test]
fn pairs_of_sums_under_an_automorphism() {
    common::on_every_backend(|backend| {
        for q in common::any_moduli() {
            for (log_n, g) in [(3, 5), (4, 31), (6, 77), (9, 5), (9, 1021)] {
                let plan = AutoEvalPlan::new(log_n, g).unwrap();
                for terms in [1, 3, 33] {
                    let limb = |k| common::random_limb(q, 1 << log_n, k);
                    let limbs: Vec<[Vec<u64>; 3]> = (0..terms)
                        .map(|k| [limb(3 * k), limb(3 * k + 1), limb(3 * k + 2)])
                        .collect();
                    let turned: Vec<Vec<u64>> = (limbs.iter())
                        .map(|[shared, ..]| {
                            let mut out = vec![0; 1 << log_n];
                            plan.apply(&mut out, shared).unwrap();
                            out
                        })
                        .collect();
                    for carry in [false, true] {
                        let start = [limb(100), limb(101)];
                        let sums = |shared: &dyn Fn(usize) -> Vec<u64>, turn| {
                            let shared: Vec<Vec<u64>> = (0..limbs.len()).map(shared).collect();
                            let terms: Vec<_> = (shared.iter().zip(&limbs))
                                .map(|(d, [_, a, b])| (d.into(), a.into(), b.into()))
                                .collect();
                            let mut found = start.clone();
                            let [a, b] = &mut found;
                            kernels::dot_pair(q, [a, b], &terms, carry, turn).unwrap();
                            found
                        };
                        let expected = sums(&|k| turned[k].clone(), None);
                        let found = sums(&|k| limbs[k][0].clone(), Some(&plan));
                        assert_eq!(found, expected, "{backend:?} {q:?} {log_n} {g} {terms}");
                    }
                }
            }
        }
    });
}

#[test]
fn tensor_products() {
    common::on_every_backend(|backend| {
        for q in common::any_moduli() {
            for seed in 0..9 {
                let [a0, a1, b0, b1] = [seed, seed + 1, 3 * seed + 2, 5 * seed].map(|s| pick(q, s));
                let wide = |f: &dyn Fn(usize) -> u128| -> Vec<u64> {
                    (0..N)
                        .map(|i| (f(i) % u128::from(q.value())) as u64)
                        .collect()
                };
                let product = |x: &[u64], y: &[u64], i: usize| u128::from(x[i]) * u128::from(y[i]);
                let expected = [
                    wide(&|i| product(&a0, &b0, i)),
                    wide(&|i| product(&a0, &b1, i) + product(&a1, &b0, i)),
                    wide(&|i| product(&a1, &b1, i)),
                ];
                let limbs = [&a0, &a1, &b0, &b1];
                let shorts = limbs.map(|limb| short(limb));
                for (store, aligned) in WAYS {
                    for form in Words::ALL {
                        let mut rooms = [Vec::new(), Vec::new(), Vec::new()];
                        let mut out = rooms.each_mut().map(|room| cut(room, aligned));
                        let [d0, d1, d2] = &mut out;
                        let [a0, a1, b0, b1] =
                            [0, 1, 2, 3].map(|k| form.of(limbs[k], &shorts[k], k, k));
                        kernels::tensor(q, [d0, d1, d2], [a0, a1], [b0, b1], store).unwrap();
                        assert_eq!(out, expected, "{backend:?} {q:?} {store:?} {form:?}");
                    }
                }
            }
        }
    });
}

#[test]
fn differences_scaled() {
    common::on_every_backend(|backend| {
        for q in common::any_moduli() {
            for w in [0, 1, q.value() - 1, q.value() / 2 + 1] {
                for seed in 0..9 {
                    let [a, b, c] = [seed, 2 * seed + 1, 3 * seed + 5].map(|s| pick(q, s));
                    for addend in [None, Some(&c[..])] {
                        let mut expected = vec![0; N];
                        kernels::sub(q, &mut expected, &a, &b).unwrap();
                        kernels::mul_scalar_assign(q, &mut expected, w);
                        if let Some(c) = addend {
                            kernels::add_assign(q, &mut expected, c).unwrap();
                        }
                        for (store, aligned) in WAYS {
                            let mut room = Vec::new();
                            let out = cut(&mut room, aligned);
                            let w = q.shoup(w);
                            kernels::sub_scale(q, out, &a, &b, w, addend, store).unwrap();
                            assert_eq!(out, expected, "{backend:?} {q:?} {store:?}");
                        }
                        let mut b = b.clone();
                        kernels::sub_scale_assign(q, &mut b, &a, q.shoup(w), addend).unwrap();
                        assert_eq!(b, expected, "{backend:?} {q:?} {w}");
                    }
                }
            }
        }
    });
}

#[test]
fn conversions_with_a_constant() {
    common::on_every_backend(|backend| {
        for from in common::any_moduli() {
            for to in common::any_moduli() {
                for (seed, w) in [(0, 0), (1, 1), (6, to.value() - 1), (3, to.value() / 2)] {
                    let a = pick(from, seed);
                    let expected: Vec<u64> = (a.iter())
                        .map(|x| {
                            ((u128::from(x % to.value()) + u128::from(w)) % u128::from(to.value()))
                                as u64
                        })
                        .collect();
                    let mut out = vec![1; N];
                    kernels::conv_add(from, to, &mut out, &a, w).unwrap();
                    assert_eq!(out, expected, "{backend:?} {from:?} to {to:?}, {w}");
                }
            }
        }
    });
}

#[test]
fn lengths_must_agree() {
    let q = Modulus::new(97).unwrap();
    let (short, long) = ([0u64; 8], [0u64; 9]);
    let (mut x, mut y, mut z) = ([0u64; 9], [0u64; 9], [0u64; 9]);
    let w = q.shoup(3);
    for term in [(&short[..], &long[..], &long[..]), (&short, &long, &short)] {
        assert!(
            kernels::dot_pair(
                q,
                [&mut x, &mut y],
                &[(term.0.into(), term.1.into(), term.2.into())],
                false,
                None
            )
            .is_err()
        );
        assert!(
            kernels::dot_pair(
                q,
                [&mut x, &mut y],
                &[(term.1.into(), term.2.into(), term.0.into())],
                true,
                None
            )
            .is_err()
        );
    }
    assert!(kernels::dot_pair(q, [&mut x, &mut y[..8]], &[], false, None).is_err());
    let plan = AutoEvalPlan::new(3, 5).unwrap();
    assert!(kernels::dot_pair(q, [&mut x, &mut y], &[], false, Some(&plan)).is_err());
    let (kept, all) = (Store::Cached, [Residues::Wide(&long); 2]);
    let some = [Residues::Wide(&long), Residues::Wide(&short)];
    assert!(kernels::tensor(q, [&mut x, &mut y, &mut z], some, all, kept).is_err());
    assert!(kernels::add_stored(q, &mut x, &short, &long, Store::Streamed).is_err());
    assert!(kernels::add_stored(q, &mut x, &long, &short, kept).is_err());
    assert!(kernels::mul_stored(q, &mut x, &short, &long, Store::Streamed).is_err());
    assert!(kernels::mul_stored(q, &mut x, &long, &short, kept).is_err());
    assert!(kernels::tensor(q, [&mut x, &mut y[..8], &mut z], all, all, kept).is_err());
    assert!(kernels::sub_scale(q, &mut x, &short, &long, w, None, kept).is_err());
    assert!(kernels::sub_scale(q, &mut x, &long, &short, w, None, kept).is_err());
    assert!(kernels::sub_scale(q, &mut x, &long, &long, w, Some(&short), kept).is_err());
    assert!(kernels::sub_scale_assign(q, &mut x, &short, w, None).is_err());
    assert!(kernels::sub_scale_assign(q, &mut x, &long, w, Some(&short)).is_err());
    assert!(kernels::conv_add(q, q, &mut x, &short, 1).is_err());
}

/// Inputs that are no residues give wrong results, but never a panic.
#[test]
fn unreduced_inputs_do_no_harm() {
    common::on_every_backend(|_| {
        for q in common::any_moduli() {
            let a = vec![u64::MAX; N];
            let (mut x, mut y, mut z) = (a.clone(), a.clone(), a.clone());
            kernels::dot_pair(
                q,
                [&mut x, &mut y],
                &[((&a).into(), (&a).into(), (&a).into()); 40],
                true,
                None,
            )
            .unwrap();
            let both = [Residues::Wide(&a); 2];
            kernels::tensor(q, [&mut x, &mut y, &mut z], both, both, Store::Cached).unwrap();
            kernels::sub_scale(q, &mut x, &a, &a, q.shoup(1), Some(&a), Store::Cached).unwrap();
            for to in common::moduli() {
                kernels::conv_add(q, to, &mut x, &a, u64::MAX).unwrap();
            }
        }
    });
}
