// SPDX-License-Identifier: Apache-2.0
//! Tests how many RAM blocks of an FPGA memories take.

use ringmill_machines::fpga::{Family, Memory, MemoryKind, Ports};

fn memory(kind: MemoryKind, depth: u64, width: u64, reads: u64, writes: u64) -> Memory {
    Memory {
        name: "it".to_owned(),
        kind,
        count: 1,
        depth,
        width,
        ports: Ports {
            reads,
            writes,
            either: 0,
        },
    }
}

fn pieces(of: Memory, family: Family) -> u64 {
    let r = of.takes(family).unwrap();
    r.bram18 + r.uram + r.lut_memory
}

/// The numbers of halves of block RAMs that memories with one read and one write port take are counted by hand.
#[test]
fn block_rams_by_hand() {
    let found = |depth, width| {
        pieces(
            memory(MemoryKind::Bram, depth, width, 1, 1),
            Family::SevenSeries,
        )
    };
    for (depth, width, halves) in [
        (1, 1, 1),
        (1, 36, 1),
        (1, 37, 2),
        (1, 72, 2),
        (1, 73, 3),
        (512, 36, 1),
        (513, 36, 2),
        (512, 72, 2),
        (512, 73, 3),
        (1024, 18, 1),
        (1024, 36, 2),
        (1024, 60, 4),
        (1025, 18, 2),
        (2048, 18, 2),
        (2048, 9, 1),
        // A memory of 4096 x 9 bits is one whole block. Two halves of 4096 x 4 hold eight bits.
        (4096, 8, 2),
        (4096, 9, 2),
        (4096, 10, 3),
        (8192, 4, 2),
        (16384, 1, 1),
        (16385, 1, 2),
        (32768, 1, 2),
        (32769, 1, 3),
        // Columns of different shapes: 36 bits in two halves, four more in one.
        (1024, 40, 3),
        // 2048 x 9 columns, seven of them, where 512 x 36 would take eight.
        (1548, 60, 7),
        (1536, 60, 6),
        (0, 60, 0),
        (60, 0, 0),
    ] {
        assert_eq!(found(depth, width), halves, "{depth} x {width}");
    }
}

#[test]
fn ultra_rams_by_hand() {
    let found = |depth, width| {
        pieces(
            memory(MemoryKind::Uram, depth, width, 1, 1),
            Family::UltraScalePlus,
        )
    };
    for (depth, width, blocks) in [
        (1, 1, 1),
        (4096, 72, 1),
        (4097, 72, 2),
        (4096, 73, 2),
        (512, 60, 1),
        (9216, 1920, 27 * 3),
        (1 << 14, 60, 4),
    ] {
        assert_eq!(found(depth, width), blocks, "{depth} x {width}");
    }
}

#[test]
fn distributed_rams_by_hand() {
    let found =
        |depth, width, family| pieces(memory(MemoryKind::Lutram, depth, width, 1, 1), family);
    for (depth, width, seven, plus) in [
        (1, 1, 2, 2),
        (16, 6, 4, 8),
        (16, 7, 6, 8),
        // docs/rtl.md: rm_fifo of 16 x 32 takes 24 in the 7 series.
        (16, 32, 24, 24),
        (32, 14, 12, 8),
        (33, 14, 20, 16),
        (64, 3, 4, 6),
        (65, 3, 8, 12),
        (256, 1, 8, 8),
        (8, 129, 88, 78),
    ] {
        assert_eq!(
            found(depth, width, Family::SevenSeries),
            seven,
            "{depth} x {width}"
        );
        assert_eq!(
            found(depth, width, Family::UltraScalePlus),
            plus,
            "{depth} x {width}"
        );
    }
}

