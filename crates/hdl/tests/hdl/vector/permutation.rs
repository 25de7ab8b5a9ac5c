// SPDX-License-Identifier: Apache-2.0
//! Tests of the permutation units. Every automorphism of small rings, which goes through both networks one after the
//! other, is compared with the buffer's layout and the simulator's rule.

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::{BuildOptions, Hdl, Top};
use ringmill_isa::vector::Shape;
use ringmill_machines::vector::layout::Layout;

use crate::common::failure::Check;
use crate::common::setup::{hdl, seed};
use crate::vector::ranks::{Item, Of, Ranks, Side};

/// Checks every permutation of a line that the network makes, in random order: i to (i a + b) xor c, or without
/// `affine`, i to i xor c.
pub fn check_net(hdl: &Hdl, log_lanes: u32, affine: bool, seed: u64) -> Check {
    let mut dice = Dice::new(seed);
    let lanes = 1u64 << log_lanes;
    let top = Top::new("rm_vector_net")
        .int("LogLanes", log_lanes.into())
        .int("Width", 12)
        .int("Affine", affine.into());
    let model = hdl.model(&top, BuildOptions::default())?;
    let scalar = |name| Side {
        name,
        width: log_lanes,
        count: 1,
        of: Of::Rank(0),
    };
    let line = Side {
        name: "line_i",
        width: 12,
        count: lanes as usize,
        of: Of::Rank(0),
    };
    let sides = [scalar("a_i"), scalar("b_i"), scalar("c_i"), line];
    let mut ranks = Ranks::new(model, log_lanes as usize + 1, &sides, &[("line_o", 12)])?;
    let mut items = Vec::new();
    for a in (1..lanes).step_by(2) {
        for b in 0..lanes {
            for c in 0..lanes {
                if !affine && (a, b) != (1, 0) {
                    continue;
                }
                let words: Vec<u64> = (0..lanes).map(|_| dice.below(1 << 12)).collect();
                let mut moved = vec![0; lanes as usize];
                for (i, &word) in (0..).zip(&words) {
                    moved[(((i * a + b) % lanes) ^ c) as usize] = word;
                }
                items.push(Item {
                    sides: vec![vec![a], vec![b], vec![c], words],
                    outputs: vec![moved],
                });
            }
        }
    }
    for at in (1..items.len()).rev() {
        items.swap(at, dice.below(at as u64 + 1) as usize);
    }
    ranks.run(&items, &mut dice)
}

pub fn check_nets(hdl: &Hdl, seed: u64) -> Check {
    check_net(hdl, 3, true, seed)?;
    check_net(hdl, 4, false, seed)
}

#[test]
#[ignore = "automorphisms take most of them; `make full` runs it"]
fn every_permutation_of_a_line() {
    check_nets(hdl(), seed()).unwrap();
}

/// Checks every automorphism of a square ring, on every row.
pub fn check_morph(hdl: &Hdl, log_radix: u8, lines: usize, seed: u64) -> Check {
    let mut dice = Dice::new(seed);
    let (rows, log_n) = (1usize << log_radix, 2 * log_radix);
    let layout = Layout::new(Shape {
        log_n,
        log_radix,
        log_lanes: log_radix + lines.ilog2() as u8,
        chunks: 64,
        registers: 4,
        distant: 64,
    });
    let top = Top::new("rm_vector_morph")
        .int("LogLanes", log_radix.into())
        .int("Lines", lines as u64);
    let model = hdl.model(&top, BuildOptions::default())?;
    let side = |name, width, count| Side {
        name,
        width,
        count,
        of: Of::Rank(0),
    };
    let sides = [
        side("g_i", u32::from(log_n) + 1, 1),
        side("row_i", log_radix.into(), 1),
        side("lines_i", 32, lines * rows),
    ];
    let outputs = [("row_o", log_radix.into()), ("lines_o", 32)];
    let mut ranks = Ranks::new(model, 2 * (usize::from(log_radix) + 1), &sides, &outputs)?;
    let mut items = Vec::new();
    for g in (1..2u64 << log_n).step_by(2) {
        for first in (0..rows).step_by(lines) {
            let mut banks = vec![0; lines * rows];
            let (mut targets, mut turned) = (Vec::new(), vec![0; lines * rows]);
            for line in 0..lines {
                let row = first + line;
                targets.push(layout.turned(g, row, 0).0 as u64);
                for column in 0..rows {
                    let word = dice.bits() >> 32;
                    let from = layout.word(row, column);
                    let (to_row, to_column) = layout.turned(g, row, column);
                    let to = layout.word(to_row, to_column);
                    banks[line * rows + from.bank as usize] = word;
                    turned[line * rows + to.bank as usize] = word;
                }
            }
            items.push(Item {
                sides: vec![vec![g], vec![first as u64], banks],
                outputs: vec![targets, turned],
            });
        }
    }
    ranks.run(&items, &mut dice)
}

pub fn check_small_morphs(hdl: &Hdl, seed: u64) -> Check {
    check_morph(hdl, 3, 2, seed)
}

#[test]
fn every_automorphism_of_a_small_ring() {
    check_small_morphs(hdl(), seed()).unwrap();
}

/// Every automorphism is right for N = 256 and N = 16, in which the inverses take other numbers of products.
#[test]
#[ignore = "other rings; `make full` runs it"]
fn every_automorphism_of_other_rings() {
    check_morph(hdl(), 4, 1, seed()).unwrap();
    check_morph(hdl(), 2, 2, seed()).unwrap();
}
