// SPDX-License-Identifier: Apache-2.0
//! Computes how many RAM blocks of an FPGA a memory takes.
//!
//! A block has a few shapes (a block RAM has 512 words of 72 bits, 1024 of 36, 2048 of 18, and so
//! on). A memory is columns of blocks side by side, each as deep as the memory. The columns may
//! have different shapes; the count is that of the fewest blocks. A synthesiser that uses one shape
//! for all columns needs more blocks if that leaves parity bits unused. Every access of a cycle
//! needs its own port. Block RAM and UltraRAM have two ports, so further reads take copies of the
//! memory, and further writes are refused.

use serde::{Deserialize, Serialize};

use super::part::{Family, Resources};
use crate::error::MachineError;
use ringmill_device::report::Ports;

/// The kind of RAM of which a memory is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    Bram,
    Uram,
    Lutram,
    /// The memory is SRAM of an ASIC, which is counted in bits.
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

/// Returns the most reads and the most writes that a memory with these ports serves in one cycle.
fn most(ports: Ports) -> [u64; 2] {
    [ports.reads + ports.either, ports.writes + ports.either]
}

/// A group of equal memories of a machine, each with its own address.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Memory {
    pub name: String,
    pub kind: MemoryKind,
    pub count: u64,
    /// The number of words of each memory.
    pub depth: u64,
    /// Bits of one word of the memory.
    pub width: u64,
    pub ports: Ports,
}

/// A shape that a RAM block can have: its number of words, the bits of a word, and its cost. The
/// cost counts halves of a block RAM, whole UltraRAMs or single look-up tables.
#[derive(Clone, Copy)]
struct Shape {
    depth: u64,
    width: u64,
    cost: u64,
}

const fn shape(depth: u64, width: u64, cost: u64) -> Shape {
    Shape { depth, width, cost }
}

/// The shapes of a block RAM with two ports that both read and write. The cost is in halves of a block (UG473, UG573).
/// A whole block is two halves side by side, except for shapes whose parity bits or depth the halves do not have.
const TRUE_DUAL: [Shape; 7] = [
    shape(1024, 18, 1),
    shape(2048, 9, 1),
    shape(4096, 4, 1),
    shape(4096, 9, 2),
    shape(8192, 2, 1),
    shape(16384, 1, 1),
    shape(32768, 1, 2),
];
/// A further shape of half a block RAM if one port only reads and the other only writes. Its words are twice as
/// wide as those of the widest shape with two ports that both read and write.
const WIDE: Shape = shape(512, 36, 1);

/// The single shape of an UltraRAM. The deeper and narrower shapes that byte writes and multiplexers would give are not
/// used.
const ULTRA: [Shape; 1] = [shape(4096, 72, 1)];

/// The shapes of look-up tables as memory with one write and one read port, in the 7 series and (`LUT_PLUS`) in
/// UltraScale+. A slice has four tables (RAM32M, RAM64M; UG474) or eight (RAM32M16, RAM64M8; UG574), and some of them
/// store the write address. Shapes of one bit a word are the primitives RAM64X1D, RAM128X1D and RAM256X1D, each with
/// two ports.
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

/// A common multiple of the widths in bits of all shapes that a RAM block can have. The cost of a shape for each
/// bit, times this number, is a whole number, so costs compare without rounding.
const FINE: u128 = 72 * 14;

/// Returns the least cost of RAM blocks, in columns side by side, that hold `depth` words of
/// `width` bits. The cost is in the pieces of [`Shape`], such as halves of a block RAM.
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
    /// Returns the resources that all memories of the group take on an FPGA of this family.
    ///
    /// # Errors
    /// [`MachineError::Ports`] for more accesses in a cycle than the ports can serve, where copies of the memory serve
    /// reads only; also for SRAM on an FPGA.
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

    /// Writes the memories' size and ports as a line of the report's table.
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
