// SPDX-License-Identifier: Apache-2.0
//! Tests that TFHE's bootstrap as limb programs gives the evaluator's ciphertexts bit for bit, under every kind of
//! parameters.

use std::sync::Arc;

use ringmill_circuits::Bootstrap;
use ringmill_circuits::tfhe::{
    BootstrapKey, CiphertextModulus, Client, Evaluator, FailureRate, Gate, GlweRank, KeySwitchKey,
    LookupTable, LweDimension, Messages, ModulusSwitch, Order, Params, ParamsBuilder, Transforms,
    Unrolling,
};
use ringmill_cpu::Cpu;
use ringmill_device::{Device, Request};
use ringmill_isa::mid::text::{parse_program, print_program};
use ringmill_isa::mid::{Op, Verified, stats};
use ringmill_limits::Watch;

struct Setup {
    params: Arc<Params>,
    client: Client,
    bootstrap: BootstrapKey,
    switch: KeySwitchKey,
}

impl Setup {
    fn new(builder: ParamsBuilder, seed: u8) -> Self {
        let params = builder.build().unwrap();
        let client =
            Client::from_seed_for_reproducible_tests_only(params.clone(), [seed; 32]).unwrap();
        Self {
            bootstrap: client.bootstrap_key().unwrap(),
            switch: client.key_switch_key().unwrap(),
            params,
            client,
        }
    }

    fn evaluator(&self) -> Evaluator {
        Evaluator::new(self.params.clone(), &self.bootstrap, &self.switch).unwrap()
    }

    fn programs(&self) -> Bootstrap {
        Bootstrap::new(&self.params, &self.bootstrap, &self.switch).unwrap()
    }
}

fn toy() -> ParamsBuilder {
    ParamsBuilder::toy_for_tests_only()
}

/// Returns the words of 1/8 - a - b for two encrypted bits, which NAND bootstraps; the polynomial of its table, 1/8 in
/// every coefficient; and the words of the evaluator's result.
fn nand(setup: &Setup, x: [bool; 2]) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
    let q = setup.params.coefficients();
    let [a, b] = x.map(|bit| setup.client.encrypt_bit(bit).unwrap());
    let words = a.words().iter().zip(b.words());
    let mut sum: Vec<u64> = words.map(|(&a, &b)| q.sub(q.sub(0, a), b)).collect();
    let eighth = q.fraction(1, 3);
    let body = sum.last_mut().unwrap();
    *body = q.add(*body, eighth);
    let evaluator = setup.evaluator();
    let mut work = evaluator.workspace();
    let out = evaluator.gate(&mut work, Gate::Nand, &a, &b).unwrap();
    assert_eq!(setup.client.decrypt_bit(&out).unwrap(), !(x[0] && x[1]));
    let table = vec![eighth; setup.params.sizes().degree()];
    (sum, table, out.words().to_vec())
}

fn check(builder: ParamsBuilder, seed: u8) {
    let setup = Setup::new(builder, seed);
    let programs = setup.programs();
    for (threads, x) in [(1, [true, true]), (2, [false, true])] {
        let (sum, table, expected) = nand(&setup, x);
        let cpu = Cpu::new(threads).unwrap();
        for device in [cpu, Cpu::new(threads).unwrap().without_fusion()] {
            let request = Request::function_only();
            let (out, _) = programs.run(&device, &table, &sum, request).unwrap();
            assert_eq!(out, expected, "{}", setup.params.summary());
        }
    }
}

#[test]
fn unrolled_or_not_it_gives_the_evaluators_bits() {
    for unrolling in Unrolling::ALL {
        for modulus in [
            CiphertextModulus::Torus32,
            CiphertextModulus::Prime { bits: 30 },
        ] {
            // The last step of the rotation has fewer bits than the others.
            let uneven =
                |n: &mut LweDimension| n.0 += usize::from(n.0.is_multiple_of(unrolling.m()));
            let builder = toy().unrolling(unrolling).modulus(modulus);
            check(builder.sizes(|s| uneven(&mut s.n)), 1);
        }
    }
}

#[test]
fn so_does_every_order_and_ring() {
    check(toy().order(Order::KeySwitchFirst), 2);
    check(toy().modulus_switch(ModulusSwitch::CentredMean), 3);
    check(toy().sizes(|s| (s.k, s.log_degree) = (GlweRank(2), 8)), 4);
    for m in [Unrolling::One, Unrolling::Two] {
        check(toy().transforms(Transforms::TwoPrimes).unrolling(m), 5);
    }
    let order = Order::KeySwitchFirst;
    check(
        toy()
            .modulus(CiphertextModulus::Prime { bits: 52 })
            .order(order),
        6,
    );
}

