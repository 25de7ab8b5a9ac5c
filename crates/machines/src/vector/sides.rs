// SPDX-License-Identifier: Apache-2.0
//! Where a program's limbs lie in distant memory, so that the host and the machine do not meet on a channel (vector paper, section
//! 6.5.2). Runs of a program follow one another: the host brings the operands of the next one and takes the results of the last.
//!
//! * **In turn**: limbs lie on all channels, one after another, and the host has the channels while the machine stands still.
//! * **Apart**: the channels are two *sides*. Runs have the sides by turns, and each has all its limbs on its own, whose channels
//!   take its limbs one after another; keys and constants are on both. While the machine works on a side, the host has the other.
//!
//! Keys come to the machine at the rate of all channels in turn, and of half of them apart; what the host does costs time in turn, and
//! none apart as long as it takes less than a run. The compiler times both and takes the one by which runs follow faster.

use ringmill_isa::vector::{MASKS, Shape};
use serde::Serialize;

use super::decode::{Decoded, log_chunks};
use super::description::{Description, WORD_BITS};

/// How limbs are laid over the channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    #[serde(rename = "in turn")]
    InTurn,
    Apart,
}

/// Half of the channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    First,
    Second,
}

/// Channels in two halves.
#[derive(Clone, Copy, Debug)]
pub struct Sides {
    /// Channels of a side.
    channels: u32,
    log_chunks: u32,
    /// Limbs of a side.
    limbs: u32,
}

impl Sides {
    /// Those of a machine; `None` where its channels are no two halves.
    pub fn new(d: &Description, shape: Shape) -> Option<Self> {
        let all = d.distant.channels as u32;
        all.is_multiple_of(2).then(|| Self {
            channels: all / 2,
            log_chunks: log_chunks(shape),
            // Whole rows over all channels.
            limbs: d.distant_limbs(shape) / all * (all / 2),
        })
    }

    /// Limbs of distant memory that a side has.
    pub fn limbs(self) -> u32 {
        self.limbs
    }

    /// Where a limb lies on a side, of its address in turn; `None` beyond what the side has.
    pub fn limb(self, side: Side, in_turn: u32) -> Option<u32> {
        let first = match side {
            Side::First => 0,
            Side::Second => self.channels,
        };
        let (row, channel) = (in_turn / self.channels, in_turn % self.channels);
        (in_turn < self.limbs).then_some(2 * self.channels * row + first + channel)
    }

    /// The address of a chunk on a side, of what LOAD or STORE have in turn. Masks are in no memory. Where a side is too small, which
    /// [`Self::limbs`] tells, the address stays.
    pub fn chunk(self, side: Side, in_turn: u32) -> u32 {
        if in_turn >= MASKS {
            return in_turn;
        }
        let chunk = in_turn & ((1 << self.log_chunks) - 1);
        let limb = self.limb(side, in_turn >> self.log_chunks);
        limb.map_or(in_turn, |limb| limb << self.log_chunks | chunk)
    }

    /// An instruction with its distant limb on a side.
    pub(super) fn moved(self, side: Side, instr: &Decoded) -> Decoded {
        match instr.moves() {
            true => Decoded {
                n: self.chunk(side, instr.n),
                ..*instr
            },
            false => *instr,
        }
    }
}

/// What a program's runs and the host's transfers take beside one another. Cycles are the buffer's, all counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct HostUse {
    /// Limbs that the host brings for a run, and takes after it; keys stay where they are.
    pub limbs_in: u64,
    pub limbs_out: u64,
    /// Limbs of distant memory that a run's data and its keys take.
    pub distant_limbs: u64,
    /// The placement by which runs follow one another faster.
    pub placement: Placement,
    pub in_turn: Period,
    /// `None` where channels are no two halves, or a side is too small.
    pub apart: Option<Period>,
}

/// From the beginning of one run to the next one's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Period {
    /// What the machine takes, and the host.
    pub machine: u64,
    pub host: u64,
    /// In turn their sum, apart the longer one.
    pub period: u64,
}

/// What the host moves for a run.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    pub limbs_in: u64,
    pub limbs_out: u64,
    /// Of instructions, which go to the machine while it works.
    pub program_bytes: u64,
    /// Limbs of distant memory that are used at once.
    pub distant_limbs: u64,
}

