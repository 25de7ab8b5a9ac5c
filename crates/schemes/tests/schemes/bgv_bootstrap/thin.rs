// SPDX-License-Identifier: Apache-2.0
//! Tests thin bootstrapping of BGV with small, insecure parameters.

use std::sync::Arc;

use ringmill_math::slots::SlotEncoder;
use ringmill_math::slots::linear::coefficient_of_slot;
use ringmill_schemes::bgv::bootstrap::{
    BootstrapError, BootstrapKeys, Bootstrapper, Bootstrapping, Maps, SparseSecret, Step, Table,
    Value,
};
use ringmill_schemes::bgv::{
    Ciphertext, Decryptor, Encryptor, ExactParams, KeyForm, KeyGenerator, Level, NoiseModel,
    Params, Plaintext, PrimePower, friendly_primes,
};

pub(super) struct Toy {
    pub params: Arc<Params>,
    pub bootstrapper: Bootstrapper,
    pub keys: BootstrapKeys,
    pub main: Decryptor,
    sparse: Decryptor,
    encryptor: Encryptor,
    pub encoder: SlotEncoder,
}

impl Toy {
    pub fn new(
        log_n: u8,
        power: (u64, u32, u32),
        weight: u32,
        primes: &[u64],
        special: usize,
    ) -> Self {
        Self::with_chance(log_n, power, weight, primes, special, -40.0)
    }

    pub fn with_chance(
        log_n: u8,
        (p, r, e): (u64, u32, u32),
        weight: u32,
        primes: &[u64],
        special: usize,
        chance: f64,
    ) -> Self {
        let t = PrimePower::new(p, r).unwrap().modulus().unwrap();
        let (cipher, special) = primes.split_at(primes.len() - special);
        let params = Params::builder(log_n, t)
            .primes(cipher, special)
            .further_plain_moduli((e - r) as u8)
            .allow_insecure_parameters_for_tests_only()
            .build()
            .unwrap();
        let setup = Bootstrapping::with_chance(params.clone(), weight, chance).unwrap();
        println!("{setup}");
        let keygen =
            KeyGenerator::from_seed_for_reproducible_tests_only(params.clone(), [p as u8; 32])
                .unwrap();
        let sparse = SparseSecret::sample(setup.params(), setup.weight(), &keygen).unwrap();
        let maps = Maps::new(&setup, Default::default()).unwrap();
        let keys =
            BootstrapKeys::of_secret(&setup, &maps, &keygen, &sparse, KeyForm::Stored).unwrap();
        let secret = keygen.secret_key().clone();
        let public = keygen.public_key().unwrap();
        let encryptor = Encryptor::with_public_key(params.clone(), &public).unwrap();
        Self {
            encoder: SlotEncoder::new(setup.structure().clone(), r).unwrap(),
            bootstrapper: Bootstrapper::new(setup, maps).unwrap(),
            main: Decryptor::new(params.clone(), secret).unwrap(),
            sparse: Decryptor::new(params.clone(), sparse.secret_key().clone()).unwrap(),
            encryptor: encryptor.seed_for_reproducible_tests_only([5; 32]),
            keys,
            params,
        }
    }

    pub fn encrypt(&self, slots: &[u64], level: Level) -> Value {
        let plain = self.encoder.encode(slots).unwrap();
        let plain = Plaintext::new(&*self.params, plain).unwrap();
        Value {
            cipher: self.encryptor.encrypt_at(&plain, level).unwrap(),
            noise: NoiseModel::new(&self.params).fresh(),
        }
    }

    pub fn open(&self, decryptor: &Decryptor, cipher: &Ciphertext) -> Vec<u64> {
        decryptor.decrypt(cipher).unwrap().residues().to_vec()
    }

