// SPDX-License-Identifier: Apache-2.0
//! The operations that the RTL of the ring machine has run at full size in lockstep with the model, with their
//! cycles.

/// A record of one built-in ring machine that was built in RTL. The RTL has run all instruction words of
/// [`instructions`](super::instructions::instructions) and the operations in `operations`. Every start, end, slot and
/// result was equal to the model's. `make full` runs them again and asserts these cycles.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub machine: &'static str,
    /// The operations that were run, each by its parameter set and name, with the cycles. Each ran at the highest
    /// level; the multiplication has a seeded key.
    pub operations: &'static [(&'static str, &'static str, u64)],
}

pub const SEEN: &[Seen] = &[
    Seen {
        machine: "ring",
        operations: &[
            ("set1", "add", 1_078),
            ("set1", "multiply + relinearise", 93_655),
            ("set1", "rescale", 26_429),
            ("set2", "add", 2_664),
            ("set2", "multiply + relinearise", 241_777),
            ("set2", "rescale", 54_915),
        ],
    },
    Seen {
        machine: "ring-stored",
        operations: &[
            ("set1", "add", 1_078),
            ("set1", "multiply + relinearise", 46_482),
            ("set1", "rescale", 12_499),
            ("set2", "add", 2_664),
            ("set2", "multiply + relinearise", 145_458),
            ("set2", "rescale", 27_667),
        ],
    },
];

/// Returns the record of the machine with this name, if the RTL has run at full size.
pub fn seen(machine: &str) -> Option<&'static Seen> {
    SEEN.iter().find(|seen| seen.machine == machine)
}

impl Seen {
    /// Returns whether the RTL has run this operation in this number of cycles.
    pub fn has(&self, set: &str, operation: &str, cycles: u64) -> bool {
        self.operations.contains(&(set, operation, cycles))
    }
}
