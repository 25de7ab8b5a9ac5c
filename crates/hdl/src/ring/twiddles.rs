// SPDX-License-Identifier: Apache-2.0
//! Computes the words of the ring machine's twiddle tables (docs/machines/ring.md, "Passes").

use std::ops::Range;

use ringmill_machines::ring::isa::{TableKind, entry};
use ringmill_machines::ring::passes::Passes;
use ringmill_math::{MathError, Modulus, NttPlan, Ring, RingKind};

use super::Shape;

/// A table word at the `load_*` ports of `rm_ring_rpau`: the kind of table, the table's number
/// among its kind, an address in the table, and the word to write there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Table {
    pub kind: TableKind,
    pub table: u64,
    pub address: u64,
    pub word: u64,
}

impl Table {
    /// Returns the table word as an entry of the stream that the RTL module `rm_ring_table`
    /// decodes. The entry is for the RPAUs whose bits are set in `rpaus`.
    pub fn entry(self, rpaus: u64) -> [u64; 2] {
        let head = entry::ADDRESS.put(self.address)
            | entry::TABLE.put(self.table)
            | entry::KIND.put(self.kind.bits())
            | entry::RPAUS.put(rpaus);
        [head, self.word]
    }
}

/// The numbers of the rings that have twiddles of their own: 0 is the full ring, 1 and 2 are its
/// two halves.
pub(super) const RINGS: Range<u64> = 0..3;
pub(super) const WHOLE: Range<u64> = 0..1;
pub(super) const HALVES: Range<u64> = 1..3;

/// Returns the table words with zeta, the root that splits a ring into halves, and with the twiddles for limbs of
/// 2^`log_n` coefficients. They are for the rings `rings` (0 is the full ring) and for each prime that the RPAU serves
/// at a time. The first of these primes has index `selected` in the RPAU's list. If the machine generates twiddles, the
/// words are the first twiddles of each pass. A pass with more twiddles also has the factor from a twiddle to the one
/// `first_values` steps later.
///
/// # Errors
/// [`MathError`] if the prime has no root of unity for twice the degree.
pub(super) fn twiddles(
    shape: &Shape,
    selected: usize,
    log_n: u32,
    rings: Range<u64>,
) -> Result<Vec<Table>, MathError> {
    let primes = shape.primes();
    let mut words = Vec::new();
    for layer in 0..shape.layers() {
        let number = if layer == 0 { selected } else { layer };
        let prime = primes[number];
        // A repeated prime, in the place of a missing one, has no tables.
        if number > 0 && prime == primes[0] {
            continue;
        }
        let roots = Roots::new(prime, log_n)?;
        // Zeta belongs to the halves of the ring of twice the degree, which are modulo x^N - zeta and x^N + zeta.
        words.push(Table {
            kind: TableKind::Zeta,
            table: 0,
            address: number as u64,
            word: roots.q.pow(roots.root, 1 << log_n),
        });
        for ring in rings.clone() {
            let place = 3 * layer as u64 + ring;
            match shape.stages {
                1 => generated(shape, log_n, &roots, ring, place, &mut words),
                _ => stored(shape, log_n, &roots, ring, place, &mut words),
            }
        }
    }
    Ok(words)
}

/// The roots of unity of a prime q for limbs of 2^`log_n` coefficients.
struct Roots {
    q: Modulus,
    log_n: u32,
    /// A primitive root of unity of order 2N, where N is the number of coefficients of a limb.
    psi: u64,
    /// A root of unity of order 4N, where N is the number of coefficients of a limb; half rings
    /// have its powers as twiddles. It is 0 if the prime has no such root, and then there are no
    /// half rings.
    root: u64,
}

impl Roots {
    fn new(prime: u64, log_n: u32) -> Result<Self, MathError> {
        let q = Modulus::new(prime)?;
        let psi = |log_n: u32| {
            let ring = Ring {
                log_n: log_n as u8,
                kind: RingKind::Full,
            };
            NttPlan::shared(q, ring).map(|plan| plan.psi())
        };
        let halves = prime % (4 << log_n) == 1;
        Ok(Self {
            q,
            log_n,
            psi: psi(log_n)?,
            root: if halves { psi(log_n + 1)? } else { 0 },
        })
    }

    /// Returns the twiddle of one block of coefficients in a transform's stage of 2^`k` blocks.
    /// `reversed` is the block's number with its bits reversed. Also returns the constant factor
    /// from the twiddle of a block to that of the block whose reversed number is one higher.
    fn twiddle(&self, ring: u64, k: u32, reversed: u64) -> (u64, u64) {
        let stride = self.log_n - k - 1;
        let power = |x, e: u64| self.q.pow(x, e << stride);
        match ring {
            0 => (power(self.psi, 2 * reversed + 1), power(self.psi, 2)),
            half => {
                let first = 4 * reversed + 2 * (half - 1) + 1;
                (power(self.root, first), power(self.root, 4))
            }
        }
    }
}

