// SPDX-License-Identifier: Apache-2.0
//! Computes how many RAM blocks a memory takes.
//!
//! A block has a few shapes (a block RAM is 512 x 72, 1K x 36, 2K x 18, .. bits). A memory is columns of blocks side by
//! side, each as deep as the memory. The columns may have different shapes, and the fewest blocks count. A synthesiser
//! that uses one shape for all columns needs more blocks if that leaves parity bits unused. Every access of a cycle
//! needs a port of its own. Block RAM and UltraRAM have two ports, so more reads take copies, and more writes are
//! refused.

use serde::{Deserialize, Serialize};

use super::part::{Family, Resources};
use crate::error::MachineError;
use ringmill_device::report::Ports;

/// The kind of a memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    Bram,
    Uram,
    Lutram,
    /// Memory of an ASIC.
    Sram,
}

impl MemoryKind {
    fn name(self) -> &'static str {
        match self {
            Self::Bram => "block RAM",
            Self::Uram => "ultra RAM",
            Self::Lutram => "distributed RAM",
            Self::Sram => "SRAM",
        }
    }
}

/// Returns the reads and writes for which there must be ports.
fn most(ports: Ports) -> [u64; 2] {
    [ports.reads + ports.either, ports.writes + ports.either]
}

/// Memories of one shape, each with addresses of its own.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Memory {
    pub name: String,
    pub kind: MemoryKind,
    pub count: u64,
    /// The words of each memory.
    pub depth: u64,
    /// Bits of a word.
    pub width: u64,
    pub ports: Ports,
}

/// A possible shape of a block, and its cost in pieces of its resource.
#[derive(Clone, Copy)]
struct Shape {
    depth: u64,
    width: u64,
    cost: u64,
}

const fn shape(depth: u64, width: u64, cost: u64) -> Shape {
    Shape { depth, width, cost }
}

/// Block RAM with two ports that both read and write, costs in halves (UG473, UG573). A whole block is two halves side
/// by side, except for shapes whose parity bits or depth the halves do not have.
const TRUE_DUAL: [Shape; 7] = [
    shape(1024, 18, 1),
    shape(2048, 9, 1),
    shape(4096, 4, 1),
    shape(4096, 9, 2),
    shape(8192, 2, 1),
    shape(16384, 1, 1),
    shape(32768, 1, 2),
];
/// With one port that reads and one that writes, a half may also have this shape, which is twice as wide.
const WIDE: Shape = shape(512, 36, 1);

/// UltraRAM has one shape. Deeper and narrower shapes, by byte writes and multiplexers behind the read port, are not
/// counted on.
const ULTRA: [Shape; 1] = [shape(4096, 72, 1)];

/// Look-up tables with one write and one read port. Slices have four tables (RAM32M, RAM64M; UG474) or eight (RAM32M16,
/// RAM64M8; UG574), some of which keep the write address. Single bits of two ports are RAM64X1D, RAM128X1D, RAM256X1D.
const LUT_SEVEN: [Shape; 4] = [
    shape(32, 6, 4),
    shape(64, 3, 4),
    shape(64, 1, 2),
    shape(128, 1, 4),
];
const LUT_PLUS: [Shape; 5] = [
    shape(32, 14, 8),
    shape(64, 7, 8),
    shape(64, 1, 2),
    shape(128, 1, 4),
    shape(256, 1, 8),
];

/// A multiple of every width, so that costs a bit compare exactly.
const FINE: u128 = 72 * 14;

