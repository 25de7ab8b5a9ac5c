// SPDX-License-Identifier: Apache-2.0
//! Batches of a procedure on several ciphertexts with one key: each ciphertext has the procedure's result, and the key
//! is loaded once.

use ringmill_isa::mid::{ImmType, ParamRole, Procedure, Program, Verified};
use ringmill_isa::vector::verify;
use ringmill_machines::vector::batch::batched;
use ringmill_machines::vector::description::Masks;
use ringmill_machines::vector::lower::{Prepared, alone_prepared};
use ringmill_machines::vector::{Alone, Counting, Description, correct, time};
use ringmill_math::Prng;
use ringmill_schemes::ckks::{Galois, Level, OpKey, ProcCache};

use super::check::{bound, params, scaled};

fn is_key(role: &ParamRole) -> bool {
    matches!(role, ParamRole::Key { .. })
}

/// Makes a batch by itself, with its ciphertexts in the buffer and all times counted.
fn made(
    d: &Description,
    procedure: &Procedure,
    ciphertexts: u16,
    together: u16,
) -> (Procedure, Alone) {
    let (batch, prepared) = Prepared::batch(d, procedure, ciphertexts, together).unwrap();
    let there = |number: usize| !is_key(&batch.params[number].role);
    let made = alone_prepared(d, &batch, &prepared, &there, Counting::WHOLE).unwrap();
    (batch, made)
}

/// Checks that a batch has the bits of the procedure on each ciphertext by itself, and that the verifiers of both
/// levels accept it.
fn check(d: &Description, procedure: &Procedure, ciphertexts: u16, together: u16) -> Alone {
    let (batch, made) = made(d, procedure, ciphertexts, together);
    Verified::new(Program::calling(batch.clone().into(), Vec::new())).unwrap();
    verify(&made.program).unwrap();
    assert_eq!(
        time(d, &made.program, Counting::WHOLE).unwrap().0,
        made.micro
    );
    let mut prng = Prng::from_seed_for_reproducible_tests_only([9; 32]);
    let seeds: Vec<[u8; 32]> = batch.seeds.iter().map(|_| prng.next_seed()).collect();
    let args = batch.params.iter().map(|param| {
        let ty = batch.limb(param.value).unwrap();
        let q = batch.moduli[usize::from(ty.modulus.0)].value() as u64;
        (0..1usize << batch.log_n)
            .map(|_| prng.next_u64() % q)
            .collect()
    });
    let args: Vec<Vec<u64>> = args.collect();
    let refs: Vec<&[u64]> = args.iter().map(Vec::as_slice).collect();
    let found = correct::seeded_results(&made, &batch, &refs, &seeds).unwrap();
    let results = procedure.results.len();
    for (number, found) in found.chunks(results).enumerate() {
        let args = procedure.params.iter().map(|param| {
            let name = match is_key(&param.role) {
                true => param.name.clone(),
                false => format!("b{number}.{}", param.name),
            };
            let at = batch.params.iter().position(|p| p.name == name).unwrap();
            refs[at]
        });
        let args: Vec<&[u64]> = args.collect();
        let expected = ringmill_device::interpret::run(procedure, &args, &seeds).unwrap();
        assert!(found == expected, "{}", batch.name);
    }
    made
}

#[test]
fn a_batch_gives_each_its_bits() {
    let params = params(8, 4, 2);
    let cache = ProcCache::new(params.clone());
    let top = params.max_level();
    for seeded in [false, true] {
        let mut d = scaled(256);
        d.key_masks = [Masks::Stored, Masks::Generated][usize::from(seeded)];
        for key in [
            OpKey::relin(top, seeded),
            OpKey::mul_relin(Level(1), seeded),
            OpKey::rotate(top, Galois(5), seeded),
            OpKey::add(top, 2, 2),
        ] {
            let procedure = bound(&cache.get(&key).unwrap());
            for (ciphertexts, together) in [(1, 1), (2, 2), (5, 5), (5, 2)] {
                check(&d, &procedure, ciphertexts, together);
            }
            // In a small buffer, limbs that do not fit are stored and loaded again.
            d.buffer_words = 24 << 8;
            check(&d, &procedure, 3, 3);
            d.buffer_words = 256 << 8;
        }
    }
}

/// Checks that a buffer which holds a batch loads each limb of its key once, whatever the batch. So a ciphertext takes
/// less time.
#[test]
fn a_batch_brings_its_key_once() {
    let params = params(8, 6, 3);
    let cache = ProcCache::new(params.clone());
    let relin = bound(&cache.get(&OpKey::relin(params.max_level(), false)).unwrap());
    let limbs = relin.params.iter().filter(|p| is_key(&p.role)).count() as u64;
    let d = scaled(512);
    let each = [1, 2, 4, 8].map(|ciphertexts| {
        let (_, made) = made(&d, &relin, ciphertexts, ciphertexts);
        assert_eq!((made.loads, made.spilled), (limbs, 0), "{ciphertexts}");
        made.micro / u64::from(ciphertexts)
    });
    assert!(each[1] < each[0], "{each:?}");
}

#[test]
fn a_batch_of_none_or_with_immediates_is_refused() {
    let params = params(8, 3, 1);
    let relin = OpKey::relin(params.max_level(), false);
    let mut relin = bound(&ProcCache::new(params).get(&relin).unwrap());
    assert!(batched(&relin, 2).is_ok());
    let said = batched(&relin, 0).unwrap_err().to_string();
    assert!(said.contains("no ciphertexts"), "{said}");
    relin.immediates.push(ImmType::Galois);
    let said = batched(&relin, 2).unwrap_err().to_string();
    assert!(said.contains("immediates"), "{said}");
}
