// SPDX-License-Identifier: Apache-2.0
//! Comparison of a micro program's results with the interpreter's.

use std::sync::Arc;

use ringmill_isa::mid::{ImmType, ParamRole, Procedure};
use ringmill_isa::vector::{MicroProgram, parse, print, verify};
use ringmill_machines::vector::{Alone, Counting, Description, alone, correct, time};
use ringmill_math::Prng;
use ringmill_schemes::bgv::friendly_primes;
use ringmill_schemes::ckks::params::Params;

/// Returns the paper's machine at radix 16 and 32 lanes, with a buffer of `limbs` limbs of N = 256.
pub fn scaled(limbs: u64) -> Description {
    let mut d = Description::read(Description::PAPER).unwrap();
    d.log_radix = 4;
    d.log_lanes = 5;
    d.buffer_words = limbs << 8;
    d
}

pub fn params(log_n: u8, cipher: usize, special: usize) -> Arc<Params> {
    let primes = friendly_primes(cipher + special).unwrap();
    let (cipher, special) = primes.split_at(cipher);
    Params::builder(log_n)
        .primes(cipher, special)
        .default_scale(f64::from(1u32 << 20))
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap()
}

fn residues(prng: &mut Prng, n: usize, q: u64) -> Vec<u64> {
    let mut bytes = vec![0; 8 * n];
    prng.fill_bytes(&mut bytes);
    let words = bytes.as_chunks::<8>().0.iter();
    words.map(|w| u64::from_le_bytes(*w) % q).collect()
}

/// Runs a procedure's micro program on residues, and compares every result with the interpreter's of the mid level.
/// Checks that the verifier accepts the program, that its text round-trips, and that a stepped run takes the predicted
/// time.
pub fn check(d: &Description, procedure: &Procedure) -> Alone {
    let what = &procedure.name;
    let cipher = |number: usize| !matches!(procedure.params[number].role, ParamRole::Key { .. });
    let made = alone(d, procedure, &cipher, Counting::PAPER).unwrap();
    verify(&made.program).unwrap_or_else(|e| panic!("{what}: {e}"));
    let read: MicroProgram = parse(&print(&made.program)).unwrap();
    assert_eq!(read, made.program, "{what}");
    let (micro, tally) = time(d, &made.program, Counting::PAPER).unwrap();
    assert_eq!((micro, tally), (made.micro, made.tally), "{what}");
    time(d, &made.program, Counting::WHOLE).unwrap();

    let mut prng = Prng::from_seed_for_reproducible_tests_only([7; 32]);
    let n = 1usize << procedure.log_n;
    let args = procedure.params.iter().map(|param| {
        let ty = procedure.limb(param.value).unwrap();
        let q = procedure.moduli[usize::from(ty.modulus.0)].value() as u64;
        residues(&mut prng, n, q)
    });
    let args: Vec<Vec<u64>> = args.collect();
    let refs: Vec<&[u64]> = args.iter().map(Vec::as_slice).collect();
    let seeds: Vec<[u8; 32]> = procedure.seeds.iter().map(|_| prng.next_seed()).collect();
    let expected = ringmill_device::interpret::run(procedure, &refs, &seeds).unwrap();
    let found = correct::seeded_results(&made, procedure, &refs, &seeds).unwrap();
    for ((result, found), expected) in procedure.results.iter().zip(&found).zip(&expected) {
        assert!(found == expected, "{what}: result {} differs", result.name);
    }
    made
}

/// Binds a procedure's immediates, if it has any, to fixed values.
pub fn bound(procedure: &Procedure) -> Procedure {
    let values: Vec<u64> = procedure
        .immediates
        .iter()
        .map(|ty| match ty {
            ImmType::Scalar(_) => 77_777,
            ImmType::Galois => 5,
        })
        .collect();
    if values.is_empty() {
        return procedure.clone();
    }
    procedure.bind(&values).unwrap()
}