/// Returns the least cost of columns side by side that hold `depth` words of `width` bits.
fn columns(depth: u64, width: u64, shapes: &[Shape]) -> u64 {
    let cost = |s: &Shape| depth.div_ceil(s.depth).saturating_mul(s.cost);
    // The column with the least cost a bit. An optimal choice has fewer other columns than this column's width: of that
    // many, some have widths that add up to a multiple of it.
    let Some(best) = shapes
        .iter()
        .min_by_key(|s| u128::from(cost(s)) * FINE / u128::from(s.width))
    else {
        return 0;
    };
    let widest = shapes.iter().map(|s| s.width).max().unwrap_or(1);
    let few = best.width * widest;
    let plain = width.saturating_sub(few) / best.width;
    let rest = (width - plain * best.width) as usize;
    let mut least = vec![0u64; rest + 1];
    for bits in 1..=rest {
        let before = |s: &Shape| least.get(bits.saturating_sub(s.width as usize));
        let found = shapes
            .iter()
            .filter_map(|s| Some(before(s)?.saturating_add(cost(s))))
            .min();
        if let (Some(slot), Some(found)) = (least.get_mut(bits), found) {
            *slot = found;
        }
    }
    let plain = plain.saturating_mul(cost(best));
    plain.saturating_add(least.last().copied().unwrap_or(0))
}

impl Memory {
    /// Returns the resources that the memories take on parts of a family.
    ///
    /// # Errors
    /// [`MachineError::Ports`] for more writes a cycle than copies can serve.
    pub fn takes(&self, family: Family) -> Result<Resources, MachineError> {
        let [reads, writes] = most(self.ports);
        let fault = || MachineError::Ports {
            memory: self.name.clone(),
            kind: self.kind.name(),
            reads,
            writes,
        };
        if self.depth == 0 || self.width == 0 || self.count == 0 {
            return Ok(Resources::default());
        }
        // Copies with one read port each, beside the one write port, which writes to all of them.
        let single = reads.max(1);
        let of = |shapes: &[Shape]| columns(self.depth, self.width, shapes);
        let wide = || {
            let mut shapes = TRUE_DUAL.to_vec();
            shapes.push(WIDE);
            of(&shapes)
        };
        let dual = writes <= 1 || reads + writes <= 2;
        let one = match self.kind {
            _ if !dual => return Err(fault()),
            // Bits, in any macros; an ASIC has no other memory.
            MemoryKind::Sram | MemoryKind::Bram | MemoryKind::Uram | MemoryKind::Lutram
                if family == Family::Asic =>
            {
                return Ok(Resources {
                    sram_bits: (self.count.saturating_mul(self.depth)).saturating_mul(self.width),
                    ..Resources::default()
                });
            }
            MemoryKind::Sram => return Err(fault()),
            MemoryKind::Lutram if writes > 1 => return Err(fault()),
            MemoryKind::Lutram => Resources {
                lut_memory: single.saturating_mul(of(match family {
                    Family::SevenSeries => &LUT_SEVEN,
                    Family::UltraScalePlus | Family::Asic => &LUT_PLUS,
                })),
                ..Resources::default()
            },
            MemoryKind::Uram => Resources {
                uram: of(&ULTRA).saturating_mul(match writes {
                    // Both ports read, or both write.
                    0 | 2 => single.div_ceil(2),
                    _ => single,
                }),
                ..Resources::default()
            },
            MemoryKind::Bram => Resources {
                bram18: match writes {
                    0 => single
                        .saturating_mul(wide())
                        .min(single.div_ceil(2).saturating_mul(of(&TRUE_DUAL))),
                    1 => single.saturating_mul(wide()),
                    _ => of(&TRUE_DUAL),
                },
                ..Resources::default()
            },
        };
        Ok(one.times(self.count))
    }

    /// Returns the memory as a line of a table.
    pub fn text(&self) -> String {
        let Ports {
            reads,
            writes,
            either,
        } = self.ports;
        let each = [
            (reads, "read"),
            (writes, "write"),
            (either, "read or write"),
        ];
        let each = each.iter().filter(|(count, _)| *count > 0);
        let each: Vec<String> = each
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        format!(
            "{} x {} x {} bits, {}",
            self.count,
            self.depth,
            self.width,
            each.join(" + ")
        )
    }
}