    /// Bootstraps a ciphertext of `slots` at level `from`, and compares the result of every step with the step in the
    /// clear.
    fn run(&self, slots: &[u64], from: Level) {
        let (params, setup) = (&self.params, self.bootstrapper.setup());
        let structure = setup.structure();
        let t = params.plain_modulus().reducer();
        let top = params.plain_at(params.last_plain()).unwrap();
        let below = top.value() / t.value();
        let q = params.moduli().iter().take(setup.inner().primes());
        let q_inverse = q.fold(1, |x, &q| t.mul(x, t.inv(t.reduce(q)).unwrap()));
        let place = |slot| coefficient_of_slot(&self.encoder, slot);
        let input = self.encrypt(slots, from);
        let (mut coefficients, mut raised, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        let mut observe = |step: Step, value: &Value| {
            seen.push(step);
            let secret = if step == Step::Encapsulate {
                &self.sparse
            } else {
                &self.main
            };
            let budget = secret.noise_budget(&value.cipher);
            let model = NoiseModel::new(params);
            let promised = model.budget(value.noise, value.level());
            println!(
                "{step}: level {}, promised {promised}, found {budget:?}",
                value.level()
            );
            assert!(
                promised > 0 && u64::from(promised) <= u64::from(budget.unwrap()),
                "{step}"
            );
            let plain = self.open(secret, &value.cipher);
            match step {
                Step::ToCoefficients => {
                    let mut expected = vec![0; plain.len()];
                    for (j, &z) in slots.iter().enumerate() {
                        expected[place(j)] = z;
                    }
                    assert_eq!(plain, expected);
                    coefficients = plain;
                }
                Step::Encapsulate => {
                    assert_eq!(plain, coefficients);
                    // The later steps have the message f m / q.
                    let factor = t.mul(value.factor().value(), q_inverse);
                    raised = plain.iter().map(|&c| t.mul(c, factor)).collect();
                }
                Step::Raise => {
                    let reducer = top.reducer();
                    for (&w, &m) in plain.iter().zip(&raised) {
                        let rest = top.centred(reducer.sub(w, below * m));
                        assert!(rest.unsigned_abs() <= below / 2, "{rest}");
                    }
                }
                Step::ToSlots => {
                    let encoder =
                        SlotEncoder::new(structure.clone(), setup.top().unwrap().exponent());
                    let held = encoder.unwrap().decode(&plain).unwrap();
                    let reducer = top.reducer();
                    for (j, &w) in held.iter().enumerate() {
                        let rest = top.centred(reducer.sub(w, below * raised[place(j)]));
                        assert!(rest.unsigned_abs() <= below / 2, "{rest}");
                    }
                }
                Step::Trace => {}
                Step::RemoveDigits => {
                    assert_eq!(self.encoder.decode(&plain).unwrap(), slots);
                }
            }
        };
        let output = self
            .bootstrapper
            .observed(&input, &self.keys, &mut observe)
            .unwrap();
        assert_eq!(seen.len(), 6);
        assert!(
            output.level() > self.bootstrapper.start(),
            "{}",
            output.level()
        );
        assert_eq!(output.factor().plain(), 0);
        // The result can be bootstrapped again.
        let again = self.bootstrapper.bootstrap(&output, &self.keys).unwrap();
        let plain = self.open(&self.main, &again.cipher);
        assert_eq!(self.encoder.decode(&plain).unwrap(), slots);
    }
}

pub(super) fn slots(count: usize, t: u64) -> Vec<u64> {
    let mut state = 99u64;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(7);
        (state >> 20) % t
    };
    (0..count).map(next).collect()
}

#[test]
fn every_step_is_what_it_is_in_the_clear() {
    for (log_n, power, weight) in [
        (9, (17, 1, 2), 8),
        (9, (7, 1, 3), 16),
        (10, (17, 2, 3), 8),
        (9, (127, 1, 2), 16),
    ] {
        let toy = Toy::new(log_n, power, weight, &friendly_primes(32).unwrap(), 8);
        let t = toy.params.plain_modulus().value();
        let count = toy.bootstrapper.setup().structure().slots();
        let start = toy.bootstrapper.start();
        toy.run(&slots(count, t), start);
        toy.run(&slots(count, t), Level(start.0 + 2));
        let low = toy.encrypt(&slots(count, t), Level(start.0 - 1));
        let refused = toy.bootstrapper.bootstrap(&low, &toy.keys).unwrap_err();
        assert!(
            matches!(refused, BootstrapError::NoLevel { .. }),
            "{refused}"
        );
    }
}