/// Tests tables of integers on the 64-bit torus, with ciphertexts under the large key.
#[test]
fn tables_are_looked_up() {
    let builder = toy().messages(Messages::Integers {
        message_bits: 2,
        carry_bits: 2,
    });
    let builder = builder.modulus(CiphertextModulus::Torus64);
    let setup = Setup::new(
        builder
            .sizes(|s| s.log_degree = 9)
            .order(Order::KeySwitchFirst),
        7,
    );
    let q = setup.params.coefficients();
    let (evaluator, programs) = (setup.evaluator(), setup.programs());
    let table = LookupTable::of(&setup.params, |m| (5 * m + 3) % 16).unwrap();
    let cpu = Cpu::new(1).unwrap();
    for message in [0, 7, 15] {
        let x = setup.client.encrypt(message).unwrap();
        let expected = evaluator
            .lookup(&mut evaluator.workspace(), &table, &x)
            .unwrap();
        assert_eq!(
            setup.client.decrypt(&expected).unwrap(),
            (5 * message + 3) % 16
        );
        let mut words = x.words().to_vec();
        let body = words.last_mut().unwrap();
        *body = q.add(*body, q.fraction(1, 2 + 4));
        let request = Request::function_only();
        let (out, _) = programs
            .run(&cpu, table.polynomial(), &words, request)
            .unwrap();
        assert_eq!(out, expected.words());
        // The sign of an integer is no message.
        let refused = programs.sign(&cpu, &x, &Watch::default());
        assert!(refused.is_err(), "{refused:?}");
    }
}

/// Tests named sets at full size.
#[test]
#[ignore = "half a minute in release mode"]
fn the_named_sets() {
    check(ParamsBuilder::named("boolean_p64").unwrap(), 10);
    let library = || ParamsBuilder::named("tfhe_library_2020_below_128_bits").unwrap();
    for unrolling in Unrolling::ALL {
        // An unrolled key adds noise, and the set's own failure rate holds for m = 1 only.
        let builder = library().unrolling(unrolling);
        check(builder.failing(FailureRate::Below2Minus40), 11);
    }
}

/// Tests that the blind rotation is a loop: a longer key adds inputs, but no steps and no blocks. The counts of
/// instructions are those of Kong and Li's paper, Algorithm 1.
#[test]
fn the_rotation_is_a_loop() {
    let setup = Setup::new(toy(), 8);
    let s = *setup.params.sizes();
    let program = setup.programs().rotation().program().clone();
    assert_eq!(program.steps.len(), 3);
    let text = print_program(&program);
    assert!(text.contains(&format!("repeat {} blind_rotate", s.n.0)));
    let again = parse_program(&text).unwrap();
    assert_eq!(again, program);
    Verified::new(again).unwrap();
    let counts = stats::program_counts(&program);
    let (n, cols, rows) = (s.n.0 as u64, s.k.0 as u64 + 1, s.rows() as u64);
    assert_eq!(counts[&Op::Ntt], n * rows);
    assert_eq!(counts[&Op::Intt], n * cols);
    assert_eq!(counts[&Op::Dot], n * cols);
    assert_eq!(counts[&Op::Rotdiff], n * cols + 1);
    assert_eq!(counts[&Op::Decomp], n * cols);
    assert_eq!((counts[&Op::Extract], counts[&Op::Lweks]), (1, 1));
    let more = Setup::new(toy().sizes(|s| s.n.0 += 5), 8).programs();
    assert_eq!(more.rotation().steps.len(), 3);
    assert_eq!(more.rotation().blocks.len(), 1);
}

#[test]
fn what_cannot_run_is_refused() {
    let setup = Setup::new(toy(), 9);
    let programs = setup.programs();
    let (sum, table, _) = nand(&setup, [true, false]);
    let cpu = Cpu::new(1).unwrap();
    let run = |device: &dyn Device, table: &[u64], words: &[u64]| {
        let out = programs.run(device, table, words, Request::function_only());
        out.map(drop).unwrap_err().to_string()
    };
    let short = run(&cpu, &table, &sum[1..]);
    assert!(short.contains("dimension"), "{short}");
    let narrow = run(&cpu, &table[1..], &sum);
    assert!(narrow.contains("table"), "{narrow}");
    let above = run(&cpu, &vec![u64::MAX; table.len()], &sum);
    assert!(
        above.contains("residue") || above.contains("below"),
        "{above}"
    );
    // These machines hold limbs only, and no exponents.
    for machine in ["sim:ring", "sim:polymul", "sim:basext"] {
        let device = ringmill_sim::open(machine).unwrap();
        let refused = run(device.as_ref(), &table, &sum);
        assert!(refused.contains("public exponent"), "{refused}");
        assert!(refused.contains(machine), "{refused}");
    }
    let other = Setup::new(toy().sizes(|s| s.n.0 += 1), 9);
    assert!(Bootstrap::new(&other.params, &setup.bootstrap, &setup.switch).is_err());
}