impl HostUse {
    /// Of a run that takes so many micro-cycles in turn and, where it can, apart.
    pub fn new(d: &Description, shape: Shape, moved: Moved, in_turn: u64, apart: u64) -> Self {
        let cycles = |micro: u64| micro.div_ceil(d.micro.buffer);
        let limb_bytes = (WORD_BITS / 8) << shape.log_n;
        // The link goes both ways at once.
        let link = |inwards: u64, outwards: u64| {
            let seconds = d.link.seconds(inwards.max(outwards));
            (seconds * d.clock_mhz * 1e6).ceil() as u64
        };
        let passes = (moved.limbs_in + moved.limbs_out) * u64::from(shape.limb_chunks());
        let memory = |channels: u64| {
            let each = passes.div_ceil(channels);
            cycles(each * d.chunk_micro(shape))
        };
        let (into, out) = (moved.limbs_in * limb_bytes, moved.limbs_out * limb_bytes);
        let all = d.distant.channels as u64;
        let machine = cycles(in_turn);
        let host = link(into, out).max(memory(all));
        let in_turn = Period {
            machine,
            host,
            period: machine + host,
        };
        let sides = Sides::new(d, shape);
        let fits = |sides: &Sides| moved.distant_limbs <= sides.limbs().into();
        let apart = sides.filter(fits).map(|_| {
            let machine = cycles(apart);
            // Instructions of the run at hand come over the link, too.
            let host = link(into + moved.program_bytes, out).max(memory(all / 2));
            Period {
                machine,
                host,
                period: machine.max(host),
            }
        });
        Self {
            limbs_in: moved.limbs_in,
            limbs_out: moved.limbs_out,
            distant_limbs: moved.distant_limbs,
            placement: match apart {
                Some(apart) if apart.period < in_turn.period => Placement::Apart,
                Some(_) | None => Placement::InTurn,
            },
            in_turn,
            apart,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use std::collections::HashSet;

    use ringmill_isa::vector::{Instr, MicroOp};

    use super::*;

    fn machine(channels: usize) -> (Description, Shape) {
        let mut d = Description::read(Description::PAPER).unwrap();
        d.distant.channels = channels;
        let shape = d.shape(16);
        (d, shape)
    }

    /// What a run reads and writes is on its side's channels, what the host does on the other's; no two limbs lie in one place, each
    /// channel takes its turn, and all is within the memory.
    #[test]
    fn sides_do_not_meet() {
        for channels in [2, 4, 32] {
            let (d, shape) = machine(channels);
            let sides = Sides::new(&d, shape).unwrap();
            let limbs = d.distant_limbs(shape);
            assert_eq!(sides.limbs(), limbs / 2);
            let mut taken = HashSet::new();
            for side in [Side::First, Side::Second] {
                let of = |limb: u32| limb as usize % channels / (channels / 2);
                let samples = (0..1000).chain(limbs / 2 - 1000..limbs / 2);
                let at: Vec<u32> = samples.map(|l| sides.limb(side, l).unwrap()).collect();
                assert!(at.iter().all(|&l| l < limbs && taken.insert(l)));
                assert!(at.iter().all(|&l| of(l) == side as usize));
                let first: HashSet<usize> = (at.iter().take(channels / 2))
                    .map(|&l| l as usize % channels)
                    .collect();
                assert_eq!(first.len(), channels / 2);
                assert_eq!(sides.limb(side, limbs / 2), None);
            }
        }
        let (d, shape) = machine(3);
        assert!(Sides::new(&d, shape).is_none());
    }

    /// Every chunk of a limb moves with it; masks and what is no transfer stay.
    #[test]
    fn instructions_move_with_their_limbs() {
        let (d, shape) = machine(2);
        let sides = Sides::new(&d, shape).unwrap();
        let chunks = shape.limb_chunks();
        let at = |op, n| {
            let instr = Instr {
                n,
                ..Instr::new(op)
            };
            let decoded = Decoded::new(&instr, log_chunks(shape));
            [Side::First, Side::Second].map(|side| sides.moved(side, &decoded).n)
        };
        for limb in [0, 1, 2, 77] {
            for chunk in [0, 1, chunks - 1] {
                let there = [2 * limb, 2 * limb + 1].map(|limb| limb * chunks + chunk);
                assert_eq!(at(MicroOp::Load, limb * chunks + chunk), there);
            }
        }
        assert_eq!(at(MicroOp::Load, MASKS + 5), [MASKS + 5; 2]);
        assert_eq!(at(MicroOp::Morph, 5), [5; 2]);
    }

    /// The placement is the one with the shorter period: data of the host's makes it apart, keys make it in turn, and a side
    /// that is too small does, too.
    #[test]
    fn the_faster_placement_is_taken() {
        let (d, shape) = machine(2);
        let of = |limbs_in, distant_limbs, in_turn, apart| {
            let moved = Moved {
                limbs_in,
                limbs_out: 10,
                program_bytes: 12_000,
                distant_limbs,
            };
            HostUse::new(&d, shape, moved, in_turn, apart)
        };
        // 256 KB at 26 GB/s are 10 us, 10,083 cycles of the buffer.
        let much = of(100, 500, 6_000_000, 7_000_000);
        assert_eq!(much.placement, Placement::Apart);
        assert_eq!(much.in_turn.host, 1_008_247);
        assert_eq!(much.in_turn.period, 1_000_000 + 1_008_247);
        let apart = much.apart.unwrap();
        // 110 limbs of 32 chunks of 320 ns on one channel.
        assert_eq!((apart.machine, apart.host), (1_166_667, 1_126_400));
        assert_eq!(apart.period, apart.machine);
        let keys = of(10, 500, 6_000_000, 12_000_000);
        assert_eq!(keys.placement, Placement::InTurn);
        let half = d.distant_limbs(shape) / 2;
        assert!(of(100, half.into(), 1, 1).apart.is_some());
        let full = of(100, u64::from(half) + 1, 1, 1);
        assert_eq!((full.apart, full.placement), (None, Placement::InTurn));
    }
}
