// SPDX-License-Identifier: Apache-2.0
//! Tests the procedures of CKKS operations: instruction counts, names, the cache, and operations that do not exist.

use std::collections::HashSet;
use std::sync::Arc;

use ringmill_device::call::{CallError, Place, bind};
use ringmill_isa::Poly;
use ringmill_isa::mid::{Op, ParamRole, Procedure};
use ringmill_schemes::Operation;
use ringmill_schemes::ckks::{Galois, Level, Op as CkksOp, OpKey, Params, ProcCache};
use ringmill_schemes::rlwe::ops::{Left, Shape, Variant};

fn count(procedure: &Procedure, op: Op) -> usize {
    procedure.instrs.iter().filter(|i| i.op == op).count()
}

/// Returns the keys of CKKS operations at one level, in several variants. Sums of several terms, real parts and the
/// switches of bootstrapping are not among them.
fn all_keys(level: Level) -> Vec<OpKey> {
    let residues = vec![5; level.primes()];
    let mut keys = vec![
        OpKey::mul(level),
        OpKey::square(level),
        OpKey::rescale(level, 2),
        OpKey::rescale(level, 3),
        OpKey::mod_down(level, 2),
        OpKey::add_scalar(level, 2, residues.clone()),
        OpKey::mul_scalar(level, 2, residues),
        OpKey::mul_scalar(level, 2, vec![6; level.primes()]),
        OpKey::morph(level, Galois(3)),
        OpKey::hoisted_rotate(level, [3, 9].map(Galois), true),
        OpKey::hoisted_rotate(level, [3, 27].map(Galois), true),
    ];
    for (size_a, size_b) in [(2, 2), (2, 3), (3, 2), (3, 3)] {
        keys.push(OpKey::add(level, size_a, size_b));
        keys.push(OpKey::sub(level, size_a, size_b));
    }
    for size in [2, 3] {
        keys.push(OpKey::neg(level, size));
        keys.push(OpKey::add_plain(level, size));
        keys.push(OpKey::sub_plain(level, size));
        keys.push(OpKey::mul_plain(level, size));
    }
    for seeded in [false, true] {
        keys.push(OpKey::relin(level, seeded));
        keys.push(OpKey::mul_relin(level, seeded));
        keys.push(OpKey::square_relin(level, seeded));
        keys.push(OpKey::key_switch(level, seeded));
        keys.push(OpKey::rotate(level, Galois(3), seeded));
        keys.push(OpKey::rotate(level, Galois(9), seeded));
    }
    keys
}

/// Programs and caches refer to procedures by these names, so the names must not change.
#[test]
fn names_are_what_they_were() {
    let mut names: Vec<String> = all_keys(Level(1)).iter().map(OpKey::name).collect();
    names.sort();
    let expected = [
        "ckks.add.L1.2-2",
        "ckks.add.L1.2-3",
        "ckks.add.L1.3-2",
        "ckks.add.L1.3-3",
        "ckks.add_plain.L1.2",
        "ckks.add_plain.L1.3",
        "ckks.add_scalar.L1.2.83b4202652da8c4b",
        "ckks.hoisted_rotate.L1.2.530705aab5d67b2d.seeded",
        "ckks.hoisted_rotate.L1.2.d2b35fed0da25985.seeded",
        "ckks.key_switch.L1",
        "ckks.key_switch.L1.seeded",
        "ckks.mod_down.L1.2",
        "ckks.morph.L1.g3",
        "ckks.mul.L1",
        "ckks.mul_plain.L1.2",
        "ckks.mul_plain.L1.3",
        "ckks.mul_relin.L1",
        "ckks.mul_relin.L1.seeded",
        "ckks.mul_scalar.L1.2.184fe8f875bf38b0",
        "ckks.mul_scalar.L1.2.83b4202652da8c4b",
        "ckks.neg.L1.2",
        "ckks.neg.L1.3",
        "ckks.relin.L1",
        "ckks.relin.L1.seeded",
        "ckks.rescale.L1.2",
        "ckks.rescale.L1.3",
        "ckks.rotate.L1.g3",
        "ckks.rotate.L1.g3.seeded",
        "ckks.rotate.L1.g9",
        "ckks.rotate.L1.g9.seeded",
        "ckks.square.L1",
        "ckks.square_relin.L1",
        "ckks.square_relin.L1.seeded",
        "ckks.sub.L1.2-2",
        "ckks.sub.L1.2-3",
        "ckks.sub.L1.3-2",
        "ckks.sub.L1.3-3",
        "ckks.sub_plain.L1.2",
        "ckks.sub_plain.L1.3",
    ];
    assert_eq!(names, expected);
}