/// All methods of digit removal give the same slots. A deeper method gives a lower level.
#[test]
fn every_method_of_removal_gives_the_same_slots() {
    use ringmill_math::digits::Method;
    for power in [(7, 1, 3), (17, 2, 3)] {
        let mut toy = Toy::new(9, power, 8, &friendly_primes(40).unwrap(), 8);
        let t = toy.params.plain_modulus().value();
        let count = toy.bootstrapper.setup().structure().slots();
        let mut levels = Vec::new();
        for method in [Method::OfNoise, Method::AllDigits, Method::HaleviShoup] {
            let setup = toy.bootstrapper.setup().clone().with_removal(method);
            let maps = toy.bootstrapper.maps().clone();
            toy.bootstrapper = Bootstrapper::new(setup, maps).unwrap();
            let start = toy.bootstrapper.start();
            toy.run(&slots(count, t), start);
            let input = toy.encrypt(&slots(count, t), start);
            let output = toy.bootstrapper.bootstrap(&input, &toy.keys).unwrap();
            levels.push(output.level());
        }
        assert!(
            levels[0] >= levels[1] && levels[1] > levels[2],
            "{levels:?}"
        );
    }
}

#[test]
fn an_inner_modulus_that_is_1_modulo_the_power_needs_no_correction() {
    // 17^2 divides q - 1 of each of the lowest primes.
    let order = (1u64 << 17) * 289;
    let special = (1u64 << 31..1 << 32).map(|x| x - x % order + 1);
    let mut chosen: Vec<u64> = special
        .step_by(order as usize)
        .filter(|&q| q > 1 << 31 && ringmill_math::primes::is_prime(q))
        .take(2)
        .collect();
    let others = friendly_primes(32).unwrap().into_iter();
    let others: Vec<u64> = others.filter(|q| !chosen.contains(q)).collect();
    chosen.extend(others);
    chosen.truncate(32);
    let toy = Toy::new(9, (17, 1, 2), 8, &chosen, 8);
    assert!(toy.bootstrapper.setup().inner() < Level(2));
    let start = toy.bootstrapper.start();
    toy.run(&slots(8, 17), start);
}

/// Returns the probability that a sum of `terms` numbers uniform in (-1/2, 1/2) is `bound` or more in absolute value.
/// By Irwin and Hall's distribution it is twice the sum over k of (-1)^k C(n, k) (n/2 - bound - k)^n / n!.
pub(super) fn tail(terms: u32, bound: f64) -> f64 {
    let n = f64::from(terms);
    let start = n / 2.0 - bound;
    let (mut sum, mut choose, mut k) = (0.0, 1.0, 0.0);
    while k < start {
        sum += choose * (start - k).powf(n);
        choose *= -(n - k) / (k + 1.0);
        k += 1.0;
    }
    let factorial: f64 = (1..=terms).map(f64::from).product();
    2.0 * sum / factorial
}

#[test]
fn the_quotients_digits_overflow_as_often_as_is_predicted() {
    // One digit in base 5 or 7, with weights for which the quotient often exceeds the digit.
    for (weight, power) in [(6, (5, 1, 2)), (20, (7, 1, 2)), (12, (5, 1, 2))] {
        let toy = Toy::with_chance(9, power, weight, &friendly_primes(32).unwrap(), 8, 0.0);
        let setup = toy.bootstrapper.setup();
        let (t, top) = (toy.params.plain_modulus().reducer(), setup.top().unwrap());
        let top = top.modulus().unwrap();
        let below = top.value() / t.value();
        let q = toy.params.moduli().iter().take(setup.inner().primes());
        let q_inverse = q.fold(1, |x, &q| t.mul(x, t.inv(t.reduce(q)).unwrap()));
        let predicted = tail(weight, below as f64 / 2.0);
        assert!(setup.log2_chance() >= predicted.log2().min(0.0));
        let (mut over, mut all, mut message) = (0u64, 0u64, Vec::new());
        for run in 0..8 {
            let count = setup.structure().slots();
            let input = toy.encrypt(&slots(count, t.value() - run % 2), toy.bootstrapper.start());
            let mut observe = |step: Step, value: &Value| match step {
                Step::Encapsulate => {
                    let factor = t.mul(value.factor().value(), q_inverse);
                    let plain = toy.open(&toy.sparse, &value.cipher);
                    message = plain.iter().map(|&c| t.mul(c, factor)).collect();
                }
                Step::Raise => {
                    let plain = toy.open(&toy.main, &value.cipher);
                    for (&w, &m) in plain.iter().zip(&message) {
                        // If the rest rounds to another multiple of p^(e-r), the digit is wrong.
                        let rest = top.centred(top.reducer().sub(w, below * m));
                        over += u64::from(rest.unsigned_abs() > below / 2);
                        all += 1;
                    }
                }
                _ => {}
            };
            toy.bootstrapper
                .observed(&input, &toy.keys, &mut observe)
                .unwrap();
        }
        let (all, over) = (all as f64, over as f64);
        let deviation = (all * predicted * (1.0 - predicted)).sqrt();
        println!("{over} of {all}, predicted {}", all * predicted);
        assert!((over - all * predicted).abs() < 4.5 * deviation, "{weight}");
    }
}

