// SPDX-License-Identifier: Apache-2.0
//! The counts of the vector machine's performance simulator.

use ringmill_isa::vector::MicroOp;

/// The counts of what the vector machine's units and buffer did in a run or in a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Tally {
    pub instructions: u64,
    /// The number of chunks read from the buffer; `writes` is the number written to it. Each takes a cycle of the
    /// buffer's port.
    pub reads: u64,
    pub writes: u64,
    /// The sum over the instructions that read a chunk of the buffer: how long the buffer's port was free before the
    /// instruction was sent. The time counts from the end of the port's last use, or from the call's begin if that is
    /// later. It is in micro-cycles (`micro.buffer` of them make one cycle of the ciphertext buffer).
    pub stalled: u64,
    /// The number of instructions of the multiply-accumulate unit. `transform` counts those of the transform
    /// units, permutations included; `loads` and `stores` count the loads and the stores.
    pub mac: u64,
    pub transform: u64,
    pub loads: u64,
    pub stores: u64,
    /// The micro-cycles (`micro.buffer` of them make one cycle of the ciphertext buffer) that instructions spent in
    /// the multiply-accumulate pipeline, summed over instructions. `in_transform` has those in the transform's
    /// pipeline.
    pub in_mac: u64,
    pub in_transform: u64,
    /// The micro-cycles (`micro.buffer` of them make one cycle of the ciphertext buffer) in which the controller waited
    /// only for the next instruction to cross the link. A wait counts from the last sending or the last write to the
    /// buffer, whichever is later.
    pub dry: u64,
    /// The micro-cycles (`micro.buffer` of them make one cycle of the ciphertext buffer) in which chunks passed the
    /// channels of distant memory, summed over the channels. It is 0 if the time of distant memory is not counted.
    pub distant: u64,
}

impl Tally {
    /// Returns the sum of these counts and `other`, count by count.
    pub fn plus(self, other: Self) -> Self {
        Self {
            instructions: self.instructions + other.instructions,
            reads: self.reads + other.reads,
            writes: self.writes + other.writes,
            stalled: self.stalled + other.stalled,
            mac: self.mac + other.mac,
            transform: self.transform + other.transform,
            loads: self.loads + other.loads,
            stores: self.stores + other.stores,
            in_mac: self.in_mac + other.in_mac,
            in_transform: self.in_transform + other.in_transform,
            dry: self.dry + other.dry,
            distant: self.distant + other.distant,
        }
    }
}

/// For each opcode of the vector machine, a number of instructions or a time in micro-cycles (`micro.buffer` of
/// them make one cycle of the ciphertext buffer).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ops([u64; CODES]);

/// The length of the list of counts: one more than the largest opcode.
const CODES: usize = {
    let mut codes = 0;
    let mut at = 0;
    while at < MicroOp::ALL.len() {
        let code = MicroOp::ALL[at] as usize;
        codes = if code < codes { codes } else { code + 1 };
        at += 1;
    }
    codes
};

impl Default for Ops {
    fn default() -> Self {
        Self([0; CODES])
    }
}

impl Ops {
    /// Adds 1 to the count of an opcode's instructions.
    #[inline]
    pub fn count(&mut self, op: MicroOp) {
        self.more(op, 1);
    }

    /// Adds `many` instructions, or micro-cycles, to the count of an opcode.
    #[inline]
    pub fn more(&mut self, op: MicroOp, many: u64) {
        if let Some(count) = self.0.get_mut(op as usize) {
            *count += many;
        }
    }

    /// Returns what is counted for an opcode: a number of instructions, or a time in micro-cycles (`micro.buffer`
    /// of them make one cycle of the ciphertext buffer).
    pub fn of(&self, op: MicroOp) -> u64 {
        self.0.get(op as usize).copied().unwrap_or(0)
    }

    /// Returns the opcodes whose count is not 0, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (MicroOp, u64)> {
        let all = MicroOp::ALL.into_iter().map(|op| (op, self.of(op)));
        all.filter(|&(_, count)| count > 0)
    }

    /// Adds another set of counts to this one, opcode by opcode.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(&other.0) {
            *count += more;
        }
    }
}

/// The time and the counts of one call, or of several: the largest `peak`, and the sums of the other fields.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// The micro-cycles (`micro.buffer` of them make one cycle of the ciphertext buffer) of three simulated machines.
    /// The first counts all times. The second counts as the BASALISC paper does, without distant memory and the link.
    /// The third counts all times with all limbs on one half of distant memory's channels. If the number of channels is
    /// odd, it uses all of them.
    pub micro: [u64; 3],
    pub tally: [Tally; 3],
    pub ops: Ops,
    /// For each opcode, the time from the sending of the instruction before to that of each instruction with the
    /// opcode, in micro-cycles (`micro.buffer` of them make one cycle of the ciphertext buffer). Distant memory and the
    /// link count. The times add up to `micro[0]`. Only the work in the pipelines at the end of a program without `HCF`
    /// is in no opcode's time.
    pub took: Ops,
    /// The part of the times `took`, in micro-cycles (`micro.buffer` of them make one cycle of the ciphertext
    /// buffer), in which limbs of ciphertexts and plaintexts which the program reads are loaded.
    pub loading: u64,
    /// The most places of the ciphertext buffer, each for one limb, that were in use at once.
    pub peak: usize,
    pub loads: u64,
    pub spilled: u64,
    pub reloaded: u64,
    /// The number of masks (uniform halves of keys) that the generator expanded from seeds. A mask that is expanded
    /// again counts again.
    pub made: u64,
    /// Two lower bounds on the time in cycles of the ciphertext buffer: by the buffer's port without loads and stores,
    /// and by the multiply-accumulate unit.
    pub floors: [u64; 2],
    /// The number of limbs of plaintexts that the host changed and sent for the calls, since the machine cannot compute
    /// modulo their modulus.
    pub hosted: u64,
}

impl Ran {
    /// Adds the time and the counts of another call to these, and keeps the larger peak.
    pub fn add(&mut self, other: &Self) {
        for at in 0..self.micro.len() {
            self.micro[at] += other.micro[at];
            self.tally[at] = self.tally[at].plus(other.tally[at]);
        }
        for (floor, other) in self.floors.iter_mut().zip(other.floors) {
            *floor += other;
        }
        self.ops.add(&other.ops);
        self.took.add(&other.took);
        self.loading += other.loading;
        self.peak = self.peak.max(other.peak);
        self.loads += other.loads;
        self.spilled += other.spilled;
        self.reloaded += other.reloaded;
        self.made += other.made;
        self.hosted += other.hosted;
    }
}
