// SPDX-License-Identifier: Apache-2.0
//! Operations of CKKS, BGV and BFV over friendly primes.

use ringmill_machines::MachineError;
use ringmill_machines::vector::description::{Order, Replacement};
use ringmill_machines::vector::{Counting, alone};
use ringmill_schemes::ckks::{Galois, Level, OpKey, ProcCache};

use super::check::{bound, check, params, scaled};

fn operations(level: Level, log_n: u8) -> Vec<OpKey> {
    let conjugate = (2u32 << log_n) - 1;
    let some = |x: u64| (0..level.primes() as u64).map(|i| x + i).collect();
    let mut list = vec![
        OpKey::add(level, 2, 2),
        OpKey::sub(level, 2, 2),
        OpKey::neg(level, 2),
        OpKey::mul_plain(level, 3),
        OpKey::mul_scalar(level, 2, some(12_345)),
        OpKey::mul(level),
        OpKey::square(level),
        OpKey::relin(level, false),
        OpKey::mul_relin(level, false),
        OpKey::square_relin(level, false),
        OpKey::rotate(level, Galois(3), false),
        OpKey::rotate(level, Galois(conjugate), false),
        OpKey::hoisted_rotate(level, [3, 9].map(Galois), false),
    ];
    if level > Level(0) {
        list.push(OpKey::rescale(level, 2));
        list.push(OpKey::rescale(level, 3));
    }
    list
}

/// Checks the bits of CKKS operations at three ring degrees, with one special prime and with several, and in both
/// orders.
#[test]
fn every_operation_gives_its_bits() {
    for (log_n, cipher, special) in [(8, 4, 2), (8, 3, 1), (7, 4, 2), (6, 3, 3)] {
        let params = params(log_n, cipher, special);
        let cache = ProcCache::new(params.clone());
        for level in [Level::LOWEST, params.max_level()] {
            for key in operations(level, log_n) {
                let procedure = bound(&cache.get(&key).unwrap());
                let mut d = scaled(64);
                check(&d, &procedure);
                d.schedule = Order::InOrder;
                check(&d, &procedure);
            }
        }
    }
}

/// Checks the bits of rings whose limbs are shorter than a page, so that several lie in one.
#[test]
fn small_rings_share_pages() {
    for log_n in [5, 6, 7] {
        let params = params(log_n, 3, 2);
        let cache = ProcCache::new(params.clone());
        let procedure = bound(&cache.get(&OpKey::relin(params.max_level(), false)).unwrap());
        let turn = OpKey::rotate(params.max_level(), Galois(3), false);
        let turn = bound(&cache.get(&turn).unwrap());
        let mut d = scaled(16);
        d.log_lanes = 7;
        assert_eq!(d.shape(log_n).slots(), 16 << (8 - log_n));
        let made = check(&d, &procedure);
        assert_eq!(made.spilled, 0, "2^{log_n}");
        check(&d, &turn);
    }
}

/// Checks the bits of BGV's operations with plaintexts, a division modulo primes alone, and a product. The host does
/// the arithmetic modulo t.
#[test]
fn bgv_gives_its_bits() {
    use ringmill_schemes::bgv::{Factor, OpKey, Params, PrimePower, ProcCache};
    let t = PrimePower::new(17, 2).unwrap().modulus().unwrap();
    let params = Params::builder(8, t)
        .friendly_primes(4, 2)
        .unwrap()
        .divide_modulo_primes_alone()
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let cache = ProcCache::new(params.clone());
    let level = params.max_level();
    for key in [
        OpKey::add_plain(level, 2, Factor::ONE),
        OpKey::sub_plain(level, 3, Factor::ONE),
        OpKey::mul_plain(level, 2),
        OpKey::mod_switch(level, 2),
        OpKey::mul_relin(level, false),
    ] {
        // The immediates are below t, and not 1.
        let procedure = cache.get(&key).unwrap();
        let procedure = match procedure.immediates.len() {
            0 => procedure.as_ref().clone(),
            count => procedure.bind(&vec![200; count]).unwrap(),
        };
        check(&scaled(64), &procedure);
    }
}

