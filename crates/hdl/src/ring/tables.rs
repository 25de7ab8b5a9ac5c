// SPDX-License-Identifier: Apache-2.0
//! Converts the tables of a procedure and its call to the words by which one RPAU of the ring machine loads them.

use ringmill_isa::Galois;
use ringmill_machines::ring::micro::Stream;

use super::twiddles::Table;

/// The kinds of table words that the `load_*` ports of `rm_ring_rpau` take.
const CONSTANT: u64 = 0;
const KEY_SLOT: u64 = 5;
const STREAM: u64 = 6;
const SEED_PLACE: u64 = 7;
const SEED: u64 = 8;
const GALOIS: u64 = 10;
const GALOIS_INVERSE: u64 = 11;

/// The tables of one RPAU for a procedure and one of its calls. An instruction word names an entry, and each RPAU has a
/// value of its own there.
#[derive(Clone, Debug, Default)]
pub struct Tables<'a> {
    pub constants: Vec<u64>,
    pub streams: Vec<Option<Stream>>,
    pub galois: &'a [Galois],
    pub seeds: &'a [[u8; 32]],
    /// The call's key table: for each key limb its index in the procedure, and the slot of key memory that holds it.
    pub keys: Vec<(u8, u8)>,
}

impl Tables<'_> {
    /// Returns the tables as entries, for RPAU `rpau`, of the stream that `rm_ring_table` decodes.
    pub fn entries(&self, rpau: usize) -> Vec<[u64; 2]> {
        let words = self.words();
        words.map(|word| word.entry(1 << rpau)).collect()
    }

    /// Returns the tables as words for the `load_*` ports of `rm_ring_rpau`, one by one.
    pub(super) fn words(&self) -> impl Iterator<Item = Table> + '_ {
        let word = |kind, address, word| Table {
            kind,
            table: 0,
            address,
            word,
        };
        let constants = (0..).zip(&self.constants);
        let constants = constants.map(move |(at, &value)| word(CONSTANT, at, value));
        let streams = (0..)
            .zip(&self.streams)
            .filter_map(|(at, s)| Some((at, (*s)?)));
        let streams = streams.flat_map(move |(at, s)| {
            [
                word(STREAM, at, s.stream),
                word(SEED_PLACE, at, s.seed.into()),
            ]
        });
        let seeds = (0..).zip(self.seeds).flat_map(move |(at, seed)| {
            let parts = (0..).zip(seed.as_chunks::<4>().0);
            parts.map(move |(i, part)| word(SEED, 8 * at + i, u32::from_le_bytes(*part).into()))
        });
        let keys = self.keys.iter();
        let keys = keys.map(move |&(index, slot)| word(KEY_SLOT, index.into(), slot.into()));
        let galois = (0..).zip(self.galois).flat_map(move |(at, &g)| {
            let g = u64::from(g);
            [word(GALOIS, at, g), word(GALOIS_INVERSE, at, inverse(g))]
        });
        constants
            .chain(streams)
            .chain(seeds)
            .chain(keys)
            .chain(galois)
    }
}

/// Returns the inverse of the odd number g modulo 2^64. Each step of Newton's iteration doubles the number of correct
/// low bits, of which g itself has three.
fn inverse(g: u64) -> u64 {
    (0..5).fold(g, |x, _| {
        x.wrapping_mul(2u64.wrapping_sub(g.wrapping_mul(x)))
    })
}