#[test]
fn every_access_has_a_port() {
    let found = |kind, depth, width, reads, writes| {
        memory(kind, depth, width, reads, writes)
            .takes(Family::UltraScalePlus)
            .map(|r| r.bram18 + r.uram + r.lut_memory)
            .map_err(|e| e.to_string())
    };
    use MemoryKind::{Bram, Lutram, Uram};
    // Beside a write each read takes a copy of the memory. If nothing writes, a block serves two reads.
    assert_eq!(found(Bram, 512, 72, 2, 1), Ok(4));
    assert_eq!(found(Bram, 512, 36, 2, 0), Ok(2));
    assert_eq!(found(Bram, 1024, 18, 2, 0), Ok(1));
    assert_eq!(found(Bram, 1024, 18, 3, 0), Ok(2));
    // If both ports write, a half has words of at most 18 bits.
    assert_eq!(found(Bram, 512, 36, 0, 2), Ok(2));
    assert_eq!(found(Uram, 4096, 72, 2, 0), Ok(1));
    assert_eq!(found(Uram, 4096, 72, 0, 2), Ok(1));
    assert_eq!(found(Uram, 4096, 72, 3, 1), Ok(3));
    assert_eq!(found(Uram, 4096, 72, 3, 0), Ok(2));
    assert_eq!(found(Lutram, 64, 1, 2, 1), Ok(4));
    for (kind, reads, writes, name) in [
        (Bram, 1, 2, "block RAM"),
        (Uram, 0, 3, "ultra RAM"),
        (Lutram, 0, 2, "distributed RAM"),
        (Bram, 2, 2, "block RAM"),
    ] {
        let fault = found(kind, 512, 36, reads, writes).unwrap_err();
        assert!(fault.contains("`it`") && fault.contains(name), "{fault}");
    }
}

/// The depth, the width and the cost of each shape that a RAM block can have.
type Shapes = [(u64, u64, u64)];

/// The shapes of a block RAM whose two ports both write.
const TRUE_DUAL: &Shapes = &[
    (1024, 18, 1),
    (2048, 9, 1),
    (4096, 4, 1),
    (4096, 9, 2),
    (8192, 2, 1),
    (16384, 1, 1),
    (32768, 1, 2),
];
const LUT_SEVEN: &Shapes = &[(32, 6, 4), (64, 3, 4), (64, 1, 2), (128, 1, 4)];
const LUT_PLUS: &Shapes = &[
    (32, 14, 8),
    (64, 7, 8),
    (64, 1, 2),
    (128, 1, 4),
    (256, 1, 8),
];

/// For four depths and kinds of RAM, the cost of a memory of every width to 1200 bits is the least over all choices of
/// columns. The count takes most columns of a wide memory at once, and none of a narrow one.
#[test]
fn wide_memories_cost_what_all_choices_cost() {
    use MemoryKind::{Bram, Lutram};
    for (depth, kind, [reads, writes], family, shapes) in [
        (700, Bram, [0, 2], Family::SevenSeries, TRUE_DUAL),
        (3000, Bram, [0, 2], Family::SevenSeries, TRUE_DUAL),
        (50, Lutram, [1, 1], Family::UltraScalePlus, LUT_PLUS),
        (100, Lutram, [1, 1], Family::SevenSeries, LUT_SEVEN),
    ] {
        let most = 1200;
        let mut least = vec![0u64; most + 1];
        for bits in 1..=most {
            let of = |&(deep, wide, cost): &(u64, u64, u64)| {
                least[bits.saturating_sub(wide as usize)] + u64::div_ceil(depth, deep) * cost
            };
            let found = shapes.iter().map(of).min().unwrap();
            least[bits] = found;
            let memory = memory(kind, depth, bits as u64, reads, writes);
            assert_eq!(pieces(memory, family), found, "{depth} x {bits}");
        }
    }
}

#[test]
fn no_size_overflows() {
    let huge = memory(MemoryKind::Bram, 1 << 40, 1 << 22, 1, 1);
    assert!(huge.takes(Family::SevenSeries).unwrap().bram18 > 1 << 40);
}