/// Checks the bits of BFV's operations over friendly primes, auxiliary ones among them.
#[test]
fn bfv_gives_its_bits() {
    use ringmill_schemes::bfv::{Multiplication, OpKey, Params, PlainModulus, ProcCache};
    let primes = ringmill_schemes::bgv::friendly_primes(5).unwrap();
    let (cipher, special) = primes.split_at(4);
    let params = Params::builder(8, PlainModulus::new(65_537).unwrap())
        .primes(cipher, special)
        .multiplication(Multiplication::HpsFriendly)
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let cache = ProcCache::new(params.clone());
    let level = params.max_level();
    for key in [
        OpKey::add_plain(level, 2),
        OpKey::mul_plain(level, 2),
        OpKey::mul_plain_unsigned(level, 2),
        OpKey::mul(level),
        OpKey::mul_relin(level, false),
        OpKey::mod_switch(level, 2),
    ] {
        check(&scaled(128), &bound(&cache.get(&key).unwrap()));
    }
}

/// Checks the bits in a buffer of few limbs. Limbs that do not fit are stored and loaded again, by either rule of
/// replacement.
#[test]
fn a_small_buffer_spills() {
    let params = params(8, 5, 2);
    let cache = ProcCache::new(params.clone());
    let procedure = bound(&cache.get(&OpKey::relin(params.max_level(), false)).unwrap());
    let mut spilled = Vec::new();
    for replacement in [Replacement::Furthest, Replacement::Lru] {
        let mut d = scaled(24);
        d.replacement = replacement;
        let made = check(&d, &procedure);
        assert!(made.spilled > 0);
        spilled.push(made.spilled + made.reloaded);
        let all = check(&scaled(128), &procedure);
        assert_eq!((all.spilled, all.reloaded), (0, 0));
        assert!(all.micro < made.micro);
    }
    assert!(spilled[0] <= spilled[1], "{spilled:?}");
    let tiny = scaled(6);
    let error = alone(&tiny, &procedure, &|_| false, Counting::PAPER).unwrap_err();
    assert!(
        matches!(error, MachineError::Memory { slots: 6, .. }),
        "{error}"
    );
}

/// Checks that masks without a generator, unfriendly moduli and large rings are refused, with the reason.
#[test]
fn what_it_lacks_is_refused() {
    let params = params(8, 3, 1);
    let cache = ProcCache::new(params.clone());
    let top = params.max_level();
    let seeded = cache.get(&OpKey::relin(top, true)).unwrap();
    let refused = |procedure: &ringmill_isa::mid::Procedure| {
        alone(&scaled(64), procedure, &|_| false, Counting::PAPER)
    };
    let said = refused(&bound(&seeded)).unwrap_err().to_string();
    assert!(said.contains("no generator of masks"), "{said}");
    let unfriendly = ringmill_schemes::ckks::Params::builder(8)
        .prime_bits(&[31, 30], &[31])
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let add = ProcCache::new(unfriendly.clone());
    let add = add.get(&OpKey::add(unfriendly.max_level(), 2, 2)).unwrap();
    let said = refused(&add).unwrap_err().to_string();
    assert!(said.contains("1 modulo 2^17"), "{said}");
    let wide = ringmill_schemes::ckks::Params::builder(9)
        .primes(&ringmill_schemes::bgv::friendly_primes(2).unwrap(), &[])
        .allow_insecure_parameters_for_tests_only()
        .build();
    if let Ok(wide) = wide {
        let add = ProcCache::new(wide.clone());
        let add = add.get(&OpKey::add(wide.max_level(), 2, 2)).unwrap();
        let said = refused(&add).unwrap_err().to_string();
        assert!(said.contains("`log_radix` allows 2^5 to 2^8"), "{said}");
    }
}
