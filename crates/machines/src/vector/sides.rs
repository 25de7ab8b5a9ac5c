// SPDX-License-Identifier: Apache-2.0
//! Places a program's limbs in distant memory so that the host and the machine do not meet on a channel (vector paper,
//! section 6.5.2).
//!
//! Runs of a program follow one another: the host brings the operands of the next run and takes the results of the
//! last.
//!
//! * **In turn**: limbs lie on all channels, one after another, and the host has the channels while the machine stands
//!   still.
//! * **Apart**: the channels are two *sides*. Runs use the sides by turns, and each run has all its limbs on its own
//!   side, whose channels take its limbs one after another. Keys and constants are on both sides. While the machine
//!   works on a side, the host has the other.
//!
//! Keys come to the machine at the rate of all channels in turn, and of half of them apart. The host's transfers cost
//! time in turn, and none apart if they take less than a run. The compiler times both and takes the one with which runs
//! follow faster.

use ringmill_isa::vector::{MASKS, Shape};
use serde::Serialize;

use super::decode::{Decoded, log_chunks};
use super::description::{Description, WORD_BITS};

/// How limbs are placed on the channels.
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
    /// The channels of a side.
    channels: u32,
    log_chunks: u32,
    /// The limbs of a side.
    limbs: u32,
}

impl Sides {
    /// Returns the sides of a machine, or `None` if its channels have no two halves.
    pub fn new(d: &Description, shape: Shape) -> Option<Self> {
        let all = d.distant.channels as u32;
        all.is_multiple_of(2).then(|| Self {
            channels: all / 2,
            log_chunks: log_chunks(shape),
            // Whole rows over all channels.
            limbs: d.distant_limbs(shape) / all * (all / 2),
        })
    }

    /// Returns the limbs of distant memory of a side.
    pub fn limbs(self) -> u32 {
        self.limbs
    }

    /// Returns the address of a limb on a side, given its address in turn, or `None` beyond the side's limbs.
    pub fn limb(self, side: Side, in_turn: u32) -> Option<u32> {
        let first = match side {
            Side::First => 0,
            Side::Second => self.channels,
        };
        let (row, channel) = (in_turn / self.channels, in_turn % self.channels);
        (in_turn < self.limbs).then_some(2 * self.channels * row + first + channel)
    }

    /// Returns the address of a chunk on a side, given the address of LOAD or STORE in turn. Masks are in no memory. If
    /// a side is too small, which [`Self::limbs`] tells, the address stays.
    pub fn chunk(self, side: Side, in_turn: u32) -> u32 {
        if in_turn >= MASKS {
            return in_turn;
        }
        let chunk = in_turn & ((1 << self.log_chunks) - 1);
        let limb = self.limb(side, in_turn >> self.log_chunks);
        limb.map_or(in_turn, |limb| limb << self.log_chunks | chunk)
    }

    /// Returns an instruction with its distant limb on a side.
    #[doc(hidden)] // for the tests: what is decoded is not public
    pub fn moved(self, side: Side, instr: &Decoded) -> Decoded {
        match instr.moves() {
            true => Decoded {
                n: self.chunk(side, instr.n),
                ..*instr
            },
            false => *instr,
        }
    }
}

/// The time of a program's runs and of the host's transfers beside one another. Cycles are the buffer's, all counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct HostUse {
    /// The limbs that the host brings for a run. `limbs_out`: those that it takes after it. Keys stay where they are.
    pub limbs_in: u64,
    pub limbs_out: u64,
    /// The limbs of distant memory that a run's data and keys take.
    pub distant_limbs: u64,
    /// The placement with which runs follow one another faster.
    pub placement: Placement,
    pub in_turn: Period,
    /// `None` if the channels have no two halves, or a side is too small.
    pub apart: Option<Period>,
}

/// The time from the beginning of one run to the next one's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Period {
    /// The machine's time. `host`: the host's.
    pub machine: u64,
    pub host: u64,
    /// In turn the sum of both, apart the longer one.
    pub period: u64,
}

/// The data that the host moves for a run.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    pub limbs_in: u64,
    pub limbs_out: u64,
    /// The bytes of instructions, which go to the machine while it works.
    pub program_bytes: u64,
    /// Limbs of distant memory that are used at once.
    pub distant_limbs: u64,
}

impl HostUse {
    /// Computes the use for a run that takes `in_turn` micro-cycles in turn and, if it can, `apart` micro-cycles apart.
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
