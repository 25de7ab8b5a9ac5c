//! The words of the stored twiddle tables (docs/machines/ring.md, "Passes").

use std::ops::Range;

use ringmill_machines::ring::passes::Passes;
use ringmill_math::{MathError, Modulus, NttPlan, Ring, RingKind};

use super::Shape;

/// A word for a table of `rm_ring_rpau`: what its `load_*` ports take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Table {
    pub kind: u64,
    pub table: u64,
    pub address: u64,
    pub word: u64,
}

impl Table {
    /// An entry of the wrapper's stream (`rm_ring_table`), for some RPAUs.
    pub fn entry(self, rpaus: u64) -> [u64; 2] {
        let head = self.address | self.table << 16 | self.kind << 24 | rpaus << 32;
        [head, self.word]
    }
}

/// The kind of zeta at `rm_ring_rpau`'s `load_*` ports.
const ZETA: u64 = 9;

/// The rings that have twiddles of their own: all of them, the full one, the halves.
pub(super) const RINGS: Range<u64> = 0..3;
pub(super) const WHOLE: Range<u64> = 0..1;
pub(super) const HALVES: Range<u64> = 1..3;

/// Zeta, and twiddles of the full ring and of both half rings for the butterflies on a row's lane bits 0 (core A) and 1 (core B), of
/// limbs of 2^`log_n` coefficients: those of the rings `rings`, 0 the full one, of the prime of each layer, the first of which has
/// that of number `selected`.
///
/// # Errors
/// [`MathError`] where the prime has no root of unity for twice the degree.
pub(super) fn twiddles(
    shape: &Shape,
    selected: usize,
    log_n: u32,
    rings: Range<u64>,
) -> Result<Vec<Table>, MathError> {
    let primes = shape.primes();
    let mut words = Vec::new();
    for layer in 0..shape.layers() {
        let prime = if layer == 0 { selected } else { layer };
        // A prime that stands again in the place of one that there is not has no tables.
        if prime == 0 || primes[prime] != primes[0] {
            words.extend(of_prime(shape, log_n, rings.clone(), layer as u64, prime)?);
        }
    }
    Ok(words)
}

/// Those of one of its primes, in the place of a layer.
fn of_prime(
    shape: &Shape,
    log_n: u32,
    rings: Range<u64>,
    layer: u64,
    number: usize,
) -> Result<Vec<Table>, MathError> {
    let prime = shape.primes()[number];
    let passes = |log_n| Passes {
        log_n,
        log_row: shape.log_row,
        stages: 2,
    };
    // A limb's last passes stand where the largest one's last passes do.
    let (s, largest) = (passes(log_n), passes(shape.log_n));
    let fewer = (shape.log_n - log_n) / 2;
    let q = Modulus::new(prime)?;
    let twice = Ring {
        log_n: log_n as u8 + 1,
        kind: RingKind::Full,
    };
    // A primitive root of order 4 N; its square is that of the native ring. A prime without one knows no half rings.
    let halves = prime % (4 << log_n) == 1;
    let root = if halves {
        NttPlan::shared(q, twice)?.psi()
    } else {
        0
    };
    let native = Ring {
        log_n: log_n as u8,
        kind: RingKind::Full,
    };
    let psi = NttPlan::shared(q, native)?.psi();
    let deep_passes = (0..largest.count())
        .filter(|&p| largest.log_repeat(p) > 0)
        .count() as u64;
    let flat = u64::from(largest.count()) - deep_passes;
    let base = |place: u32| -> u64 {
        let before = (0..place).map(|p| largest.log_repeat(p));
        before.filter(|&u| u > 0).map(|u| 1 << u).sum()
    };
    let deep = base(largest.count());
    // Of the halves of the ring of twice the degree, which are modulo x^N - zeta and x^N + zeta.
    let mut words = vec![Table {
        kind: ZETA,
        table: 0,
        address: number as u64,
        word: q.pow(root, 1 << s.log_n),
    }];
    for ring in rings {
        for pass in 0..s.count() {
            let repeat = s.log_repeat(pass);
            let place = pass + fewer;
            let is_deep = u64::from(place) < deep_passes;
            for (core, pair) in s.pairs(pass).enumerate() {
                // One stage in a pass is core A's.
                let k = s.log_n - 1 - pair;
                let start = s.pairs(pass).start - s.window(pass);
                for table in 0..1usize << (s.log_row - 1 - core as u32) {
                    for step in 0..1usize << repeat {
                        // The cores' lanes are the row's, rotated so that bits 0 and 1 are the pairs.
                        let lane = rotate(table << (core + 1), start, s.log_row);
                        let block = s.index(pass, step, lane) >> (pair + 1);
                        let reversed = (0..k).fold(0u64, |r, i| r << 1 | (block as u64 >> i & 1));
                        let word = if ring == 0 {
                            q.pow(psi, (2 * reversed + 1) << (s.log_n - k - 1))
                        } else {
                            q.pow(
                                root,
                                (4 * reversed + 2 * (ring - 1) + 1) << (s.log_n - k - 1),
                            )
                        };
                        let kind = if is_deep { 3 } else { 1 } + core as u64;
                        let address = if is_deep {
                            (3 * layer + ring) * deep + base(place) + step as u64
                        } else {
                            (3 * layer + ring) * flat + u64::from(place) - deep_passes
                        };
                        words.push(Table {
                            kind,
                            table: table as u64,
                            address,
                            word,
                        });
                    }
                }
            }
        }
    }
    Ok(words)
}

/// The lowest `bits` bits of a lane's number rotated to the left.
fn rotate(lane: usize, by: u32, bits: u32) -> usize {
    (lane << by | lane >> (bits - by)) & ((1 << bits) - 1)
}
