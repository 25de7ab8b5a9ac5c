// SPDX-License-Identifier: Apache-2.0
//! Gives damaged inputs to every parser for a bounded time. No parser may panic, or take 5 s for an input. The test
//! replaces the fuzz targets where there is no nightly compiler. Every run tries the same mutations in the same order.

use std::time::{Duration, Instant};

use ringmill_math::Prng;
use ringmill_parsers::{PARSERS, Parser};

/// Returns the time to test each parser: RINGMILL_FUZZ_SECONDS, or else a second.
fn budget() -> Duration {
    let seconds = std::env::var("RINGMILL_FUZZ_SECONDS")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(1);
    Duration::from_secs(seconds)
}

fn below(prng: &mut Prng, n: usize) -> usize {
    (prng.next_u64() % n.max(1) as u64) as usize
}

/// Returns a seed after one to four edits. An edit flips a bit, replaces a byte, writes an extreme integer, removes or
/// repeats a piece, cuts the end off, or replaces it by a piece of a seed.
fn mutate(prng: &mut Prng, seeds: &[Vec<u8>]) -> Vec<u8> {
    const EDGES: [u64; 8] = [
        0,
        1,
        0x7f,
        0xff,
        u32::MAX as u64,
        1 << 40,
        i64::MAX as u64,
        u64::MAX,
    ];
    let mut bytes = seeds[below(prng, seeds.len())].clone();
    for _ in 0..1 + below(prng, 4) {
        let at = below(prng, bytes.len());
        let end = (at + 1 + below(prng, 64)).min(bytes.len());
        match below(prng, 7) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << below(prng, 8),
            1 if !bytes.is_empty() => bytes[at] = prng.next_u64() as u8,
            2 if at + 8 <= bytes.len() => {
                let width = 1 << below(prng, 4);
                let edge = EDGES[below(prng, EDGES.len())].to_le_bytes();
                bytes[at..at + width].copy_from_slice(&edge[..width]);
            }
            3 if !bytes.is_empty() => drop(bytes.drain(at..end)),
            4 if !bytes.is_empty() => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            5 => bytes.truncate(at),
            _ => {
                let other = &seeds[below(prng, seeds.len())];
                let tail = other[below(prng, other.len())..].to_vec();
                bytes.truncate(at);
                bytes.extend(tail);
            }
        }
    }
    bytes
}

/// Checks that a parser takes its seeds, and gives it mutations of them for the time of [`budget`].
fn throw(parser: &Parser) {
    let seeds = (parser.seeds)();
    assert!(!seeds.is_empty());
    for seed in &seeds {
        assert!(
            (parser.parse)(seed),
            "{}: a seed of {} bytes is not accepted",
            parser.name,
            seed.len()
        );
    }
    let mut prng = Prng::from_seed_for_reproducible_tests_only([parser.name.len() as u8; 32]);
    let (start, budget, mut refused, mut thrown) = (Instant::now(), budget(), 0u64, 0u64);
    (parser.parse)(b"");
    while start.elapsed() < budget {
        let input = mutate(&mut prng, &seeds);
        let one = Instant::now();
        refused += u64::from(!(parser.parse)(&input));
        thrown += 1;
        assert!(
            one.elapsed() < Duration::from_secs(5),
            "{}: an input of {} bytes took {:?}",
            parser.name,
            input.len(),
            one.elapsed()
        );
    }
    assert!(
        refused > 0,
        "{}: none of {thrown} damaged inputs was refused",
        parser.name
    );
}

macro_rules! parsers {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            let parser = PARSERS.iter().find(|p| p.name == stringify!($name)).expect("the parser is in the list");
            throw(parser);
        })*

        #[test]
        fn every_parser_is_here() {
            let here = [$(stringify!($name)),*];
            assert!(PARSERS.iter().all(|p| here.contains(&p.name)) && PARSERS.len() == here.len());
        }
    };
}

parsers!(
    macro_text,
    mid_text,
    micro_text,
    saved_program,
    ckks_file,
    bfv_file,
    bgv_file,
    tfhe_file,
    netlist,
    seal_file,
    machine_toml
);
