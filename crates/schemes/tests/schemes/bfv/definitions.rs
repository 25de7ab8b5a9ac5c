// SPDX-License-Identifier: Apache-2.0
//! Tests each BFV operation against its definition in big integers, at every level and for edge cases.

use num_bigint::BigInt;
use num_traits::Euclid;
use ringmill_math::primes::primes_one_mod;
use ringmill_schemes::bfv::{
    Encryptor, Evaluator, Integers, KeyForm, Level, Multiplication, Params, PlainModulus,
    Plaintext, RelinKey,
};
use ringmill_schemes::exact::ExactParams;

use super::integers::{
    Polynomial, centred, ciphertext, coefficients, fast_extension, map, modulus, product, reduced,
    rounded, tensor,
};
use super::setup::{Numbers, Setup, params};

const LOG_N: u8 = 4;

/// Returns lists of prime sizes in bits: of one to eight primes of several sizes, and of primes of one size.
fn chains() -> Vec<Vec<u32>> {
    let sizes = [60, 45, 50, 60, 36, 55, 60, 58];
    let mut chains: Vec<Vec<u32>> = (1..=8).map(|l| sizes[..l].to_vec()).collect();
    chains.extend([vec![30; 8], vec![60; 3], vec![20, 21]]);
    chains
}

/// Returns whether the product of primes with the sizes `chain` in bits is surely above `t`.
fn holds(chain: &[u32], t: u64) -> bool {
    chain.iter().map(|bits| bits - 1).sum::<u32>() >= 64 - t.leading_zeros()
}

/// Returns pairs of polynomials modulo Q. Their coefficients are random, or are edge cases of rounding and extension:
/// 0, 1, Q - 1, Q - 2, multiples of Q / q_i, and numbers near Q / 2 and Q / 2^33.
fn operands(params: &Params, level: Level, tag: u64) -> Vec<[Polynomial; 2]> {
    let (q, n) = (modulus(params, level), params.degree());
    let mut numbers = Numbers::new(tag);
    let mut random = || -> BigInt {
        let limbs = (0..=level.primes()).map(|_| BigInt::from(numbers.below(u64::MAX)));
        let x = limbs.fold(BigInt::from(0), |sum, limb| (sum << 64) + limb);
        reduced(&x, &q)
    };
    let mut edges = vec![BigInt::from(0), BigInt::from(1), &q - 1, &q - 2];
    for at in params.cipher_moduli().iter().take(level.primes()) {
        edges.push(&q / *at);
        edges.push(&q - &q / *at);
    }
    for k in -2..=2 {
        edges.push(&q / 2 + k);
        edges.push((&q >> 33u32) + k);
        edges.push(&q / 2 - (&q >> 33u32) + k);
        edges.push(&q / 2 + (&q >> 33u32) + k);
    }
    let mut edge = edges.into_iter().map(|x| reduced(&x, &q)).cycle();
    let mut found = vec![
        [0, 1].map(|_| vec![BigInt::from(0); n]),
        [0, 1].map(|_| vec![&q - 1; n]),
        [0, 1].map(|_| vec![&q / 2; n]),
        [0, 1].map(|_| vec![(&q + 1) / 2; n]),
    ];
    for _ in 0..3 {
        found.push([0, 1].map(|_| (0..n).map(|_| random()).collect()));
        found.push([0, 1].map(|_| edge.by_ref().take(n).collect()));
    }
    found
}

/// Returns m-tilde, the modulus by which BEHZ multiplies a factor's polynomials before it extends them.
fn m_tilde(params: &Params) -> u64 {
    match params.multiplication() {
        Multiplication::Behz => 1 << 32,
        Multiplication::BehzPrime => {
            let taken = [params.moduli(), &[params.plain_modulus().value()]].concat();
            primes_one_mod(32, 2 * params.degree() as u64, 1, &taken).unwrap()[0]
        }
        Multiplication::Hps | Multiplication::HpsFriendly => panic!("HPS has none"),
    }
}