/// Returns how the machine's transform of 2^`log_n` coefficients is divided into passes over a
/// limb.
fn passes(shape: &Shape, log_n: u32) -> Passes {
    Passes {
        log_n,
        log_row: shape.log_row,
        stages: shape.stages,
    }
}

/// Returns the bit-reversed number of the block of coefficients on which a butterfly works in step
/// `step` of a pass. The butterfly pairs coefficients whose indices differ in bit `pair`. Its
/// twiddles lie in the table with index `table` among the tables for that bit.
fn block(s: &Passes, pass: u32, pair: u32, table: usize, step: usize) -> u64 {
    // The cores' lanes are the row's, rotated so that the pairs are the lowest bits.
    let start = s.pairs(pass).start;
    let lane = rotate(
        table << (pair - start + 1),
        start - s.window(pass),
        s.log_row,
    );
    let block = s.index(pass, step, lane) >> (pair + 1);
    let bits = s.log_n - 1 - pair;
    (0..bits).fold(0, |r, i| r << 1 | (block as u64 >> i & 1))
}

/// Appends the table words with all twiddles of a ring's transform to `words`. `ring` is 0 for the
/// full ring, else 1 or 2 for a half; `number` is the ring's place in the twiddle tables.
fn stored(
    shape: &Shape,
    log_n: u32,
    roots: &Roots,
    ring: u64,
    number: u64,
    words: &mut Vec<Table>,
) {
    // A limb's last passes use the places of the largest limb's last passes.
    let (s, largest) = (passes(shape, log_n), passes(shape, shape.log_n));
    let fewer = (shape.log_n - log_n) / s.stages;
    let repeats = || (0..largest.count()).map(|p| largest.log_repeat(p));
    let deep_passes = repeats().filter(|&u| u > 0).count() as u64;
    let flat = u64::from(largest.count()) - deep_passes;
    let base = |place: u32| -> u64 {
        let before = repeats().take(place as usize);
        before.filter(|&u| u > 0).map(|u| 1 << u).sum()
    };
    let deep = base(largest.count());
    for pass in 0..s.count() {
        let place = pass + fewer;
        let is_deep = u64::from(place) < deep_passes;
        // With one stage in a pass, the stage is core A's.
        for (core, pair) in (0u32..).zip(s.pairs(pass)) {
            for table in 0..1usize << (s.log_row - 1 - core) {
                for step in 0..1usize << s.log_repeat(pass) {
                    let reversed = block(&s, pass, pair, table, step);
                    let (word, _) = roots.twiddle(ring, s.log_n - 1 - pair, reversed);
                    let address = if is_deep {
                        number * deep + base(place) + step as u64
                    } else {
                        number * flat + u64::from(place) - deep_passes
                    };
                    words.push(Table {
                        kind: match (is_deep, core) {
                            (false, 0) => TableKind::FlatA,
                            (false, _) => TableKind::FlatB,
                            (true, 0) => TableKind::DeepA,
                            (true, _) => TableKind::DeepB,
                        },
                        table: table as u64,
                        address,
                        word,
                    });
                }
            }
        }
    }
}

/// Appends the table words with the first twiddles of each pass of a ring's transform to `words`.
/// For a pass with more twiddles it also appends the factor by which the machine generates the
/// others.
fn generated(
    shape: &Shape,
    log_n: u32,
    roots: &Roots,
    ring: u64,
    number: u64,
    words: &mut Vec<Table>,
) {
    let (s, largest) = (passes(shape, log_n), passes(shape, shape.log_n));
    let fewer = shape.log_n - log_n;
    let first = shape.first_values;
    let kept = |pass: u32| first.min(1 << largest.log_repeat(pass));
    let base = |place: u32| (0..place).map(kept).sum::<u64>();
    let more = |place: &u32| 1 << largest.log_repeat(*place) > first;
    let factors = (0..largest.count()).filter(more).count() as u64;
    let depth = base(largest.count());
    for pass in 0..s.count() {
        let (place, k) = (pass + fewer, s.log_n - 1 - pass);
        for table in 0..1usize << (s.log_row - 1) {
            for step in 0..kept(place) {
                let reversed = block(&s, pass, pass, table, step as usize);
                words.push(Table {
                    kind: TableKind::DeepA,
                    table: table as u64,
                    address: number * depth + base(place) + step,
                    word: roots.twiddle(ring, k, reversed).0,
                });
            }
        }
        if more(&place) {
            let (_, once) = roots.twiddle(ring, k, 0);
            words.push(Table {
                kind: TableKind::DeepB,
                table: 0,
                address: number * factors + u64::from(place),
                word: roots.q.pow(once, first),
            });
        }
    }
}

/// Rotates the lowest `bits` bits of a lane's number to the left by `by`.
fn rotate(lane: usize, by: u32, bits: u32) -> usize {
    (lane << by | lane >> (bits - by)) & ((1 << bits) - 1)
}
