// SPDX-License-Identifier: Apache-2.0
//! Places a program's limbs in distant memory so that the host and the vector machine do not meet on a channel
//! (BASALISC paper, section 6.5.2).
//!
//! Runs of a program follow one another: the host brings the operands of the next run and takes the results of the
//! last.
//!
//! * **In turn**: limbs lie on all channels, one after another. The host uses the channels while the machine does
//!   nothing.
//! * **Apart**: the channels are two *sides*. Successive runs use different sides, and each run has all its limbs on
//!   its own side, on successive channels. Keys and constants are on both sides. While the machine works on one side,
//!   the host uses the other.
//!
//! In turn, the machine reads keys at the rate of all channels; apart, at the rate of half of them. The host's
//! transfers cost time in turn, and none apart if they take less than a run. The cycle model times both and reports
//! the placement with the shorter time from run to run.

use ringmill_isa::vector::{MASKS, Shape};
use serde::Serialize;

use super::decode::{Decoded, log_chunks};
use super::description::{Description, WORD_BITS};

/// The placement of the limbs of successive runs on the channels of distant memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    #[serde(rename = "in turn")]
    InTurn,
    Apart,
}

/// One half of the channels of distant memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    First,
    Second,
}

/// The channels of distant memory (HBM or DDR) in two halves, the sides.
#[derive(Clone, Copy, Debug)]
pub struct Sides {
    /// The number of channels on one side, which is half of the channels of distant memory.
    channels: u32,
    log_chunks: u32,
    /// The number of limbs that fit on one side, which is half of the channels of distant memory.
    limbs: u32,
}

impl Sides {
    /// Returns the sides of a machine (halves of the channels of distant memory), or `None` if the number of its
    /// channels is odd.
    pub fn new(d: &Description, shape: Shape) -> Option<Self> {
        let all = d.distant.channels as u32;
        all.is_multiple_of(2).then(|| Self {
            channels: all / 2,
            log_chunks: log_chunks(shape),
            // Limbs that fill whole rows, one limb on each channel.
            limbs: d.distant_limbs(shape) / all * (all / 2),
        })
    }

    /// Returns the number of limbs that fit on one side, which is half of the channels of distant memory.
    pub fn limbs(self) -> u32 {
        self.limbs
    }

    /// Returns the address on a side (half of the channels) of the limb whose address on all channels is `in_turn`.
    /// Returns `None` if the side has too few limbs.
    pub fn limb(self, side: Side, in_turn: u32) -> Option<u32> {
        let first = match side {
            Side::First => 0,
            Side::Second => self.channels,
        };
        let (row, channel) = (in_turn / self.channels, in_turn % self.channels);
        (in_turn < self.limbs).then_some(2 * self.channels * row + first + channel)
    }

    /// Returns the address on a side (half of the channels) of the chunk whose address in `LOAD` or `STORE` is
    /// `in_turn`. Generated masks are in no memory and keep their address. So do chunks beyond the limbs of the side.
    pub fn chunk(self, side: Side, in_turn: u32) -> u32 {
        if in_turn >= MASKS {
            return in_turn;
        }
        let chunk = in_turn & ((1 << self.log_chunks) - 1);
        let limb = self.limb(side, in_turn >> self.log_chunks);
        limb.map_or(in_turn, |limb| limb << self.log_chunks | chunk)
    }

    /// Returns a `LOAD` or `STORE` with its address on a side (half of the channels), and any other instruction
    /// unchanged.
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

/// The time of a program's successive runs and of the host's transfers. Cycles are those of the
/// ciphertext buffer. They include the times of distant memory and of instructions on the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct HostUse {
    /// The number of limbs that the host brings for a run. `limbs_out` is the number that it takes after the run. Keys
    /// stay in distant memory.
    pub limbs_in: u64,
    pub limbs_out: u64,
    /// The number of limbs of distant memory that a run's data and keys take.
    pub distant_limbs: u64,
    /// The placement of limbs on channels ([`Placement`]) with the shorter time from one run of the program to the
    /// next.
    pub placement: Placement,
    pub in_turn: Period,
    /// The times if each run of the program uses half of the channels of distant memory, and the next run the other
    /// half. It is `None` if the number of channels is odd or half of them have too little room.
    pub apart: Option<Period>,
}

/// The time from the beginning of one run of a program to that of the next, in cycles of the ciphertext buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Period {
    /// The cycles of the machine in one run. `host` has the cycles of the host's transfers for one run.
    pub machine: u64,
    pub host: u64,
    /// The cycles from run to run. It is the sum of the machine's and the host's cycles if they share the channels
    /// in turn. It is the longer of them if each run has half of the channels for itself.
    pub period: u64,
}

/// The data that the host moves for one run of the program.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    pub limbs_in: u64,
    pub limbs_out: u64,
    /// The bytes of instructions, which cross the link while the machine works.
    pub program_bytes: u64,
    /// The number of limbs of distant memory that a run's data and keys take.
    pub distant_limbs: u64,
}

impl HostUse {
    /// Computes the time from one run of a program to the next. A run takes `in_turn` micro-cycles with its limbs
    /// on all channels of distant memory. It takes `apart` micro-cycles with its limbs on half of the channels, if
    /// their number is even. A cycle of the ciphertext buffer is `micro.buffer` micro-cycles.
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
