//! The procedures themselves: instruction counts, names, the cache, and operations that do not exist.

use std::collections::HashSet;
use std::sync::Arc;

use ringmill_isa::mid::{Op, ParamRole, Procedure};
use ringmill_schemes::ckks::{OpKey, Params, ProcCache};

fn count(procedure: &Procedure, op: Op) -> usize {
    procedure.instrs.iter().filter(|i| i.op == op).count()
}

/// Every operation at one level.
fn all_keys(level: u32) -> Vec<OpKey> {
    let residues = vec![5; level as usize + 1];
    let mut keys = vec![
        OpKey::Mul { level },
        OpKey::Square { level },
        OpKey::Rescale { level, size: 2 },
        OpKey::Rescale { level, size: 3 },
        OpKey::ModDown { level, size: 2 },
        OpKey::AddScalar {
            level,
            size: 2,
            residues: residues.clone(),
        },
        OpKey::MulScalar {
            level,
            size: 2,
            residues,
        },
        OpKey::MulScalar {
            level,
            size: 2,
            residues: vec![6; level as usize + 1],
        },
        OpKey::HoistedRotate {
            level,
            galois: vec![3, 9],
            seeded: true,
        },
        OpKey::HoistedRotate {
            level,
            galois: vec![3, 27],
            seeded: true,
        },
    ];
    for (size_a, size_b) in [(2, 2), (2, 3), (3, 2), (3, 3)] {
        keys.push(OpKey::Add {
            level,
            size_a,
            size_b,
        });
        keys.push(OpKey::Sub {
            level,
            size_a,
            size_b,
        });
    }
    for size in [2, 3] {
        keys.push(OpKey::Neg { level, size });
        keys.push(OpKey::AddPlain { level, size });
        keys.push(OpKey::SubPlain { level, size });
        keys.push(OpKey::MulPlain { level, size });
    }
    for seeded in [false, true] {
        keys.push(OpKey::Relin { level, seeded });
        keys.push(OpKey::MulRelin { level, seeded });
        keys.push(OpKey::SquareRelin { level, seeded });
        keys.push(OpKey::Rotate {
            level,
            galois: 3,
            seeded,
        });
        keys.push(OpKey::Rotate {
            level,
            galois: 9,
            seeded,
        });
    }
    keys
}

#[test]
fn set1_costs_what_the_documentation_says() {
    let params = Params::named("set1").unwrap();
    let cache = ProcCache::new(params.clone());
    let level = params.max_level();
    let l = level as usize;
    for seeded in [false, true] {
        let relin = cache.get(&OpKey::MulRelin { level, seeded }).unwrap();
        assert_eq!(count(&relin, Op::Intt), l + 3);
        assert_eq!(count(&relin, Op::Ntt), (l + 1) * (l + 1) + 2 * (l + 1));
        // One sum of products a prime and key part, and one for the middle polynomial of the product.
        assert_eq!(count(&relin, Op::Dot), 2 * (l + 2) + l + 1);
        assert_eq!(
            count(&relin, Op::Prng),
            if seeded { (l + 1) * (l + 2) } else { 0 }
        );
        assert_eq!(relin.seeds.len(), usize::from(seeded));
    }
    let rescale = cache.get(&OpKey::Rescale { level, size: 2 }).unwrap();
    assert_eq!(
        (count(&rescale, Op::Intt), count(&rescale, Op::Ntt)),
        (2, 2 * l)
    );
    let one = cache
        .get(&OpKey::HoistedRotate {
            level,
            galois: vec![3],
            seeded: true,
        })
        .unwrap();
    let two = cache
        .get(&OpKey::HoistedRotate {
            level,
            galois: vec![3, 9],
            seeded: true,
        })
        .unwrap();
    assert_eq!(count(&two, Op::Ntt) - count(&one, Op::Ntt), 2 * (l + 1));
    assert_eq!(count(&two, Op::Intt) - count(&one, Op::Intt), 2);
}

#[test]
fn every_level_has_every_operation_under_a_name_of_its_own() {
    for special in [&[50][..], &[50, 50], &[50, 50, 50]] {
        let builder = Params::builder(5).prime_bits(&[50, 40, 40], special);
        let params = builder
            .allow_insecure_parameters_for_tests_only()
            .build()
            .unwrap();
        let cache = ProcCache::new(params.clone());
        let mut names = HashSet::new();
        for level in 0..=2 {
            for key in all_keys(level) {
                if matches!(key, OpKey::Rescale { level: 0, .. }) {
                    assert!(cache.get(&key).is_err());
                    continue;
                }
                let procedure = cache.get(&key).unwrap();
                assert!(Arc::ptr_eq(&procedure, &cache.get(&key).unwrap()));
                assert!(
                    names.insert(procedure.name.clone()),
                    "{} twice",
                    procedure.name
                );
                // A polynomial of a result is computed for every prime, or passes through.
                let results = procedure.results.iter().map(|r| r.index).max().unwrap() + 1;
                let after = if matches!(key, OpKey::Rescale { .. }) {
                    level
                } else {
                    level + 1
                };
                for index in 0..results {
                    for poly in 0..key.result_size() {
                        let mine = |r: &&_| is_result(r, index, poly);
                        let computed = procedure.results.iter().filter(mine).count();
                        let expected = if key.passes_through(poly).is_some() {
                            0
                        } else {
                            after as usize
                        };
                        assert_eq!(
                            computed, expected,
                            "{} result {index} poly {poly}",
                            procedure.name
                        );
                    }
                }
                let seeded = !procedure.seeds.is_empty();
                let stored_a = |p: &&_| is_key_part(p, 1);
                assert!(!seeded || procedure.params.iter().find(stored_a).is_none());
            }
        }
    }
}

fn is_result(r: &ringmill_isa::mid::ResultLimb, index: u16, poly: u32) -> bool {
    r.index == index && u32::from(r.poly) == poly
}

fn is_key_part(p: &ringmill_isa::mid::Param, wanted: u16) -> bool {
    matches!(p.role, ParamRole::Key { part, .. } if part == wanted)
}

#[test]
fn operations_that_do_not_exist_are_refused() {
    let builder = Params::builder(5).prime_bits(&[50, 40, 40], &[50]);
    let params = builder
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let (cache, level) = (ProcCache::new(params.clone()), 1);
    let q = params.moduli()[0];
    for key in [
        OpKey::Mul { level: 3 },
        OpKey::Mul { level: u32::MAX },
        OpKey::Rescale { level: 0, size: 2 },
        OpKey::Rescale { level, size: 1 },
        OpKey::Neg { level, size: 4 },
        OpKey::Add {
            level,
            size_a: 2,
            size_b: 0,
        },
        OpKey::AddScalar {
            level,
            size: 2,
            residues: vec![1],
        },
        OpKey::AddScalar {
            level,
            size: 2,
            residues: vec![q, 0],
        },
        OpKey::Rotate {
            level,
            galois: 2,
            seeded: true,
        },
        OpKey::Rotate {
            level,
            galois: 65,
            seeded: true,
        },
        OpKey::HoistedRotate {
            level,
            galois: vec![],
            seeded: true,
        },
        OpKey::HoistedRotate {
            level,
            galois: vec![3, 4],
            seeded: true,
        },
    ] {
        assert!(cache.get(&key).is_err(), "{key:?}");
    }
}