#[test]
fn a_table_is_looked_up_in_every_slot() {
    let toy = Toy::new(9, (17, 1, 2), 8, &friendly_primes(32).unwrap(), 8);
    let setup = toy.bootstrapper.setup();
    let count = setup.structure().slots();
    let start = toy.bootstrapper.start();
    for (run, values) in [slots(17, 17), (0..17).map(|x| x * x % 17).collect()]
        .iter()
        .enumerate()
    {
        let table = Table::new(setup, values).unwrap();
        let input: Vec<u64> = (0..count as u64)
            .map(|i| (i * 3 + 8 * run as u64) % 17)
            .collect();
        let value = toy.encrypt(&input, start);
        let output = toy
            .bootstrapper
            .bootstrap_table(&value, &table, &toy.keys)
            .unwrap();
        let expected: Vec<u64> = input.iter().map(|&x| values[x as usize]).collect();
        let plain = toy.open(&toy.main, &output.cipher);
        assert_eq!(toy.encoder.decode(&plain).unwrap(), expected);
        let budget = toy.main.noise_budget(&output.cipher).unwrap();
        let promised = NoiseModel::new(&toy.params).budget(output.noise, output.level());
        assert!(promised > 0 && promised <= budget, "{promised} {budget}");
    }
    for wrong in [vec![0; 16], vec![3; 17], vec![17; 17], vec![]] {
        assert!(Table::new(setup, &wrong).is_err());
    }
}

/// Returns the integer nearest to zero that is x modulo t.
fn about_zero(x: u64, t: u64) -> i64 {
    if x > t / 2 {
        x as i64 - t as i64
    } else {
        x as i64
    }
}

#[test]
fn numbers_are_scaled_and_compared_while_they_are_bootstrapped() {
    for (power, digit) in [((17, 3, 4), 13), ((7, 2, 4), 12), ((17, 1, 2), 9)] {
        let (p, r, _) = power;
        let toy = Toy::new(9, power, 8, &friendly_primes(4 * digit).unwrap(), digit);
        let t = toy.params.plain_modulus().value();
        let count = toy.bootstrapper.setup().structure().slots();
        let edges = [
            0,
            1,
            t - 1,
            t / 2,
            t / 2 + 1,
            p % t,
            (t - p % t) % t,
            (p / 2 + 1) % t,
        ];
        let mut input = slots(count, t);
        for (slot, edge) in input.iter_mut().zip(edges).skip(1) {
            *slot = edge;
        }
        let value = toy.encrypt(&input, toy.bootstrapper.start());
        // Returns the integers in the slots modulo p^known, nearest to zero.
        let opened = |value: &Value, known: u32| -> Vec<i64> {
            let budget = toy.main.noise_budget(&value.cipher).unwrap();
            let promised = NoiseModel::new(&toy.params).budget(value.noise, value.level());
            assert!(promised > 0 && promised <= budget, "{promised} {budget}");
            let plain = toy.open(&toy.main, &value.cipher);
            let modulus = p.pow(known);
            let plain: Vec<u64> = plain.into_iter().map(|c| c % modulus).collect();
            let structure = toy.bootstrapper.setup().structure().clone();
            let encoder = SlotEncoder::new(structure, known).unwrap();
            let decoded = encoder.decode(&plain).unwrap().into_iter();
            decoded.map(|x| about_zero(x, modulus)).collect()
        };
        let signs = toy.bootstrapper.bootstrap_sign(&value, &toy.keys);
        let expected: Vec<i64> = input.iter().map(|&x| about_zero(x, t).signum()).collect();
        assert_eq!(opened(&signs.unwrap(), r), expected, "{power:?}");
        for k in 0..r {
            let scaled = toy.bootstrapper.bootstrap_scaled(&value, k, &toy.keys);
            let (by, known) = (p.pow(k) as i64, p.pow(r - k) as i64);
            for (found, &x) in opened(&scaled.unwrap(), r - k).into_iter().zip(&input) {
                // The quotient is rounded to nearest. There are no ties, because `by` is odd.
                let nearest = (about_zero(x, t) + by / 2).div_euclid(by);
                assert_eq!(
                    (found - nearest).rem_euclid(known),
                    0,
                    "{power:?}: {x} / {by}"
                );
            }
        }
        assert!(
            toy.bootstrapper
                .bootstrap_scaled(&value, r, &toy.keys)
                .is_err()
        );
    }
    // The levels suffice for a bootstrap, but not for the signs of two digits. So bootstraps are inserted.
    let toy = Toy::new(9, (17, 2, 3), 8, &friendly_primes(28).unwrap(), 7);
    let input = slots(toy.bootstrapper.setup().structure().slots(), 289);
    let value = toy.encrypt(&input, toy.bootstrapper.start());
    let signs = toy.bootstrapper.bootstrap_sign(&value, &toy.keys).unwrap();
    let found = toy
        .encoder
        .decode(&toy.open(&toy.main, &signs.cipher))
        .unwrap();
    let signs = input
        .iter()
        .map(|&x| about_zero(x, 289).signum().rem_euclid(289) as u64);
    assert!(signs.eq(found));
}

