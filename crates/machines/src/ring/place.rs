// SPDX-License-Identifier: Apache-2.0
//! Manages the memory slots of every RPAU: which are in use, which instruction word must retire before a slot is
//! reused, and which slot a value prefers.

use super::description::{Description, MAX_KEY_SLOTS, MAX_RPAUS, MAX_SLOTS};

/// The index of a retire counter, which counts the instruction words of a stream, the ring network
/// or the host link that have ended, and the count that it must reach.
pub type Mark = (usize, u32);

/// The use of one memory slot: the last instruction word that wrote it and those that have read it since. A word that
/// reads the slot must wait for the writer, a word that writes it for all of them.
#[derive(Clone, Debug, Default)]
pub struct SlotLog {
    pub write: Option<Mark>,
    pub reads: Vec<Mark>,
}

/// The preference of a value among the memory slots of its RPAU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// A value that is transformed, broadcast or split soon. It prefers a slot that shares its ports with few others or
    /// none, and then block RAM before other memory. Slots with ports narrower than a row come last.
    Work,
    /// A value that waits or is accumulated. It prefers slots that share ports. Slots with ports narrower than a
    /// row come last.
    Keep,
}

/// The use of memory slots during the scheduling of one procedure.
#[derive(Clone, Debug)]
pub struct Slots {
    /// For each RPAU, a mask of the memory slots in use.
    pub used: [u32; MAX_RPAUS],
    /// For each RPAU the record of the use of each slot. Polynomial memory has the first [`MAX_SLOTS`] records, key
    /// memory those from number [`MAX_SLOTS`] on.
    pub logs: Vec<Vec<SlotLog>>,
    work: Vec<u8>,
    keep: Vec<u8>,
    count: u32,
    /// For each RPAU, the most memory slots in use at once during the procedure.
    pub peak: [u8; MAX_RPAUS],
}

impl Slots {
    pub fn new(d: &Description, used: [u32; MAX_RPAUS]) -> Self {
        Self {
            used,
            logs: vec![vec![SlotLog::default(); MAX_SLOTS + MAX_KEY_SLOTS]; d.rpaus],
            work: order(d, Class::Work),
            keep: order(d, Class::Keep),
            count: d.slots() as u32,
            peak: used.map(|u| u.count_ones() as u8),
        }
    }

    /// Returns all slots in the order in which a value of this class prefers them. The class tells whether the
    /// value is used soon or waits.
    pub fn preferred(&self, class: Class) -> &[u8] {
        match class {
            Class::Work => &self.work,
            Class::Keep => &self.keep,
        }
    }

    pub fn is_free(&self, rpau: usize, slot: u8) -> bool {
        self.used[rpau] >> slot & 1 == 0
    }

    pub fn free_count(&self, rpau: usize) -> u32 {
        self.count - self.used[rpau].count_ones()
    }

    pub fn take(&mut self, rpau: usize, slot: u8) {
        self.used[rpau] |= 1 << slot;
        self.peak[rpau] = self.peak[rpau].max(self.used[rpau].count_ones() as u8);
    }

    pub fn release(&mut self, rpau: usize, slot: u8) {
        self.used[rpau] &= !(1 << slot);
    }
}

/// Computes the order in which a value of this class prefers the machine's slots. The class tells whether the value
/// is used soon or waits.
pub fn order(d: &Description, class: Class) -> Vec<u8> {
    use super::description::MemoryKind::Bram;
    let groups = d.slot_groups();
    let key = |slot: &u8| {
        let group = &d.memory[usize::from(groups[usize::from(*slot)])];
        let narrow = d.is_narrow(usize::from(groups[usize::from(*slot)]));
        match class {
            Class::Work => (narrow, group.slots, u8::from(group.kind != Bram), *slot),
            Class::Keep => (
                false,
                if narrow {
                    usize::MAX
                } else {
                    usize::MAX - group.slots
                },
                u8::from(group.kind == Bram),
                *slot,
            ),
        }
    };
    let mut slots: Vec<u8> = (0..d.slots() as u8).collect();
    slots.sort_by_key(key);
    slots
}