/// Computes the product of two ciphertexts by the steps of BEHZ (behz.rs), with integers in place of residues.
fn behz(params: &Params, level: Level, a: &[Polynomial], b: &[Polynomial]) -> Vec<Polynomial> {
    let (q, t) = (modulus(params, level), params.plain_modulus().value());
    let m_tilde = BigInt::from(m_tilde(params));
    let inverse = q.modinv(&m_tilde).unwrap();
    let extended = |x: &BigInt| {
        let sum = fast_extension(params, level, &(x * &m_tilde));
        let r = reduced(&(-&sum * &inverse), &m_tilde);
        let r = if &r * 2 >= m_tilde { r - &m_tilde } else { r };
        let (quotient, rest) = (sum + r * &q).div_rem_euclid(&m_tilde);
        assert_eq!(rest, BigInt::from(0));
        quotient
    };
    let d = tensor(&map(a, extended), &map(b, extended));
    map(&d, |x| {
        let x = x * t;
        let (quotient, rest) = (&x - fast_extension(params, level, &x)).div_rem_euclid(&q);
        assert_eq!(rest, BigInt::from(0));
        quotient
    })
}

fn products(
    t: u64,
    multiplication: Multiplication,
    expected: impl Fn(&Params, Level, &[Polynomial], &[Polynomial]) -> Vec<Polynomial>,
) {
    for (k, chain) in chains().into_iter().enumerate() {
        if !holds(&chain, t) {
            continue;
        }
        let params = params(LOG_N, t, &chain, &[60], multiplication);
        let evaluator = Evaluator::new(params.clone());
        for level in Level::LOWEST.to(params.max_level()) {
            let q = modulus(&params, level);
            let operands = operands(&params, level, k as u64);
            for (i, a) in operands.iter().enumerate() {
                let b = &operands[(i * 3 + k) % operands.len()];
                let (x, y) = (ciphertext(&params, level, a), ciphertext(&params, level, b));
                let expected = |a: &[Polynomial], b: &[Polynomial]| {
                    map(&expected(&params, level, a, b), |x| reduced(x, &q))
                };
                match evaluator.mul(&x, &y) {
                    Ok(found) => assert_eq!(coefficients(&params, &found), expected(a, b)),
                    Err(e) => assert!(e.to_string().contains("transparent"), "{e}"),
                }
                match evaluator.square(&x) {
                    Ok(found) => assert_eq!(coefficients(&params, &found), expected(a, a)),
                    Err(e) => assert!(e.to_string().contains("transparent"), "{e}"),
                }
            }
        }
    }
}

#[test]
fn behz_with_a_prime_is_the_same_sequence() {
    // The plaintext modulus may be the very prime that would otherwise be m-tilde.
    let own = primes_one_mod(32, 2 << LOG_N, 1, &[]).unwrap()[0];
    for t in [256, (1 << 45) - 1, own] {
        products(t, Multiplication::BehzPrime, behz);
    }
}

/// Plaintext moduli: two, a power of two, one that batches, m-tilde, and large ones, for which the extension from B
/// subtracts multiples of B of either sign.
const PLAIN: [u64; 6] = [2, 256, 97, 1 << 32, (1 << 45) - 1, (1 << 60) - 93];

#[test]
fn behz_is_seals_sequence_in_integers() {
    for t in [2, 97, (1 << 60) - 93] {
        products(t, Multiplication::Behz, behz);
    }
}

#[test]
#[ignore = "all plain moduli, half a minute; `make full` runs it"]
fn sequences_are_the_same_for_every_plain_modulus() {
    for t in PLAIN {
        products(t, Multiplication::Behz, behz);
        products(t, Multiplication::BehzPrime, behz);
        products(t, Multiplication::Hps, hps);
    }
}

#[test]
fn behz_is_the_rounded_product_but_for_as_many_units_as_primes() {
    for (t, how) in [
        (97, Multiplication::Behz),
        ((1 << 45) - 1, Multiplication::Behz),
        (97, Multiplication::BehzPrime),
        ((1 << 45) - 1, Multiplication::BehzPrime),
    ] {
        for chain in chains().into_iter().filter(|chain| holds(chain, t)) {
            let params = params(LOG_N, t, &chain, &[60], how);
            let (level, evaluator) = (params.max_level(), Evaluator::new(params.clone()));
            let q = modulus(&params, level);
            // Random operands: the last but one.
            let all = operands(&params, level, t);
            let [.., a, _] = &all[..] else { panic!() };
            let x = ciphertext(&params, level, a);
            let found = coefficients(&params, &evaluator.square(&x).unwrap());
            let exact = hps(&params, level, a, a);
            for (exact, found) in exact.iter().flatten().zip(found.iter().flatten()) {
                let short = reduced(&(exact - found), &q);
                assert!(short <= BigInt::from(level.primes()), "{short}");
            }
        }
    }
}

