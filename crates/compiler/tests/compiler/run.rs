// SPDX-License-Identifier: Apache-2.0
//! Compiled programs give right results under encryption. The interpreter of mid-level programs runs them on a small,
//! insecure ring.

use std::sync::{Arc, LazyLock};

use num_complex::Complex64;
use proptest::prelude::*;
use ringmill_device::interpret;
use ringmill_isa::macros::Visibility;
use ringmill_isa::mid::{InputRole, Unrolled};
use ringmill_schemes::ckks::key::KeyForm;
use ringmill_schemes::ckks::{
    Ciphertext, Decryptor, Encoder, Encryptor, GaloisKeys, KSwitchKey, KeyGenerator, Params,
    Plaintext, RelinKey,
};

use crate::random::{Case, cases};
use ringmill_compiler::ckks::reference::evaluate;
use ringmill_compiler::ckks::{Compiled, KeyRequest, Options, ParamsChoice, Wanted};
use ringmill_compiler::{Accuracy, CompileError, Passes, PlainSource, compile};

pub fn small_params() -> Arc<Params> {
    static PARAMS: LazyLock<Arc<Params>> = LazyLock::new(|| {
        let bits = [55, 45, 45, 45, 45, 45, 45];
        let builder = Params::builder(8).prime_bits(&bits, &[55]);
        builder
            .allow_insecure_parameters_for_tests_only()
            .build()
            .unwrap()
    });
    Arc::clone(&PARAMS)
}

struct Keys {
    relin: Option<RelinKey>,
    galois: GaloisKeys,
}

impl Keys {
    fn get(&self, request: KeyRequest) -> &KSwitchKey {
        match request {
            KeyRequest::Relin => &self.relin.as_ref().unwrap().0,
            KeyRequest::Galois(g) => self.galois.get(g).unwrap(),
            other => panic!("no program of CKKS takes {other}"),
        }
    }
}

/// Returns options that ask for 20 bits after the binary point.
pub fn twenty_bits() -> Options {
    Options {
        params: ParamsChoice::Choose(Wanted {
            accuracy: Accuracy::Bits(20),
            ..Wanted::default()
        }),
        ..Options::default()
    }
}

/// Encrypts the inputs, runs the mid-level program call by call, and decrypts the outputs.
pub fn run(compiled: &Compiled, inputs: &[Vec<Complex64>]) -> Vec<Vec<Complex64>> {
    let params = &compiled.params;
    let keygen =
        KeyGenerator::from_seed_for_reproducible_tests_only(Arc::clone(params), [7; 32]).unwrap();
    let form = if compiled.seeded {
        KeyForm::Seeded
    } else {
        KeyForm::Stored
    };
    let elements: Vec<_> = compiled
        .keys
        .iter()
        .filter_map(|k| {
            if let KeyRequest::Galois(g) = k {
                Some(*g)
            } else {
                None
            }
        })
        .collect();
    let relin = compiled
        .keys
        .contains(&KeyRequest::Relin)
        .then(|| keygen.relin_key(form).unwrap());
    let keys = Keys {
        relin,
        galois: keygen.galois_keys(&elements, form).unwrap(),
    };
    let public = keygen.public_key().unwrap();
    let encryptor = Encryptor::with_public_key(Arc::clone(params), &public)
        .unwrap()
        .seed_for_reproducible_tests_only([9; 32]);
    let encoder = Encoder::new(Arc::clone(params));

    let ciphers: Vec<Option<Ciphertext>> = compiled
        .inputs
        .iter()
        .zip(inputs)
        .map(|(input, values)| {
            let encode = || {
                encoder
                    .encode(values, input.at.level, input.at.annotation.0)
                    .unwrap()
            };
            (input.visibility == Visibility::Encrypted)
                .then(|| encryptor.encrypt(&encode()).unwrap())
        })
        .collect();
    let plains: Vec<Plaintext> = compiled
        .plaintexts
        .iter()
        .map(|request| {
            let values: Vec<Complex64> = match request.from {
                PlainSource::Data(d) => compiled.managed.data[d as usize]
                    .iter()
                    .map(|&(re, im)| Complex64::new(re, im))
                    .collect(),
                PlainSource::Input(i) => inputs[i as usize].clone(),
                PlainSource::Lifted(_) => panic!("a constant of bootstrapping"),
            };
            encoder
                .encode(&values, request.at.level, request.at.annotation.0)
                .unwrap()
        })
        .collect();

    let program = &Unrolled::of(&compiled.program, 1 << 24).unwrap();
    let mut limbs: Vec<Vec<u64>> = vec![Vec::new(); program.limbs.len()];
    for input in &program.inputs {
        let modulus = usize::from(program.limb_type(input.limb).unwrap().modulus.0);
        let limb = match input.role {
            InputRole::Cipher { input, poly } => ciphers[input as usize]
                .as_ref()
                .unwrap()
                .limb(poly, modulus),
            InputRole::Plain { input } => plains[input as usize].limb(modulus),
            InputRole::Key { key, digit, part } => {
                let key = keys.get(compiled.keys[key as usize]);
                let limb = key.limb(usize::from(digit), usize::from(part), modulus);
                limbs[input.limb.0 as usize] = limb.unwrap().wide().into_owned();
                continue;
            }
            InputRole::Exponent { .. } => unreachable!("of no scheme here"),
        };
        limbs[input.limb.0 as usize] = limb.unwrap().wide().into_owned();
    }
    let seeds: Vec<[u8; 32]> = program
        .seeds
        .iter()
        .map(|&k| *keys.get(compiled.keys[k as usize]).seed().unwrap())
        .collect();
    for call in &program.calls {
        let args: Vec<&[u64]> = call
            .args
            .iter()
            .map(|l| limbs[l.0 as usize].as_slice())
            .collect();
        let call_seeds: Vec<[u8; 32]> = call.seeds.iter().map(|&s| seeds[s as usize]).collect();
        let results =
            interpret::run(&program.procs[call.proc as usize], &args, &call_seeds).unwrap();
        for (id, limb) in call.results.iter().zip(results) {
            limbs[id.0 as usize] = limb;
        }
    }

    let decryptor = Decryptor::new(Arc::clone(params), keygen.secret_key().clone()).unwrap();
    (0u32..)
        .zip(&compiled.outputs)
        .map(|(number, output)| {
            let mut polys = vec![Vec::new(); 2];
            for o in program.outputs.iter().filter(|o| o.output == number) {
                polys[o.poly.index()].extend_from_slice(&limbs[o.limb.0 as usize]);
            }
            let cipher =
                Ciphertext::new(params, output.at.level, output.at.annotation, polys).unwrap();
            let plain = decryptor.decrypt(&cipher).unwrap();
            encoder
                .decode(&plain, compiled.source.slots as usize)
                .unwrap()
        })
        .collect()
}

