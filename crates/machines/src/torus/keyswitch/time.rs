// SPDX-License-Identifier: Apache-2.0
//! How long a switch takes, and what it cannot be faster than.

use super::clock::{Clock, Command, Inputs};
use super::{BLOCK_WORDS, Shape};

/// What a switch needs at least, whatever the unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Floor {
    /// Rows of the key: N t.
    pub rows: u64,
    /// Words of masks: N t n, every row's its own.
    pub mask_words: u64,
    /// Blocks of key stream: N t ceil(n / 16).
    pub blocks: u64,
}

impl Floor {
    /// For t = `levels` digits a word.
    pub fn of(large: usize, levels: usize, small: usize) -> Self {
        let rows = (large * levels) as u64;
        Self {
            rows,
            mask_words: rows * small as u64,
            blocks: rows * small.div_ceil(BLOCK_WORDS) as u64,
        }
    }

    /// Cycles in which the unit's generators make these blocks.
    pub fn cycles(self, shape: Shape) -> u64 {
        let rate = shape.generators().cores as u64;
        (self.blocks * shape.turns()).div_ceil(rate)
    }
}

/// Cycles from a command to its done bit, where no stream stalls, for up to `Shape::batch` ciphertexts.
pub fn cycles(shape: Shape, command: Command) -> u64 {
    let (large, small) = (usize::from(command.large), usize::from(command.small));
    let rows = (large * shape.digits().levels) as u64;
    let passes = shape.passes(small);
    let before = (passes - 1) as usize * shape.lanes();
    let words = u64::from(command.count) * (small - before + 1) as u64;
    let of_pass = u64::from(command.count) * shape.lanes() as u64;
    // A pass's words have left when the next one's last row comes.
    if shape.turns() == 1 && rows > shape.latency() + of_pass + 2 {
        return passes * (rows + 1) + shape.latency() + words + 2;
    }
    replay(shape, command)
}

fn replay(shape: Shape, command: Command) -> u64 {
    let mut clock = Clock::new(shape);
    let rows = u64::from(command.large) * shape.digits().levels as u64;
    let (mut given, mut cycle) = (0, 0);
    loop {
        let shown = clock.shown();
        if shown.done.is_some() {
            return cycle;
        }
        clock.step(Inputs {
            command: (cycle == 0).then_some(command),
            body: (given < rows).then_some(given + 1 == rows),
            take: true,
        });
        given += u64::from(shown.body_ready && given < rows);
        cycle += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Digits, Generators};
    use super::*;

    fn shape(batch: usize, cores: usize, rounds: u32, steps: u32) -> Shape {
        let generators = Generators {
            cores,
            rounds,
            steps,
        };
        let digits = Digits {
            log_base: 1,
            levels: 15,
        };
        Shape::new(batch, generators, digits, (1024, 630)).unwrap()
    }

    fn command(large: u16, small: u16, count: u8) -> Command {
        Command {
            large,
            small,
            count,
        }
    }

    #[test]
    fn the_formula_is_the_replay() {
        for shape in [shape(2, 1, 20, 1), shape(3, 2, 20, 2)] {
            for (large, small, count) in [(16, 37, 2), (20, 16, 1), (16, 64, 2), (31, 70, 1)] {
                let command = command(large, small, count);
                assert_eq!(
                    cycles(shape, command),
                    replay(shape, command),
                    "{command:?}"
                );
            }
        }
    }

    /// The 128-bit set: within a five-hundredth of the floor where blocks fill passes.
    #[test]
    fn a_switch_is_near_its_floor() {
        let floor = Floor::of(1024, 15, 630);
        assert_eq!(floor.mask_words, 9_676_800);
        assert_eq!(floor.blocks, 614_400);
        for (cores, steps) in [(1, 1), (2, 2)] {
            let shape = shape(12, cores, 20, steps);
            let found = cycles(shape, command(1024, 630, 12));
            let floor = floor.cycles(shape);
            assert!(
                found > floor && found < floor + floor / 500,
                "{found} {floor}"
            );
        }
    }

    /// Generators that fold their rounds keep every place taken.
    #[test]
    fn folded_generators_take_as_many_times_longer() {
        for (rounds, turns) in [(10, 2), (4, 5), (2, 10)] {
            let shape = shape(1, 1, rounds, 2);
            let found = cycles(shape, command(64, 20, 1));
            let floor = Floor::of(64, 15, 20).cycles(shape);
            assert_eq!(floor, 64 * 15 * 2 * turns);
            assert!(
                found > floor && found < floor + floor / 40 + 200,
                "{found} {floor}"
            );
        }
    }
}
