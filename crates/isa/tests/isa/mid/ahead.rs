// SPDX-License-Identifier: Apache-2.0
//! Answers about the calls ahead against a search through them.

use ringmill_isa::internals::held;
use ringmill_isa::mid::{Ahead, Call, Called, LimbId};

const INPUTS: u64 = 3;

/// Draws calls of one result each, whose arguments are inputs and results that have not died.
fn draw(seed: u64, count: u64) -> Vec<Called> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut roll = |sides: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) as usize % sides
    };
    let mut alive: Vec<LimbId> = (0..INPUTS).map(LimbId).collect();
    let mut calls = Vec::new();
    for number in 0..count {
        let args: Vec<_> = (0..roll(4)).map(|_| alive[roll(alive.len())]).collect();
        let dies: Vec<_> = alive
            .iter()
            .copied()
            .filter(|limb| limb.0 >= INPUTS && roll(3) == 0)
            .collect();
        alive.retain(|limb| !dies.contains(limb));
        let made = LimbId(INPUTS + number);
        alive.push(made);
        let call = Call {
            proc: 0,
            args,
            seeds: Vec::new(),
            results: vec![made],
            loc: None,
        };
        calls.push(Called { number, call, dies });
    }
    calls
}

/// Compares the answers after each call with a search through the calls in sight.
#[test]
fn what_is_ahead_is_found() {
    for (seed, window, count) in [
        (1, 0, 40),
        (2, 1, 60),
        (3, 5, 80),
        (4, 30, 90),
        (5, 200, 50),
    ] {
        let calls = draw(seed, count);
        let outputs = vec![LimbId(INPUTS + count - 1), LimbId(0)];
        let mut ahead = Ahead::new(INPUTS as usize, window);
        let mut fed = 0;
        for taken in 0..calls.len() {
            let got = loop {
                if let Some(got) = ahead.next_call() {
                    break got;
                }
                match calls.get(fed) {
                    Some(called) => ahead.feed(called.clone()),
                    None => ahead.end(outputs.clone()),
                }
                fed += 1;
            };
            assert_eq!(got, calls[taken]);
            let sees_end = fed > calls.len();
            assert_eq!(ahead.sees_end(), sees_end);
            let seen = fed.min(calls.len());
            let sight = &calls[taken + 1..seen];
            assert!(sees_end || sight.len() == window + 1);
            let next = |limb| sight.iter().find(|c| c.call.args.contains(&limb));
            let ended = |limb| calls[..seen].iter().any(|c| c.dies.contains(&limb));
            let later = |limb: LimbId| {
                let unknown = !sees_end && limb.0 >= INPUTS && !ended(limb);
                next(limb).is_some() || unknown
            };
            for limb in (0..INPUTS + taken as u64 + 1).map(LimbId) {
                assert_eq!(ahead.next_read(limb), next(limb).map(|c| c.number));
                assert_eq!(ahead.read_later(limb), later(limb), "{limb:?}");
                assert_eq!(ahead.is_output(limb), sees_end && outputs.contains(&limb));
            }
            let args = &got.call.args;
            let expected: Vec<_> = args.iter().map(|&limb| later(limb)).collect();
            assert_eq!(ahead.later(), expected);
            let twice = |limb| args.iter().filter(|l| *l == limb).count() > 1;
            assert_eq!(ahead.twice(), args.iter().any(twice));
        }
        assert!(ahead.is_done() && ahead.next_call().is_none());
    }
}

/// Checks that limbs which are forgotten when they die take no memory.
#[test]
fn what_is_forgotten_is_not_held() {
    let mut ahead = Ahead::new(INPUTS as usize, 4);
    for called in draw(7, 5000) {
        ahead.feed(called);
        if let Some(taken) = ahead.next_call() {
            taken.dies.iter().for_each(|&limb| ahead.forget(limb));
        }
    }
    let (limbs, links) = held(&ahead);
    assert!(limbs < 40, "{limbs}");
    assert!(links < 40, "{links}");
}
