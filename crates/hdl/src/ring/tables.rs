// SPDX-License-Identifier: Apache-2.0
//! Converts the tables of a procedure and its call to the words by which one RPAU of the ring machine loads them.

use ringmill_isa::Galois;
use ringmill_machines::ring::isa::TableKind;
use ringmill_machines::ring::micro::Stream;

use super::twiddles::Table;

/// The tables of one RPAU for a procedure and one of its calls. An instruction word names an entry by its index, which
/// is the same on all RPAUs; the value may differ from RPAU to RPAU.
#[derive(Clone, Debug, Default)]
pub struct Tables<'a> {
    pub constants: Vec<u64>,
    pub streams: Vec<Option<Stream>>,
    pub galois: &'a [Galois],
    pub seeds: &'a [[u8; 32]],
    /// The key table of the call: for each key limb its index in the procedure, and its slot in the
    /// RPAU's key memory.
    pub keys: Vec<(u8, u8)>,
}

impl Tables<'_> {
    /// Returns the words that write these tables into RPAU number `rpau`. They are entries of the
    /// stream that the RTL module `rm_ring_table` decodes.
    pub fn entries(&self, rpau: usize) -> Vec<[u64; 2]> {
        let words = self.words();
        words.map(|word| word.entry(1 << rpau)).collect()
    }

    /// Returns the table words that write these tables over the `load_*` ports of `rm_ring_rpau`.
    pub(super) fn words(&self) -> impl Iterator<Item = Table> + '_ {
        let word = |kind, address, word| Table {
            kind,
            table: 0,
            address,
            word,
        };
        let constants = (0..).zip(&self.constants);
        let constants = constants.map(move |(at, &value)| word(TableKind::Constant, at, value));
        let streams = (0..)
            .zip(&self.streams)
            .filter_map(|(at, s)| Some((at, (*s)?)));
        let streams = streams.flat_map(move |(at, s)| {
            [
                word(TableKind::Stream, at, s.stream),
                word(TableKind::SeedPlace, at, s.seed.into()),
            ]
        });
        let seeds = (0..).zip(self.seeds).flat_map(move |(at, seed)| {
            let parts = (0..).zip(seed.as_chunks::<4>().0);
            parts.map(move |(i, part)| {
                word(
                    TableKind::Seed,
                    8 * at + i,
                    u32::from_le_bytes(*part).into(),
                )
            })
        });
        let keys = self.keys.iter();
        let keys =
            keys.map(move |&(index, slot)| word(TableKind::KeySlot, index.into(), slot.into()));
        let galois = (0..).zip(self.galois).flat_map(move |(at, &g)| {
            let g = u64::from(g);
            [
                word(TableKind::Galois, at, g),
                word(TableKind::GaloisInverse, at, inverse(g)),
            ]
        });
        constants
            .chain(streams)
            .chain(seeds)
            .chain(keys)
            .chain(galois)
    }
}

/// Returns the inverse of the odd number g modulo 2^64, by Newton's iteration from g on. As g is
/// its own inverse modulo 8, three bits are right at first, and each step doubles their number.
fn inverse(g: u64) -> u64 {
    (0..5).fold(g, |x, _| {
        x.wrapping_mul(2u64.wrapping_sub(g.wrapping_mul(x)))
    })
}
