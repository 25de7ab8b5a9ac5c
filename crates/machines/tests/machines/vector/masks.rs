// SPDX-License-Identifier: Apache-2.0
//! Masks that are made on the chip. They have addresses of their own and the residues of their seeds, and take no time
//! of distant memory.

use ringmill_isa::vector::{MASKS, MicroOp};
use ringmill_machines::Machine;
use ringmill_machines::vector::description::{Masks, Order, Replacement};
use ringmill_machines::vector::{Counting, Description, VectorMachine, alone, correct, time};
use ringmill_schemes::ckks::{Galois, OpKey, ProcCache};

use super::check::{bound, check, params, scaled};
use super::programs::{alike, replays_as_stepped, run};

fn generated(limbs: u64) -> Description {
    let mut d = scaled(limbs);
    d.key_masks = Masks::Generated;
    d
}

/// Checks the bits of operations with seeded keys, in a buffer that holds them and in one that does not. Each runs by
/// the description's order and rule of replacement, and in order with the least recently used limb replaced.
#[test]
fn a_seeded_key_switch_gives_its_bits() {
    for (log_n, cipher, special) in [(8, 4, 2), (6, 3, 3)] {
        let params = params(log_n, cipher, special);
        let cache = ProcCache::new(params.clone());
        let top = params.max_level();
        for key in [
            OpKey::relin(top, true),
            OpKey::mul_relin(top, true),
            OpKey::rotate(top, Galois(3), true),
            OpKey::hoisted_rotate(top, [3, 9].map(Galois), true),
        ] {
            let procedure = bound(&cache.get(&key).unwrap());
            for limbs in [20, 128] {
                let mut d = generated(limbs);
                let made = check(&d, &procedure);
                let masks = made.program.masks.len();
                assert!(masks > 0 && made.made >= masks as u64, "{}", procedure.name);
                d.schedule = Order::InOrder;
                d.replacement = Replacement::Lru;
                check(&d, &procedure);
            }
        }
    }
}

/// Checks the bits of a product of BGV with a seeded key.
#[test]
fn of_bgv_as_well() {
    use ringmill_schemes::bgv::{OpKey, Params, PrimePower, ProcCache};
    let t = PrimePower::new(17, 2).unwrap().modulus().unwrap();
    let params = Params::builder(8, t)
        .friendly_primes(4, 2)
        .unwrap()
        .divide_modulo_primes_alone()
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let cache = ProcCache::new(params.clone());
    let made = cache.get(&OpKey::mul_relin(params.max_level(), true));
    check(&generated(64), &made.unwrap());
}

/// Checks that half the limbs of a seeded key are loaded, and that the other half takes no time of distant memory.
#[test]
fn a_mask_takes_no_channel() {
    let params = params(8, 5, 2);
    let cache = ProcCache::new(params.clone());
    let top = params.max_level();
    let stored = bound(&cache.get(&OpKey::relin(top, false)).unwrap());
    let seeded = bound(&cache.get(&OpKey::relin(top, true)).unwrap());
    let d = generated(128);
    let cipher = |procedure: &ringmill_isa::mid::Procedure, number: usize| {
        let role = &procedure.params[number].role;
        !matches!(role, ringmill_isa::mid::ParamRole::Key { .. })
    };
    let whole = alone(&d, &stored, &|n| cipher(&stored, n), Counting::WHOLE).unwrap();
    let half = alone(&d, &seeded, &|n| cipher(&seeded, n), Counting::WHOLE).unwrap();
    // A key that is stored whole has no seed, and all its limbs are loaded.
    assert_eq!((whole.made, whole.loads), (0, 2 * half.loads));
    assert_eq!(half.made, half.loads);
    assert_eq!(whole.tally.distant, 2 * half.tally.distant);
    assert!(half.micro < whole.micro, "{} {}", half.micro, whole.micro);
    let (again, tally) = time(&d, &half.program, Counting::WHOLE).unwrap();
    assert_eq!((again, tally), (half.micro, half.tally));
    let loads = half.program.instrs.iter().filter(|i| i.op == MicroOp::Load);
    assert_eq!(loads.filter(|i| i.n >= MASKS).count() as u64, half.made * 8);
}

/// Compares replays with masks with stepped runs, in buffers that are too small and in one that is large enough.
#[test]
fn a_replay_is_what_it_replays_with_masks() {
    for limbs in [20, 32, 64] {
        for channels in [1, 2, 3] {
            let mut d = generated(limbs);
            d.distant.channels = channels;
            let replayed = replays_as_stepped(&d, &alike(40, true));
            assert!(replayed > 10, "{limbs} {channels}: {replayed}");
            // Keys are stored whole, on the same machine.
            replays_as_stepped(&d, &alike(20, false));
        }
    }
    let (seeded, _) = run(&generated(64), &alike(40, true), true);
    let (whole, _) = run(&generated(64), &alike(40, false), true);
    assert!(seeded.made > 0 && whole.made == 0);
    assert!(seeded.micro[0] < whole.micro[0]);
}

#[test]
fn what_has_no_seed_or_no_generator_is_refused() {
    let params = params(8, 3, 1);
    let cache = ProcCache::new(params.clone());
    let seeded = bound(&cache.get(&OpKey::relin(params.max_level(), true)).unwrap());
    let made = alone(&generated(64), &seeded, &|_| true, Counting::PAPER).unwrap();
    let args = vec![vec![0; 256]; seeded.params.len()];
    let refs: Vec<&[u64]> = args.iter().map(Vec::as_slice).collect();
    let said = correct::results(&made, &seeded, &refs).unwrap_err();
    let said = said.to_string();
    assert!(
        said.contains("mask 0 is made of seed 0: 0 seeds are given"),
        "{said}"
    );
    let refused = alone(&scaled(64), &seeded, &|_| true, Counting::PAPER).unwrap_err();
    assert!(refused.to_string().contains("`key_masks`"), "{refused}");
    // So a front end gives seeded keys to the one machine, and whole keys to the other.
    for (d, seeds) in [(generated(64), true), (scaled(64), false)] {
        let machine = VectorMachine::new(d).unwrap();
        assert_eq!(machine.target().expands_seeds, seeds);
    }
}
