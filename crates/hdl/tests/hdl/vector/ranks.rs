// SPDX-License-Identifier: Apache-2.0
//! A driver for data paths whose registers form ranks. Items move on independently, with random stalls. An item's
//! inputs are set when the rank that reads them takes the item; in other cycles they are random.

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::{HdlError, In, Model, Out};

use crate::common::failure::{Check, ensure};

/// Packs elements of `width` bits into a port's words of 32 bits, the first element lowest.
pub fn pack(elements: impl IntoIterator<Item = u64>, width: u32) -> Vec<u32> {
    let mut words = Vec::new();
    let (mut left, mut bits) = (0u128, 0u32);
    for element in elements {
        left |= u128::from(element) << bits;
        bits += width;
        while bits >= 32 {
            words.push(left as u32);
            left >>= 32;
            bits -= 32;
        }
    }
    if bits > 0 {
        words.push(left as u32);
    }
    words
}

/// Unpacks a port's words into elements of `width` bits, as many as fit: the inverse of [`pack`].
pub fn unpack(words: &[u32], width: u32) -> Vec<u64> {
    let bit = |at: u32| {
        let word = words.get(at as usize / 32).copied().unwrap_or(0);
        u64::from(word >> (at % 32) & 1)
    };
    let count = 32 * words.len() as u32 / width;
    let element = |at: u32| (0..width).map(|k| bit(at * width + k) << k).sum();
    (0..count).map(element).collect()
}

/// The parts of a port that different ranks read, in order, each with its rank and its number of elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parts(Vec<(usize, usize)>);

impl Parts {
    /// Returns a part for each of these ranks. The part with number i has `count(i)` elements.
    pub fn of(ranks: &[usize], count: impl Fn(usize) -> usize) -> Self {
        let parts = ranks.iter().enumerate();
        Self(parts.map(|(part, &rank)| (rank, count(part))).collect())
    }
}

/// An input port of the data path.
#[derive(Clone, Debug)]
pub struct Side {
    pub name: &'static str,
    /// The number of bits of an element.
    pub width: u32,
    /// The number of an item's elements, unless the port has parts.
    pub count: usize,
    pub of: Of,
}

/// The ranks that read a port, and when its elements are those of an item.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Of {
    /// The port has the elements of the item that this rank takes.
    Rank(usize),
    /// The port has a place for each rank, with the elements of the item that the rank takes.
    Every,
    /// Each part has elements of the item that its rank takes. An item has the elements of all parts, one after
    /// another.
    Parts(Parts),
}

/// An item: its elements for each input port, and its expected elements at each output.
#[derive(Clone, Debug)]
pub struct Item {
    pub sides: Vec<Vec<u64>>,
    pub outputs: Vec<Vec<u64>>,
}

/// A model of a data path with its ports.
pub struct Ranks {
    pub model: Model,
    move_i: In,
    stages: usize,
    sides: Vec<(In, Side)>,
    outputs: Vec<(Out, u32)>,
}

impl Ranks {
    /// Connects a data path of `stages` ranks. Outputs are given by name and bits of an element.
    pub fn new(
        model: Model,
        stages: usize,
        sides: &[Side],
        outputs: &[(&str, u32)],
    ) -> Result<Self, HdlError> {
        Ok(Self {
            move_i: model.input("move_i")?,
            stages,
            sides: sides
                .iter()
                .map(|side| Ok((model.input(side.name)?, side.clone())))
                .collect::<Result<_, HdlError>>()?,
            outputs: outputs
                .iter()
                .map(|&(name, width)| Ok((model.output(name)?, width)))
                .collect::<Result<_, HdlError>>()?,
            model,
        })
    }

    /// Runs items through a restarted model and checks their results. The first half follow each other without a gap;
    /// then the end stalls, bubbles come in, and items stay behind.
    pub fn run(&mut self, items: &[Item], dice: &mut Dice) -> Check {
        self.model.restart(dice.bits() as u32)?;
        self.go(items, dice)
    }

    /// Runs items as [`Self::run`] does, on a model that keeps the contents of its memories.
    pub fn go(&mut self, items: &[Item], dice: &mut Dice) -> Check {
        let mut inside: Vec<Option<usize>> = vec![None; self.stages];
        let (mut next, mut left) = (0, 0);
        while left < items.len() {
            let easy = left < items.len() / 2;
            // The item that each rank takes, decided from the end to the front.
            let mut takes: Vec<Option<usize>> = vec![None; self.stages];
            let mut free = easy || !dice.chance(3);
            for stage in (0..self.stages).rev() {
                let here = inside[stage];
                let goes = here.is_some() && free && (easy || !dice.chance(8));
                if stage + 1 == self.stages && goes {
                    left += 1;
                } else if goes {
                    takes[stage + 1] = here;
                }
                if goes {
                    inside[stage] = None;
                }
                free = inside[stage].is_none();
            }
            if free && next < items.len() && (easy || !dice.chance(4)) {
                takes[0] = Some(next);
                next += 1;
            }
            self.drive(items, &takes, dice)?;
            self.model.step(1)?;
            for (stage, taken) in takes.into_iter().enumerate() {
                inside[stage] = taken.or(inside[stage]);
            }
            if let Some(last) = inside[self.stages - 1] {
                self.leaves(&items[last])?;
            }
        }
        Ok(())
    }

    fn drive(&mut self, items: &[Item], takes: &[Option<usize>], dice: &mut Dice) -> Check {
        let moves = takes.iter().map(|taken| u64::from(taken.is_some()));
        self.model.set_words(self.move_i, &pack(moves, 1))?;
        for (number, (port, side)) in self.sides.iter().enumerate() {
            let mut some = |taken: Option<usize>, from: usize, count: usize| match taken {
                Some(item) => items[item].sides[number][from..from + count].to_vec(),
                None => {
                    let rubbish = |_| dice.bits() >> (64 - side.width);
                    (0..count).map(rubbish).collect::<Vec<u64>>()
                }
            };
            let count = side.count;
            let elements: Vec<u64> = match &side.of {
                Of::Rank(rank) => some(takes[*rank], 0, count),
                Of::Every => takes
                    .iter()
                    .flat_map(|&taken| some(taken, 0, count))
                    .collect(),
                Of::Parts(Parts(parts)) => {
                    let mut first = 0;
                    let mut all = Vec::new();
                    for &(rank, count) in parts {
                        all.extend(some(takes[rank], first, count));
                        first += count;
                    }
                    all
                }
            };
            self.model.set_words(*port, &pack(elements, side.width))?;
        }
        Ok(())
    }

    fn leaves(&self, item: &Item) -> Check {
        for (&(port, width), want) in self.outputs.iter().zip(&item.outputs) {
            let mut got = unpack(&self.model.get_words(port)?, width);
            got.truncate(want.len());
            ensure!(
                got == *want,
                "{port:?}: {got:x?}, not {want:x?} of {:x?}",
                item.sides
            );
        }
        Ok(())
    }
}