/// Returns the largest error of each output.
pub fn errors(got: &[Vec<Complex64>], expected: &[Vec<Complex64>]) -> Vec<f64> {
    let worst = |(a, b): (&Vec<Complex64>, &Vec<Complex64>)| {
        a.iter()
            .zip(b)
            .map(|(x, y)| (x - y).norm())
            .fold(0.0, f64::max)
    };
    got.iter().zip(expected).map(worst).collect()
}

/// Asserts that an output that was refused as transparent has the same values for other encrypted inputs.
fn shows(case: &Case, output: &str) -> Result<(), TestCaseError> {
    let mut others = case.inputs.clone();
    for (input, values) in case.program.inputs.iter().zip(&mut others) {
        if input.visibility == Visibility::Encrypted {
            values.iter_mut().for_each(|x| *x = 0.5 - *x * 0.75);
        }
    }
    let number = case.program.outputs.iter().position(|name| name == output);
    let of = |inputs: &[Vec<Complex64>]| {
        evaluate(&case.program, inputs)
            .unwrap()
            .remove(number.unwrap())
    };
    let (first, second) = (of(&case.inputs), of(&others));
    let same = first
        .iter()
        .zip(&second)
        .all(|(a, b)| (a - b).norm() < 1e-9);
    prop_assert!(same, "{output}: {first:?} {second:?}");
    Ok(())
}

fn check(case: &Case, options: &Options) -> Result<(), TestCaseError> {
    let compiled = match compile(case.program.clone(), options) {
        Err(CompileError::Transparent { output, .. }) => return shows(case, &output),
        compiled => compiled.unwrap(),
    };
    let got = run(&compiled, &case.inputs);
    let expected = evaluate(&case.program, &case.inputs).unwrap();
    for ((error, predicted), output) in errors(&got, &expected)
        .into_iter()
        .zip(&compiled.predicted)
        .zip(&compiled.outputs)
    {
        let allowed = (-predicted.bits()).exp2();
        prop_assert!(
            error <= allowed,
            "{}: error {error:e}, predicted {allowed:e}",
            output.name
        );
        prop_assert!(
            allowed < 1e-4,
            "{}: a prediction of {allowed:e} says nothing",
            output.name
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_programs_are_right_under_encryption(case in cases(4..30), bits in 0u8..64) {
        let on = |bit: u8| bits >> bit & 1 == 1;
        let options = Options {
            passes: Passes { fold: on(0), cse: on(1), dce: on(2), lazy_relin: on(3), hoist: on(4) },
            seeded_keys: on(5),
            ..Options::given(small_params())
        };
        check(&case, &options)?;
        check(&case, &Options::given(small_params()))?;
    }
}
