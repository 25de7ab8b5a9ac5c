// SPDX-License-Identifier: Apache-2.0
//! Random circuits, as deep as the parameters allow, are compiled, encrypted and run on the CPU and on machine models.
//! All devices must give the same ciphertexts bit for bit. The decrypted outputs must agree with the circuit in the
//! clear within the predicted error.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use ringmill_compiler::ckks::Options;
use ringmill_compiler::{CompileError, compile};
use ringmill_device::progress::Silent;
use ringmill_device::{Device, Request};
use ringmill_isa::macros::Visibility;
use ringmill_runtime::{Ciphertexts, Client, RuntimeError, Server, Vectors};
use ringmill_schemes::ckks::Params;
use ringmill_sim::open;
use ringmill_test_circuits::inputs::of_kind;

// The compiler's own generator of random circuits.
#[path = "../../../crates/compiler/tests/compiler/random.rs"]
mod random;

/// Parameter sets for every number of digits, from one digit of all seven primes to a digit for each prime as in SEAL.
/// The ring is small enough for many circuits. P has as many primes as the bits of the largest digit need.
static PARAMS: LazyLock<Vec<Arc<Params>>> = LazyLock::new(|| {
    let build = |specials: &[u32], dnum: usize| {
        let bits = [55, 45, 45, 45, 45, 45, 45];
        let builder = Params::builder(9).prime_bits(&bits, specials).dnum(dnum);
        let builder = builder.allow_insecure_parameters_for_tests_only();
        builder.build().unwrap()
    };
    let special = [6, 4, 3, 2, 2, 2, 1];
    let build = |(count, dnum)| build(&vec![55; count], dnum);
    special.into_iter().zip(1..).map(build).collect()
});

static DEVICES: LazyLock<Vec<Box<dyn Device>>> = LazyLock::new(|| {
    let names = ["cpu:1", "cpu:2", "sim:ring", "sim:ring-stored"];
    names.iter().map(|name| open(name).unwrap()).collect()
});

/// Runs a circuit on every device and checks the outputs. `seeded` asks for evaluation keys with seeds.
fn run_everywhere(case: &random::Case, params: &Arc<Params>, seeded: bool) {
    let options = Options {
        seeded_keys: seeded,
        ..Options::given(Arc::clone(params))
    };
    // Some circuits have an output such as x - x. The compiler or the server refuses it, and the compiler's tests say
    // which.
    let compiled = match compile(case.program.clone(), &options) {
        Err(CompileError::Transparent { .. }) => return,
        compiled => Arc::new(compiled.unwrap()),
    };
    let client =
        Client::from_seed_for_reproducible_tests_only(Arc::clone(&compiled), [3; 32]).unwrap();
    let keys = client.evaluation_keys().unwrap();
    let server = Server::new(Arc::clone(&compiled), keys).unwrap();
    let of = |kind| of_kind(&case.program, &case.inputs, kind);
    let (encrypted, plain) = (of(Visibility::Encrypted), of(Visibility::Plain));
    let ciphers = client.encrypt(&encrypted).unwrap();

    let mut first: Option<Ciphertexts> = None;
    for device in DEVICES.iter() {
        let request = Request {
            timing: device.clock_mhz().is_some(),
            // Some circuits keep more values alive than the machine has slots.
            spill: true,
            ..Request::function_only()
        };
        let answer = server.run(device.as_ref(), &ciphers, &plain, request, &Silent);
        let answer = match answer {
            Err(RuntimeError::Transparent { .. }) => return,
            answer => answer.unwrap(),
        };
        let outputs = answer.outputs.unwrap();
        let expected = first.get_or_insert_with(|| outputs.clone());
        assert!(*expected == outputs, "{} differs from cpu:1", device.name());
    }

    let inputs: Vectors = encrypted.into_iter().chain(plain).collect();
    let outputs = client.decrypt(&first.unwrap()).unwrap();
    for row in client.measure(&inputs, &outputs).unwrap() {
        let measured = row.measured_bits.unwrap();
        assert!(
            measured >= row.predicted_bits,
            "{}: {measured} bits measured, {} predicted",
            row.output,
            row.predicted_bits
        );
    }
}

/// Returns the number of circuits: 24, or the value of `PROPTEST_CASES`.
fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn random_circuits_agree_on_every_device_and_with_the_clear(
        case in random::cases(4..40), dnum in 0usize..7, seeded: bool
    ) {
        run_everywhere(&case, &PARAMS[dnum], seeded);
    }
}
