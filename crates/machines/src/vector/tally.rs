// SPDX-License-Identifier: Apache-2.0
//! The counts of the performance simulator.

use ringmill_isa::vector::MicroOp;

/// The counts of a run or a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Tally {
    pub instructions: u64,
    /// Chunks read from the buffer. `writes`: chunks written to it. Each takes a port cycle.
    pub reads: u64,
    pub writes: u64,
    /// Micro-cycles in which the port was free and the next instruction, which reads a chunk, waited for something
    /// else.
    pub stalled: u64,
    /// Instructions of each unit.
    pub mac: u64,
    pub transform: u64,
    pub loads: u64,
    pub stores: u64,
    /// Micro-cycles that instructions spent in each pipeline, summed over instructions.
    pub in_mac: u64,
    pub in_transform: u64,
    /// Micro-cycles in which the queue had nothing to send.
    pub dry: u64,
    /// Micro-cycles that chunks took on distant memory's channels.
    pub distant: u64,
}

impl Tally {
    /// Returns the sum with other counts.
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

/// Instructions by their opcode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ops([u64; CODES]);

/// One more than the largest opcode.
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
    /// Counts one instruction.
    #[inline]
    pub fn count(&mut self, op: MicroOp) {
        self.more(op, 1);
    }

    /// Counts `many` more instructions of one opcode.
    #[inline]
    pub fn more(&mut self, op: MicroOp, many: u64) {
        if let Some(count) = self.0.get_mut(op as usize) {
            *count += many;
        }
    }

    /// Returns the count of one opcode.
    pub fn of(&self, op: MicroOp) -> u64 {
        self.0.get(op as usize).copied().unwrap_or(0)
    }

    /// Returns the count of each opcode that occurred.
    pub fn iter(&self) -> impl Iterator<Item = (MicroOp, u64)> {
        let all = MicroOp::ALL.into_iter().map(|op| (op, self.of(op)));
        all.filter(|&(_, count)| count > 0)
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(&other.0) {
            *count += more;
        }
    }
}

/// The time of one run of a call.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// The micro-cycles with all times counted, by the paper's counting, and with all times counted on one side of
    /// distant memory.
    pub micro: [u64; 3],
    pub tally: [Tally; 3],
    pub ops: Ops,
    /// The micro-cycles from each instruction to the next, by the next one's opcode, with all times counted. They add
    /// up to `micro`, except for work in flight at the end of a program.
    pub took: Ops,
    /// The micro-cycles among these of LOADs that brought in limbs of ciphertexts and plaintexts which the program
    /// reads.
    pub loading: u64,
    pub peak: usize,
    pub loads: u64,
    pub spilled: u64,
    pub reloaded: u64,
    /// The masks made from seeds.
    pub made: u64,
    pub floors: [u64; 2],
    /// The plaintexts on which the host worked, and which it sent.
    pub hosted: u64,
}

impl Ran {
    /// Adds the time of another call.
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