#[test]
fn what_belongs_to_others_is_refused() {
    let primes = friendly_primes(33).unwrap();
    let toy = Toy::new(9, (17, 1, 2), 8, &primes[..32], 8);
    let other = Toy::new(9, (17, 1, 2), 8, &primes[1..], 8);
    let value = toy.encrypt(&slots(8, 17), toy.bootstrapper.start());
    assert!(toy.bootstrapper.bootstrap(&value, &other.keys).is_err());
    assert!(other.bootstrapper.bootstrap(&value, &other.keys).is_err());
    // Keys of another secret under the same parameters.
    let again = Toy::new(9, (17, 1, 2), 8, &primes[..32], 8);
    assert!(toy.bootstrapper.bootstrap(&value, &again.keys).is_ok());
    let keygen = KeyGenerator::new(toy.params.clone()).unwrap();
    let (setup, maps) = (toy.bootstrapper.setup(), toy.bootstrapper.maps());
    let keys = BootstrapKeys::generate(setup, maps, &keygen, KeyForm::Seeded).unwrap();
    assert!(toy.bootstrapper.bootstrap(&value, &keys).is_err());
    // A noise bound that leaves no room is an error.
    let mut full = value.clone();
    for _ in 0..20 {
        full.noise = NoiseModel::new(&toy.params).mul_integer(full.noise, 1 << 20);
    }
    let refused = toy.bootstrapper.bootstrap(&full, &toy.keys).unwrap_err();
    assert!(
        matches!(refused, BootstrapError::NoRoom { .. }),
        "{refused}"
    );
}

#[test]
fn polynomials_of_every_shape_are_looked_up() {
    let toy = Toy::new(9, (17, 1, 2), 8, &friendly_primes(32).unwrap(), 8);
    let setup = toy.bootstrapper.setup();
    let count = setup.structure().slots();
    let start = toy.bootstrapper.start();
    fn power(x: u64, i: u64) -> u64 {
        (0..i).fold(1, |y, _| y * x % 17)
    }
    fn sum(x: u64, powers: impl Iterator<Item = u64>) -> u64 {
        powers.map(|i| power(x, i)).sum()
    }
    // Some polynomials have blocks that are a constant or zero.
    let functions: [fn(u64) -> u64; 8] = [
        |x| sum(x, 0..=14),
        |x| sum(x, 0..=12),
        |x| power(x, 16) + x,
        |x| power(x, 15) + x,
        |x| power(x, 14) + 5 * x + 1,
        |x| sum(x, (1..=15).step_by(2)),
        |x| sum(x, (0..=16).step_by(2)),
        |x| x + 1,
    ];
    for f in functions {
        let values: Vec<u64> = (0..17).map(|x| f(x) % 17).collect();
        let table = Table::new(setup, &values).unwrap();
        let input: Vec<u64> = (0..count as u64).map(|i| (i * 3 + 8) % 17).collect();
        let value = toy.encrypt(&input, start);
        let output = toy
            .bootstrapper
            .bootstrap_table(&value, &table, &toy.keys)
            .unwrap();
        let expected: Vec<u64> = input.iter().map(|&x| values[x as usize]).collect();
        let plain = toy.open(&toy.main, &output.cipher);
        let plan = table.plan();
        assert_eq!(toy.encoder.decode(&plain).unwrap(), expected, "{plan:?}");
    }
}