/// Returns round(t a b / Q) for the centred representatives of two ciphertexts a and b.
fn hps(params: &Params, level: Level, a: &[Polynomial], b: &[Polynomial]) -> Vec<Polynomial> {
    let (q, t) = (modulus(params, level), params.plain_modulus().value());
    let centre = |x: &[Polynomial]| map(x, |c| centred(c, &q));
    map(&tensor(&centre(a), &centre(b)), |x| rounded(&(x * t), &q))
}

#[test]
fn hps_is_the_rounded_product() {
    for t in [2, 1 << 32, (1 << 60) - 93] {
        products(t, Multiplication::Hps, hps);
    }
}

#[test]
fn plaintexts_are_added_times_q_over_t_and_multiplied_as_signed_integers() {
    for t in PLAIN {
        let chain = [60, 45, 50];
        let params = params(LOG_N, t, &chain, &[60], Multiplication::Behz);
        let evaluator = Evaluator::new(params.clone());
        let mut numbers = Numbers::new(t);
        let mut residues = vec![0, 1, t - 1, t / 2, t.div_ceil(2), (t / 2).saturating_sub(1)];
        residues.resize_with(params.degree(), || numbers.below(t));
        let plain = Plaintext::new(&*params, residues.iter().map(|x| x % t).collect()).unwrap();
        for level in Level::LOWEST.to(params.max_level()) {
            let q = modulus(&params, level);
            let [_, .., a, _] = &operands(&params, level, 5)[..] else {
                panic!()
            };
            let x = ciphertext(&params, level, a);
            let m = plain.residues().iter().map(|&m| BigInt::from(m));
            let m: Polynomial = m.collect();
            let scaled: Polynomial = m
                .iter()
                .map(|m| (m * &q + t.div_ceil(2)).div_euclid(&BigInt::from(t)))
                .collect();
            let with = |sign: i32| {
                let sum = a[0].iter().zip(&scaled);
                let sum = sum.map(|(a, m)| reduced(&(a + m * sign), &q)).collect();
                vec![sum, a[1].clone()]
            };
            let sum = evaluator.add_plain(&x, &plain).unwrap();
            assert_eq!(coefficients(&params, &sum), with(1), "t {t} level {level}");
            let difference = evaluator.sub_plain(&x, &plain).unwrap();
            assert_eq!(coefficients(&params, &difference), with(-1));
            let signed = |x: &u64| BigInt::from(params.plain_modulus().centred(*x));
            let signed: Polynomial = plain.residues().iter().map(signed).collect();
            let expected = a.each_ref().map(|c| product(c, &signed));
            let expected = map(&expected, |x| reduced(x, &q));
            let found = evaluator.mul_plain(&x, &plain).unwrap();
            assert_eq!(coefficients(&params, &found), expected, "t {t}");
            assert_eq!(evaluator.mul_plain_as_seal(&x, &plain), Ok(found));
            // SEAL's exception: the coefficient of a plaintext of one term is not centred if every prime is above t.
            let mut monomial = vec![0; params.degree()];
            monomial[3] = t - 1;
            let last = Plaintext::new(&*params, monomial.clone()).unwrap();
            let primes = &params.cipher_moduli()[..level.primes()];
            let factor = if primes.iter().all(|&q| q > t) {
                BigInt::from(t - 1)
            } else {
                BigInt::from(-1)
            };
            let monomial = monomial.iter().map(|&c| BigInt::from(c.min(1)) * &factor);
            let monomial: Polynomial = monomial.collect();
            let expected = a.each_ref().map(|c| product(c, &monomial));
            let expected = map(&expected, |x| reduced(x, &q));
            let found = evaluator.mul_plain_as_seal(&x, &last).unwrap();
            assert_eq!(coefficients(&params, &found), expected, "t {t}");
        }
    }
}

#[test]
fn mod_switching_divides_by_the_last_prime_and_rounds() {
    let params = params(LOG_N, 97, &[60, 45, 50], &[60], Multiplication::Behz);
    let evaluator = Evaluator::new(params.clone());
    for level in [Level(2), Level(1)] {
        let (below, last) = (level.below().unwrap(), params.moduli()[level.index()]);
        for a in &operands(&params, level, 3)[1..] {
            let x = ciphertext(&params, level, a);
            let q = modulus(&params, below);
            let expected = map(a, |c| reduced(&rounded(c, &last.into()), &q));
            if expected[1].iter().all(|c| *c == BigInt::from(0)) {
                assert!(evaluator.mod_switch_to_next(&x).is_err());
                continue;
            }
            let found = evaluator.mod_switch_to_next(&x).unwrap();
            assert_eq!(found.level(), below);
            assert_eq!(coefficients(&params, &found), expected);
        }
    }
}

