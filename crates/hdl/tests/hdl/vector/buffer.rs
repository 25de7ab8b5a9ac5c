// SPDX-License-Identifier: Apache-2.0
//! Tests of the ciphertext buffer against its layout. Chunks of rows, of columns, and of rows that an automorphism
//! scatters are read and written in any order.

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::{BuildOptions, Hdl, Top};
use ringmill_isa::vector::Shape;
use ringmill_machines::vector::layout::Layout;

use crate::common::failure::{Check, ensure};
use crate::common::setup::{hdl, seed};
use crate::vector::ranks::pack;

const LIMBS: usize = 4;

/// The lines of an access: the rows of a limb with these numbers, or columns from the first one on.
#[derive(Clone, Debug)]
enum Lines {
    Rows(Vec<usize>),
    Columns(usize),
}

pub fn check_buffer(hdl: &Hdl, log_rows: u8, log_span: u8, seed: u64) -> Check {
    let mut dice = Dice::new(seed);
    let (rows, span) = (1usize << log_rows, 1usize << log_span);
    let layout = Layout::new(Shape {
        log_n: 2 * log_rows,
        log_radix: log_rows,
        log_lanes: log_rows + log_span,
        chunks: 64,
        registers: 4,
        distant: 0,
    });
    let per_limb = rows / span;
    let top = Top::new("rm_vector_ctb")
        .int("LogRows", log_rows.into())
        .int("LogSpan", log_span.into())
        .int("Depth", (LIMBS * per_limb) as u64);
    let mut model = hdl.model(&top, BuildOptions::default())?;
    let names = [
        "access_i",
        "write_i",
        "columns_i",
        "base_i",
        "rows_i",
        "lines_i",
    ];
    let [access, write, columns, base, rows_i, lines_i] = names.map(|name| model.input(name));
    let (access, write, columns) = (access?, write?, columns?);
    let (base, rows_i, lines_i) = (base?, rows_i?, lines_i?);
    let lines_o = model.output("lines_o")?;
    // The expected limbs, row after row. Every word is written before any is read.
    let mut limbs = vec![vec![0u32; rows * rows]; LIMBS];
    let at_first = LIMBS * per_limb;
    for turn in 0..at_first + 400 {
        let limb = if turn < at_first {
            turn / per_limb
        } else {
            dice.below(LIMBS as u64) as usize
        };
        let first = span
            * if turn < at_first {
                turn % per_limb
            } else {
                dice.below(per_limb as u64) as usize
            };
        let lines = match if turn < at_first { 0 } else { dice.below(3) } {
            0 => Lines::Rows((first..first + span).collect()),
            1 => Lines::Columns(first),
            _ => {
                let g = 2 * dice.below(1 << (2 * log_rows)) + 1;
                let turned = |row| layout.turned(g, row, 0).0;
                Lines::Rows((first..first + span).map(turned).collect())
            }
        };
        // The place in the limb of the word of bank `v` in line `l`.
        let place = |l: usize, v: usize| match &lines {
            Lines::Rows(of) => of[l] * rows + (v ^ of[l]),
            Lines::Columns(first) => (v ^ (first + l)) * rows + first + l,
        };
        let every = || (0..span).flat_map(|l| (0..rows).map(move |v| (l, v)));
        for (l, v) in every() {
            let (row, column) = (place(l, v) / rows, place(l, v) % rows);
            ensure!(
                layout.word(row, column).bank == v as u32,
                "the test's own layout"
            );
        }
        let writes = turn < at_first || dice.chance(2);
        let words: Vec<u32> = every().map(|_| dice.bits() as u32).collect();
        let numbers: Vec<u64> = match &lines {
            Lines::Rows(of) => of.iter().map(|&row| row as u64).collect(),
            Lines::Columns(first) => (0..span).map(|l| (first + l) as u64).collect(),
        };
        model.set(access, 1)?;
        model.set(write, writes.into())?;
        model.set(columns, matches!(lines, Lines::Columns(_)).into())?;
        model.set(base, (limb * per_limb) as u64)?;
        model.set_words(rows_i, &pack(numbers, log_rows.into()))?;
        model.set_words(lines_i, &words)?;
        model.step(1)?;
        let limb = &mut limbs[limb];
        if writes {
            for ((l, v), &word) in every().zip(&words) {
                limb[place(l, v)] = word;
            }
            continue;
        }
        // The words stay at the output while there is no access, whatever the other inputs are.
        model.set(access, 0)?;
        model.set(columns, dice.below(2))?;
        let rubbish = (0..span).map(|_| dice.below(rows as u64));
        model.set_words(rows_i, &pack(rubbish, log_rows.into()))?;
        model.step(dice.below(3))?;
        let want: Vec<u32> = every().map(|(l, v)| limb[place(l, v)]).collect();
        let got = model.get_words(lines_o)?;
        ensure!(got == want, "{lines:?}: {got:x?}, not {want:x?}");
    }
    Ok(())
}

pub fn check_small(hdl: &Hdl, seed: u64) -> Check {
    check_buffer(hdl, 3, 1, seed)
}

#[test]
fn rows_columns_and_scattered_rows() {
    check_small(hdl(), seed()).unwrap();
}

#[test]
#[ignore = "another size; `make full` runs it"]
fn buffer_of_radix_sixteen() {
    check_buffer(hdl(), 4, 1, seed()).unwrap();
    check_buffer(hdl(), 3, 2, seed()).unwrap();
}
