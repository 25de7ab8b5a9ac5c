// SPDX-License-Identifier: Apache-2.0
//! The constant vectors of a traced program. Equal vectors are stored once, however often a loop of the front end
//! writes them.

use std::collections::HashMap;

use super::Slot;
use super::node::Home;

/// A constant vector of a traced program.
#[derive(Debug)]
pub(super) struct Constant {
    pub values: Vec<Slot>,
    /// The vector's index in the program's `data`, or `None` before its first use.
    pub data: Option<u32>,
    /// The value that the last `ENCODE` instruction of this vector wrote, with the frame (program,
    /// procedure or repeat's body) of that instruction.
    pub encoded: Option<Home>,
}

/// The constant vectors of a traced program, all different from each other, bit for bit.
#[derive(Debug, Default)]
pub(super) struct Constants {
    all: Vec<Constant>,
    by_hash: HashMap<u64, Vec<u32>>,
}

impl Constants {
    /// Returns the number of a constant vector among the vectors stored here. Stores the vector if no equal one is
    /// stored.
    pub fn number(&mut self, values: Vec<Slot>) -> u32 {
        let known = self.by_hash.entry(hash(&values)).or_default();
        let bits = |&(re, im): &Slot| (re.to_bits(), im.to_bits());
        let same = |n: &&u32| {
            let other = self.all.get(**n as usize);
            other.is_some_and(|other| other.values.iter().map(bits).eq(values.iter().map(bits)))
        };
        if let Some(&number) = known.iter().find(same) {
            return number;
        }
        let number = self.all.len() as u32;
        known.push(number);
        self.all.push(Constant {
            values,
            data: None,
            encoded: None,
        });
        number
    }

    pub fn get(&self, number: u32) -> Option<&Constant> {
        self.all.get(number as usize)
    }

    pub fn get_mut(&mut self, number: u32) -> Option<&mut Constant> {
        self.all.get_mut(number as usize)
    }
}

/// Returns a hash of a vector's values. It takes one multiplication for each word, since vectors are long, and vectors
/// with equal hashes are compared anyway.
fn hash(values: &[Slot]) -> u64 {
    let words = values
        .iter()
        .flat_map(|(re, im)| [re.to_bits(), im.to_bits()]);
    words.fold(values.len() as u64, |hash, word| {
        (hash.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}
