//! What the performance simulator counts.

/// What was counted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Tally {
    pub instructions: u64,
    /// Chunks read from the buffer and written to it: port cycles.
    pub reads: u64,
    pub writes: u64,
    /// Micro-cycles in which the port was free and the next instruction, which reads a chunk, waited for something else.
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
    /// With what was counted elsewhere.
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
