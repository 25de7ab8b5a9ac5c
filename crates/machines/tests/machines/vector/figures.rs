// SPDX-License-Identifier: Apache-2.0
//! Times of operations at full size (BASALISC paper, Table 8).

use std::sync::Arc;

use ringmill_machines::vector::description::Order;
use ringmill_machines::vector::lower::{Prepared, alone_prepared};
use ringmill_machines::vector::{Alone, Counting, Description, alone, resident, time};
use ringmill_schemes::bgv::friendly_primes;
use ringmill_schemes::ckks::params::Params;
use ringmill_schemes::ckks::{Galois, OpKey, ProcCache};

use super::check::bound;

fn made(d: &Description, cache: &ProcCache, key: &OpKey) -> Alone {
    let procedure = bound(&cache.get(key).unwrap());
    let made = alone(d, &procedure, &resident(d, &procedure), Counting::PAPER).unwrap();
    let us = |micro: u64| micro as f64 / 6e3;
    let (whole, tally) = time(d, &made.program, Counting::WHOLE).unwrap();
    println!(
        "{} {:?}: {:.1} us, {:.1} us with distant memory and instructions; floors {:?}, {} instructions, peak {}, {} loads, {} spilled, dry {}",
        procedure.name,
        d.schedule,
        us(made.micro),
        us(whole),
        made.floors,
        made.program.instrs.len(),
        made.peak,
        made.loads,
        made.spilled,
        tally.dry / 6
    );
    made
}

fn params_at_full_size() -> Arc<Params> {
    let primes = friendly_primes(56).unwrap();
    let (cipher, special) = primes.split_at(42);
    let params = Params::builder(16)
        .primes(cipher, special)
        .default_scale(f64::from(1u32 << 20))
        .allow_insecure_parameters_for_tests_only();
    params.build().unwrap()
}

/// Times a key switch of several ciphertexts with one key. Operands are in distant memory, and all times count.
#[test]
fn batches_at_full_size() {
    let params = params_at_full_size();
    let relin = OpKey::relin(params.max_level(), false);
    let relin = bound(&ProcCache::new(params).get(&relin).unwrap());
    let d = Description::read(Description::PAPER).unwrap();
    let each = |(ciphertexts, together): (u16, u16)| {
        let (batch, prepared) = Prepared::batch(&d, &relin, ciphertexts, together).unwrap();
        let there = |_| false;
        let made = alone_prepared(&d, &batch, &prepared, &there, Counting::WHOLE).unwrap();
        let each = made.micro / u64::from(ciphertexts);
        println!(
            "{ciphertexts}, {together} together: {:.1} us each, {} loads, {} spilled, {} reloaded, on a channel {:.1} us each",
            each as f64 / 6e3,
            made.loads,
            made.spilled,
            made.reloaded,
            made.tally.distant as f64 / 12e3 / f64::from(ciphertexts)
        );
        each
    };
    // The buffer holds two ciphertexts together. Of more, digits are stored and loaded again.
    let [one, two, four] = [1, 2, 4].map(|together| each((8, together)));
    assert!(two < one && two < four);
}

/// Bounds the times of operations by the paper's counting. In the overlapped order none takes longer than in order.
#[test]
fn operations_at_full_size() {
    let params = params_at_full_size();
    let cache = ProcCache::new(params.clone());
    let top = params.max_level();
    let mut d = Description::read(Description::PAPER).unwrap();
    for (key, us) in [
        (OpKey::add(top, 2, 2), 8.5),
        (OpKey::mul_plain(top, 2), 7.0),
        (OpKey::mul(top), 20.5),
        (OpKey::rotate(top, Galois(5), false), 135.0),
        (OpKey::relin(top, false), 132.0),
    ] {
        d.schedule = Order::Overlapped;
        let ours = made(&d, &cache, &key);
        assert!(ours.micro as f64 <= us * 6e3, "{us}");
        d.schedule = Order::InOrder;
        let in_order = made(&d, &cache, &key);
        assert!(ours.micro <= in_order.micro);
    }
}
