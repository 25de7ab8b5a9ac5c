// SPDX-License-Identifier: Apache-2.0
//! Tests divisions by primes (rescaling and mod-down) against big integers, coefficient by coefficient.

use std::sync::Arc;

use num_bigint::{BigInt, BigUint};
use num_traits::ToPrimitive;
use ringmill_device::interpret;
use ringmill_isa::Poly;
use ringmill_isa::mid::ParamRole;
use ringmill_math::{Modulus, NttPlan, Prng, RnsBasis, sample};
use ringmill_schemes::ckks::{Level, OpKey, Params, ProcCache};

fn params(cipher: &[u32], special: &[u32]) -> Arc<Params> {
    let builder = Params::builder(6).prime_bits(cipher, special);
    builder
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap()
}

/// One coefficient: the operand's residues, each with the index of its modulus, and the result's residues.
type Case = (Vec<(usize, u64)>, Vec<u64>);

/// Runs the operation `key` on random polynomials, and returns a case for each coefficient of each polynomial.
fn run(params: &Arc<Params>, key: &OpKey) -> Vec<Case> {
    let procedure = ProcCache::new(params.clone()).get(key).unwrap();
    let mut prng = Prng::from_seed_for_reproducible_tests_only([3; 32]);
    let mut operands = Vec::new();
    for p in &procedure.params {
        let index = usize::from(procedure.limb(p.value).unwrap().modulus.0);
        let q = params.reducers()[index];
        let mut coefficients = vec![0; params.degree()];
        sample::uniform(&mut prng, q, &mut coefficients);
        // Edges of the rounding.
        coefficients[..4].copy_from_slice(&[0, q.value() - 1, q.value() / 2, q.value() / 2 + 1]);
        let ParamRole::Cipher { arg: 0, poly } = p.role else {
            panic!("unexpected operand")
        };
        operands.push((poly, index, coefficients));
    }
    let eval: Vec<Vec<u64>> = operands
        .iter()
        .map(|(_, index, coefficients)| {
            let mut limb = coefficients.clone();
            plan(params, *index).forward(&mut limb).unwrap();
            limb
        })
        .collect();
    let args: Vec<&[u64]> = eval.iter().map(Vec::as_slice).collect();
    let mut results = interpret::run(&procedure, &args, &[]).unwrap();
    for (limb, r) in results.iter_mut().zip(&procedure.results) {
        let index = usize::from(procedure.limb(r.value).unwrap().modulus.0);
        plan(params, index).inverse(limb).unwrap();
    }
    let last = procedure.results.iter().map(|r| r.poly).max().unwrap();
    let mut cases = Vec::new();
    for poly in (0..=last.0).map(Poly) {
        for k in 0..params.degree() {
            let of_poly = operands.iter().filter(|o| o.0 == poly);
            let operand = of_poly.map(|(_, index, limb)| (*index, limb[k])).collect();
            let mine = procedure
                .results
                .iter()
                .zip(&results)
                .filter(|(r, _)| r.poly == poly);
            cases.push((operand, mine.map(|(_, limb)| limb[k]).collect()));
        }
    }
    cases
}

fn reduce_big(x: &BigUint, q: Modulus) -> u64 {
    (x % q.value()).to_u64().unwrap()
}

fn plan(params: &Params, index: usize) -> Arc<NttPlan> {
    NttPlan::shared(params.reducers()[index], params.ring()).unwrap()
}

fn compose(params: &Params, residues: &[(usize, u64)]) -> BigUint {
    let moduli: Vec<Modulus> = residues
        .iter()
        .map(|&(i, _)| params.reducers()[i])
        .collect();
    let values: Vec<u64> = residues.iter().map(|&(_, x)| x).collect();
    RnsBasis::new(moduli).unwrap().compose(&values).unwrap()
}

#[test]
fn rescale_rounds_to_nearest() {
    let params = params(&[50, 40, 41, 40], &[50]);
    for level in 1..=3u32 {
        for size in 2..=3 {
            let last = params.moduli()[level as usize];
            for (operand, result) in run(&params, &OpKey::rescale(Level(level), size)) {
                let exact = (compose(&params, &operand) + last / 2) / last;
                for (&r, &q) in result.iter().zip(params.reducers()) {
                    assert_eq!(r, reduce_big(&exact, q));
                }
                assert_eq!(result.len(), level as usize);
            }
        }
    }
}

#[test]
fn mod_down_by_one_prime_rounds_to_nearest() {
    // A special prime smaller and one larger than the ciphertext primes.
    for special in [39, 55] {
        let params = params(&[50, 40, 41], &[special]);
        let p = params.special_moduli()[0];
        for level in 0..=2 {
            for (operand, result) in run(&params, &OpKey::mod_down(Level(level), 2)) {
                let exact = (compose(&params, &operand) + p / 2) / p;
                for (&r, &q) in result.iter().zip(params.reducers()) {
                    assert_eq!(r, reduce_big(&exact, q));
                }
            }
        }
    }
}

#[test]
fn mod_down_by_several_primes_is_its_definition_and_within_half_their_number() {
    for special in [&[45u32, 46][..], &[45, 46, 47]] {
        let cipher = [50, 40, 41, 40, 42];
        let params = params(&cipher, special);
        let primes = params.special_moduli();
        let product: BigUint = primes.iter().product();
        let half: BigUint = primes.iter().map(|&p| &product / p * (p / 2)).sum();
        let mut zeros = 0;
        for (operand, result) in run(&params, &OpKey::mod_down(Level(4), 2)) {
            let x = compose(&params, &operand);
            if &x % &product == BigUint::ZERO {
                // At least the first coefficient, which is zero. A ciphertext of zeros stays one.
                let exact = &x / &product;
                let moduli = params.reducers().iter();
                assert!(
                    result
                        .iter()
                        .zip(moduli)
                        .all(|(&r, &q)| r == reduce_big(&exact, q))
                );
                zeros += 1;
            }
            let shifted = &x + &half;
            let mut extended = BigUint::ZERO;
            for &p in primes {
                let (m, punctured) = (Modulus::new(p).unwrap(), &product / p);
                let inverse = m.inv(reduce_big(&punctured, m)).unwrap();
                extended += punctured * m.mul(reduce_big(&shifted, m), inverse);
            }
            let difference = BigInt::from(shifted) - BigInt::from(extended);
            assert_eq!(&difference % BigInt::from(product.clone()), BigInt::ZERO);
            let exact = difference / BigInt::from(product.clone());
            for (&r, &q) in result.iter().zip(params.reducers()) {
                let modulus = BigInt::from(q.value());
                let expected = ((&exact % &modulus) + &modulus) % &modulus;
                assert_eq!(BigInt::from(r), expected);
            }
            let twice: BigInt = (exact * BigInt::from(product.clone()) - BigInt::from(x)) * 2;
            assert!(twice.magnitude() <= &(&product * (primes.len() + 1)));
        }
        assert!(zeros > 0);
    }
}
