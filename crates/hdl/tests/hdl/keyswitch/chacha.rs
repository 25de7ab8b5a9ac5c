// SPDX-License-Identifier: Apache-2.0
//! Tests of the ChaCha20 generator, `rm_chacha20`: vectors of RFC 8439, and blocks of random seeds and positions.

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::{BuildOptions, Hdl, Top};

use crate::common::failure::{Check, Failure};
use crate::common::setup::{hdl, seed};

/// The position of a block under a seed: words 13 and 14 of the initial state (`stream`), and word 12 (`counter`).
#[derive(Clone, Copy)]
struct Position {
    stream: u64,
    counter: u32,
}

fn block(seed: &[u8; 32], at: Position) -> [u32; 16] {
    let mut nonce = [0; 12];
    nonce[..8].copy_from_slice(&at.stream.to_le_bytes());
    let mut cipher = ChaCha20::new(seed.into(), &nonce.into());
    cipher.seek(64 * u64::from(at.counter));
    let mut bytes = [0; 64];
    cipher.apply_keystream(&mut bytes);
    let (words, _) = bytes.as_chunks::<4>();
    std::array::from_fn(|w| u32::from_le_bytes(words[w]))
}

/// The parameters `Rounds` and `Steps` of a generator.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub rounds: u64,
    pub steps: u64,
}

fn top(made: Made) -> Top {
    Top::new("rm_chacha20")
        .int("Rounds", made.rounds)
        .int("Steps", made.steps)
}

/// Sends positions of one seed through a generator, with gaps once half of them are in. Each block's words must come in
/// the cycle that its latency says. The generator must take a position in exactly the cycles in which no block goes
/// round again.
fn run(hdl: &Hdl, made: Made, seed: &[u8; 32], positions: &[Position], dice: &mut Dice) -> Check {
    let mut model = hdl.model(&top(made), BuildOptions::default())?;
    model.restart(dice.bits() as u32)?;
    let (key, valid) = (model.input("seed_i")?, model.input("valid_i")?);
    let (stream, counter) = (model.input("stream_i")?, model.input("counter_i")?);
    let (ready, given) = (model.output("ready_o")?, model.output("valid_o")?);
    let words = model.output("words_o")?;
    let (bytes, _) = seed.as_chunks::<4>();
    let seed_words: Vec<u32> = bytes.iter().map(|w| u32::from_le_bytes(*w)).collect();
    model.set_words(key, &seed_words)?;
    model.set(valid, 0)?;
    model.reset()?;
    let (ring, latency) = (4 * made.rounds / made.steps, 80 / made.steps + 1);
    // The cycle in which each position was taken.
    let mut came: Vec<u64> = Vec::new();
    let (mut next, mut out, mut cycle) = (0, 0, 0u64);
    while out < positions.len() {
        let busy = came
            .iter()
            .rev()
            .take_while(|&&c| c + 80 / made.steps > cycle)
            .any(|&c| (cycle - c).is_multiple_of(ring));
        if (model.get(ready)? == 1) == busy {
            return Err(Failure::Mismatch(format!(
                "{made:?}, cycle {cycle}: ready is {}",
                busy
            )));
        }
        let due = came.get(out).is_some_and(|c| c + latency == cycle);
        if (model.get(given)? == 1) != due {
            return Err(Failure::Mismatch(format!(
                "{made:?}, cycle {cycle}: valid is {}",
                !due
            )));
        }
        if due {
            if model.get_words(words)? != block(seed, positions[out]) {
                return Err(Failure::Mismatch(format!("{made:?}: block {out} is wrong")));
            }
            out += 1;
        }
        let offers = next < positions.len() && !(2 * next > positions.len() && dice.chance(3));
        model.set(valid, u64::from(offers))?;
        let shown = positions.get(next).filter(|_| offers).copied();
        let shown = shown.unwrap_or_else(|| Position {
            stream: dice.bits(),
            counter: dice.bits() as u32,
        });
        model.set(stream, shown.stream)?;
        model.set(counter, shown.counter.into())?;
        model.step(1)?;
        if offers && !busy {
            came.push(cycle);
            next += 1;
        }
        cycle += 1;
    }
    Ok(())
}

/// The generator gives the blocks of RFC 8439, section 2.3.2 and the first vector of appendix A.1.
#[test]
fn the_block_of_the_rfc() {
    let seed = std::array::from_fn(|i| i as u8);
    // Section 2.3.2 has the nonce 00:00:00:09:00:00:00:4a:00:00:00:00.
    let at = Position {
        stream: 0x4a00_0000_0900_0000,
        counter: 1,
    };
    let want = [
        0xe4e7_f110,
        0x1559_3bd1,
        0x1fdd_0f50,
        0xc471_20a3,
        0xc7f4_d1c7,
        0x0368_c033,
        0x9aaa_2204,
        0x4e6c_d4c3,
        0x4664_82d2,
        0x09aa_9f07,
        0x05d7_c214,
        0xa202_8bd9,
        0xd19c_12b5,
        0xb94e_16de,
        0xe883_d0cb,
        0x4e3c_50a2,
    ];
    assert_eq!(block(&seed, at), want);
    let made = Made {
        rounds: 20,
        steps: 1,
    };
    run(hdl(), made, &seed, &[at], &mut Dice::new(1)).unwrap();
    // Appendix A.1, vector 1: all zero.
    let zero = Position {
        stream: 0,
        counter: 0,
    };
    assert_eq!(block(&[0; 32], zero)[..2], [0xade0_b876, 0x903d_f1a0]);
    run(hdl(), made, &[0; 32], &[zero], &mut Dice::new(1)).unwrap();
}

pub fn streams(hdl: &Hdl, made: Made, seed: u64, blocks: usize) -> Check {
    let mut dice = Dice::new(seed);
    for _ in 0..3 {
        let mut seed = [0; 32];
        seed.fill_with(|| dice.bits() as u8);
        let mut positions: Vec<Position> = (0..blocks)
            .map(|_| Position {
                stream: dice.bits() >> dice.below(64),
                counter: (dice.bits() as u32) >> dice.below(32),
            })
            .collect();
        positions[0] = Position {
            stream: u64::MAX,
            counter: u32::MAX - 1, // the crate refuses a block behind which the counter would wrap
        };
        run(hdl, made, &seed, &positions, &mut dice)?;
    }
    Ok(())
}

#[test]
fn random_seeds_and_positions() {
    for (rounds, steps) in [(2, 2), (4, 1)] {
        let made = Made { rounds, steps };
        streams(hdl(), made, seed(), 200).unwrap();
    }
}

#[test]
#[ignore = "every generator; `make full` runs it"]
fn random_seeds_and_positions_of_every_generator() {
    for rounds in [2, 4, 10, 20] {
        for steps in [1, 2] {
            streams(hdl(), Made { rounds, steps }, seed(), 2000).unwrap();
        }
    }
}