/// Sums of different shapes are different procedures and have different names.
#[test]
fn shapes_have_names_of_their_own() {
    let sum = Shape {
        combined: 1,
        products: vec![(Left::Operand(0), 1)],
        ..Shape::default()
    };
    let with = |alter: &dyn Fn(&mut Shape)| {
        let mut shape = sum.clone();
        alter(&mut shape);
        shape
    };
    let shapes = [
        Shape::default(),
        Shape::dropping(1),
        Shape::dropping(2),
        with(&|s| s.dropped = 1),
        with(&|s| s.combined = 2),
        with(&|s| s.tail = true),
        with(&|s| s.products[0] = (Left::Operand(1), 0)),
        with(&|s| s.products[0] = (Left::Combination, 1)),
        with(&|s| s.products.push((Left::Operand(0), 1))),
        with(&|s| s.products.clear()),
        sum.clone(),
    ];
    let key = OpKey::add(Level(3), 2, 2);
    let names = shapes.map(|shape| {
        let variant = Variant {
            shape,
            ..key.variant().clone()
        };
        OpKey::new(key.op(), variant).name()
    });
    assert_eq!(names[0], "ckks.add.L3.2-2");
    assert_eq!(names[1], "ckks.add.L3.2-2.d1");
    let different: HashSet<_> = names.iter().collect();
    assert_eq!(different.len(), names.len(), "{names:?}");
}

#[test]
fn a_call_without_an_operands_limb_or_seed_is_refused() {
    let params = Params::builder(5).prime_bits(&[50, 40], &[50]);
    let params = params.allow_insecure_parameters_for_tests_only();
    let cache = ProcCache::new(params.build().unwrap());
    let relin = cache.get(&OpKey::relin(Level(1), true)).unwrap();
    let bound = bind(
        &relin,
        &mut (),
        |(), place| Some(place),
        |(), arg| Some(arg),
    )
    .unwrap();
    assert_eq!(
        (bound.limbs.len(), bound.seeds),
        (relin.params.len(), vec![1])
    );
    let key = bound.limbs.iter().filter(|p| p.arg == 1);
    // The key's parameters are part 0 of both digits, modulo three moduli. Part 1 comes from the seed.
    let polys: HashSet<_> = key.map(|p| p.poly).collect();
    assert_eq!(polys, HashSet::from([Poly(0), Poly(2)]));
    assert_eq!(
        bind(
            &relin,
            &mut (),
            |(), place| Some(place),
            |(), _| None::<u16>
        ),
        Err(CallError::NotSeeded)
    );
    let third = |(): &mut (), p: Place| (p.poly != Poly(2)).then_some(p);
    assert!(matches!(
        bind(&relin, &mut (), third, |(), arg| Some(arg)),
        Err(CallError::Missing { .. })
    ));
}

#[test]
fn set1_costs_what_the_documentation_says() {
    let params = Params::named("set1").unwrap();
    let cache = ProcCache::new(params.clone());
    let level = params.max_level();
    let l = level.index();
    for seeded in [false, true] {
        let relin = cache.get(&OpKey::mul_relin(level, seeded)).unwrap();
        assert_eq!(count(&relin, Op::Intt), l + 3);
        assert_eq!(count(&relin, Op::Ntt), (l + 1) * (l + 1) + 2 * (l + 1));
        // One sum of products for each prime and part of the key, and one for each prime of the product's middle
        // polynomial.
        assert_eq!(count(&relin, Op::Dot), 2 * (l + 2) + l + 1);
        assert_eq!(
            count(&relin, Op::Prng),
            if seeded { (l + 1) * (l + 2) } else { 0 }
        );
        assert_eq!(relin.seeds.len(), usize::from(seeded));
    }
    let rescale = cache.get(&OpKey::rescale(level, 2)).unwrap();
    assert_eq!(
        (count(&rescale, Op::Intt), count(&rescale, Op::Ntt)),
        (2, 2 * l)
    );
    let one = cache
        .get(&OpKey::hoisted_rotate(level, [3].map(Galois), true))
        .unwrap();
    let two = cache
        .get(&OpKey::hoisted_rotate(level, [3, 9].map(Galois), true))
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
        for level in Level(0).to(Level(2)) {
            for key in all_keys(level) {
                if key.op() == CkksOp::Rescale && level == Level(0) {
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
                // The procedure computes a polynomial of a result modulo every prime, or the polynomial passes through.
                let results = procedure.results.iter().map(|r| r.index).max().unwrap() + 1;
                let after = if key.op() == CkksOp::Rescale {
                    level.index()
                } else {
                    level.primes()
                };
                for index in 0..results {
                    for poly in Poly::of(key.result_size()) {
                        let mine = |r: &&_| is_result(r, index, poly);
                        let computed = procedure.results.iter().filter(mine).count();
                        let expected = if key.passes_through(poly).is_some() {
                            0
                        } else {
                            after
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

fn is_result(r: &ringmill_isa::mid::ResultLimb, index: u16, poly: Poly) -> bool {
    r.index == index && r.poly == poly
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
    let (cache, level) = (ProcCache::new(params.clone()), Level(1));
    let q = params.moduli()[0];
    for key in [
        OpKey::mul(Level(3)),
        OpKey::mul(Level(u32::MAX)),
        OpKey::rescale(Level(0), 2),
        OpKey::rescale(level, 1),
        OpKey::neg(level, 4),
        OpKey::add(level, 2, 0),
        OpKey::add_scalar(level, 2, vec![1]),
        OpKey::add_scalar(level, 2, vec![q, 0]),
        OpKey::morph(level, Galois(2)),
        OpKey::morph(level, Galois(65)),
        OpKey::rotate(level, Galois(2), true),
        OpKey::rotate(level, Galois(65), true),
        OpKey::hoisted_rotate(level, [], true),
        OpKey::hoisted_rotate(level, [3, 4].map(Galois), true),
    ] {
        assert!(cache.get(&key).is_err(), "{key:?}");
    }
}
