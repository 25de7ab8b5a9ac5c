// SPDX-License-Identifier: Apache-2.0
//! Tests the order in which a transform's passes go over the rows of a limb.

use ringmill_machines::ring::passes::Passes;

fn shapes() -> impl Iterator<Item = Passes> {
    let shape = |(log_n, log_row, stages)| Passes {
        log_n,
        log_row,
        stages,
    };
    // The sizes of `ring` and `ring-stored`, and those of small machines in tests. Among them are odd numbers of
    // stages, and rings of one row.
    let shapes = [
        (14, 5, 1),
        (14, 5, 2),
        (15, 5, 2),
        (13, 5, 2),
        (10, 4, 1),
        (10, 4, 2),
        (9, 4, 2),
        (6, 3, 2),
        (5, 5, 2),
    ];
    shapes.into_iter().map(shape)
}

fn reversed(x: usize, bits: u32) -> usize {
    (0..bits).fold(0, |r, i| r << 1 | (x >> i & 1))
}

#[test]
fn every_row_has_one_coefficient_a_column_and_every_pass_takes_all() {
    for s in shapes() {
        let (row, steps) = (1usize << s.log_row, 1usize << s.log_steps());
        for pass in 0..s.count() {
            let mut seen = vec![false; row * steps];
            for step in 0..steps {
                let mut columns = 0u64;
                for lane in 0..row {
                    let x = s.index(pass, step, lane);
                    assert!(!std::mem::replace(&mut seen[x], true), "{s:?} pass {pass}");
                    columns |= 1 << s.column(x);
                    // Both coefficients of each butterfly are in the row.
                    for pair in s.pairs(pass) {
                        let other = lane ^ 1 << (pair - s.window(pass));
                        assert_eq!(s.index(pass, step, other), x ^ 1 << pair, "{s:?}");
                    }
                }
                assert_eq!(columns.count_ones(), row as u32, "{s:?} pass {pass} {step}");
            }
        }
    }
}

/// A step of a pass reads only rows that the pass before wrote at least steps / 2^stages steps earlier, in both
/// directions of the transform.
#[test]
fn no_step_reads_what_was_written_just_before() {
    for s in shapes() {
        let (row, steps) = (1usize << s.log_row, 1usize << s.log_steps());
        let mut least = usize::MAX;
        let passes = 0..s.count().saturating_sub(1);
        for (from, to) in passes.flat_map(|p| [(p, p + 1), (p + 1, p)]) {
            let mut written = vec![0; row * steps];
            for step in 0..steps {
                (0..row).for_each(|lane| written[s.index(from, step, lane)] = step);
            }
            for step in 0..steps {
                for lane in 0..row {
                    least = least.min(steps + step - written[s.index(to, step, lane)]);
                }
            }
        }
        assert!(least >= steps >> s.stages, "{s:?}: {least}");
        if (s.log_n, s.stages) == (14, 2) {
            assert_eq!(least, 128);
        }
    }
}

/// The forward twiddle of block i of a stage of 2^k blocks is psi to the power (2 rev(i) + 1) N / 2^(k+1). Over the
/// steps of a pass rev(i) goes up by one from the butterfly's first value, and begins again after 2^u steps. So one
/// factor makes each twiddle from the one before, and a table can have the twiddles in the order of its addresses.
#[test]
fn twiddles_of_a_butterfly_go_up_one_by_one() {
    for s in shapes() {
        let (row, steps) = (1usize << s.log_row, 1usize << s.log_steps());
        for pass in 0..s.count() {
            let repeat = 1usize << s.log_repeat(pass);
            for pair in s.pairs(pass) {
                let k = s.log_n - 1 - pair;
                let block = |step, lane| reversed(s.index(pass, step, lane) >> (pair + 1), k);
                for lane in 0..row {
                    let first = block(0, lane);
                    for step in 0..steps {
                        assert_eq!(block(step, lane), first + step % repeat, "{s:?} {pass}");
                    }
                }
                // In stage i of a pass at most row / 2^(i+1) lanes have different blocks, and so different twiddles.
                let lanes: std::collections::HashSet<_> = (0..row).map(|l| block(0, l)).collect();
                let place = pair - s.pairs(pass).start;
                assert!(lanes.len() <= row >> (place + 1), "{s:?} {pass}");
            }
        }
    }
}

/// A step of the inverse transform takes the row of the complement of the step, with all lane bits complemented except
/// the pair's. If the forward transform meets block i in a step, the inverse transform meets block j in that step, with
/// rev(i) + rev(j) = 2^k - 1. The inverse of its twiddle is the negative of the forward twiddle, which for half rings
/// belongs to the other half.
#[test]
fn the_inverse_meets_the_mirrored_block() {
    for s in shapes() {
        let (row, steps) = (1usize << s.log_row, 1usize << s.log_steps());
        for pass in 0..s.count() {
            for pair in s.pairs(pass) {
                let k = s.log_n - 1 - pair;
                let keep = 1usize << (pair - s.window(pass));
                for (step, lane) in (0..steps).flat_map(|t| (0..row).map(move |l| (t, l))) {
                    let forward = s.index(pass, step, lane) >> (pair + 1);
                    let mirrored = !lane & (row - 1) & !keep | lane & keep;
                    let inverse = s.index(pass, steps - 1 - step, mirrored) >> (pair + 1);
                    let (f, i) = (reversed(forward, k), reversed(inverse, k));
                    assert_eq!(f + i, (1 << k) - 1, "{s:?} pass {pass}");
                }
            }
        }
    }
}