#[test]
fn a_fused_product_has_the_bits_of_its_parts_and_stored_keys_those_of_seeded_ones() {
    for multiplication in Multiplication::ALL {
        for special in [&[60][..], &[60, 58]] {
            let params = params(LOG_N, 97, &[60, 45, 50], special, multiplication);
            let setup = Setup::new(params.clone());
            let (a, b) = (setup.encrypt(&[1, 2, 3]), setup.encrypt(&[5, 96]));
            let product = setup.evaluator.mul(&a, &b).unwrap();
            let parts = setup.evaluator.relinearise(&product, &setup.relin).unwrap();
            let fused = setup.evaluator.mul_relin(&a, &b, &setup.relin).unwrap();
            assert_eq!(parts, fused);
            let stored = RelinKey(setup.relin.0.expanded(&params).unwrap());
            assert_eq!(setup.evaluator.mul_relin(&a, &b, &stored).unwrap(), fused);
            let square = setup.evaluator.square(&a).unwrap();
            assert_eq!(square, setup.evaluator.mul(&a, &a).unwrap());
            let square = setup.evaluator.relinearise(&square, &setup.relin).unwrap();
            let fused = setup.evaluator.square_relin(&a, &setup.relin).unwrap();
            assert_eq!(square, fused);
            let again = setup.keygen.relin_key(KeyForm::Stored).unwrap();
            assert!(setup.evaluator.mul_relin(&a, &b, &again).is_ok());
        }
    }
}

#[test]
fn every_message_survives_encryption_at_every_level() {
    for t in PLAIN {
        let params = params(5, t, &[60, 45, 50], &[60], Multiplication::Behz);
        let setup = Setup::new(params.clone());
        let t = PlainModulus::new(t).unwrap();
        let range = t.integers(Integers::Signed);
        let values = [*range.start(), *range.end(), 0, *range.start() / 2];
        let plain = setup.encoder.encode(&values, Integers::Signed).unwrap();
        for level in Level::LOWEST.to(params.max_level()) {
            if params.log_q(level) < 16.0 + (t.value() as f64).log2() {
                continue;
            }
            let public = setup.public.encrypt_at(&plain, level).unwrap();
            let secret = setup.secret.encrypt_at(&plain, level).unwrap();
            for cipher in [public, secret] {
                assert_eq!(cipher.level(), level);
                let budget = setup.decryptor.noise_budget(&cipher).unwrap();
                let room = params.log_q(level) - (t.value() as f64).log2();
                assert!(budget > 0 && f64::from(budget) < room, "{budget} {room}");
                let opened = setup.decryptor.decrypt(&cipher).unwrap();
                assert_eq!(opened, plain, "t {} level {level}", t.value());
            }
        }
    }
}

/// Encrypting a message equals adding it, by the procedure, to an encryption of zero, under both keys and at every
/// level.
#[test]
fn encryption_adds_what_the_procedure_adds() {
    for t in [2, 257, 65537, 1 << 32, (1 << 59) - 55] {
        let params = params(4, t, &[60, 45, 50], &[55], Multiplication::Behz);
        let setup = Setup::new(params.clone());
        let mut numbers = Numbers::new(t);
        let values: Vec<u64> = (0..params.degree()).map(|_| numbers.below(t)).collect();
        let plain = setup.encoder.encode(&values, Integers::Unsigned).unwrap();
        let zero = setup
            .encoder
            .encode(&[0u64; 1], Integers::Unsigned)
            .unwrap();
        let public = setup.keygen.public_key().unwrap();
        let by_public = || Encryptor::with_public_key(params.clone(), &public).unwrap();
        let secret = || setup.keygen.secret_key().clone();
        let by_secret = || Encryptor::with_secret_key(params.clone(), secret()).unwrap();
        for level in Level::LOWEST.to(params.max_level()) {
            for key in [&by_public as &dyn Fn() -> Encryptor, &by_secret] {
                let encrypt = |plain| {
                    let encryptor = key().seed_for_reproducible_tests_only([5; 32]);
                    encryptor.encrypt_at(plain, level).unwrap()
                };
                let added = setup.evaluator.add_plain(&encrypt(&zero), &plain).unwrap();
                assert_eq!(encrypt(&plain), added, "t = {t}, {level}");
            }
        }
    }
}
