// SPDX-License-Identifier: Apache-2.0
//! Tables with a value for each limb of a run: a vector for inputs, and a hash map for limbs that calls computed.
//! The hash costs one multiplication.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::unrolled::LimbId;

/// A hasher of limb numbers. Limbs are numbered in the order in which calls define them, so nobody
/// can choose numbers that collide.
#[derive(Clone, Copy, Default, Debug)]
pub struct ByNumber(u64);

impl Hasher for ByNumber {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        // 2^64 over the golden ratio. The table takes a place from the low bits, which the high bits of the product
        // vary best.
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed.rotate_left(26);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A hash map with limbs as keys, of a whole run (`LimbId`) or of one block.
pub type LimbMap<T, L = LimbId> = HashMap<L, T, BuildHasherDefault<ByNumber>>;

/// A table of values by limb. It has a value for each input of a program from the beginning, and
/// for each limb that was added.
#[derive(Clone, Debug)]
pub struct LimbTable<T> {
    inputs: Vec<T>,
    made: LimbMap<T>,
}

impl<T: Clone + Default> LimbTable<T> {
    /// Makes a table for a program with this number of inputs. The inputs are the limbs with the
    /// first numbers, and get the default value.
    pub fn new(inputs: usize) -> Self {
        Self {
            inputs: vec![T::default(); inputs],
            made: LimbMap::default(),
        }
    }

    pub fn get(&self, limb: LimbId) -> Option<&T> {
        match self.inputs.get(limb.0 as usize) {
            None => self.made.get(&limb),
            known => known,
        }
    }

    pub fn get_mut(&mut self, limb: LimbId) -> Option<&mut T> {
        match self.inputs.get_mut(limb.0 as usize) {
            None => self.made.get_mut(&limb),
            known => known,
        }
    }

    /// Returns the value of a limb in the table for reading and writing. A limb without a value gets the default
    /// value first.
    pub fn entry(&mut self, limb: LimbId) -> &mut T {
        match self.inputs.get_mut(limb.0 as usize) {
            None => self.made.entry(limb).or_default(),
            Some(known) => known,
        }
    }

    /// Removes the value of a limb from the table and returns it. An input keeps an entry, with the
    /// default value.
    pub fn remove(&mut self, limb: LimbId) -> Option<T> {
        match self.inputs.get_mut(limb.0 as usize) {
            None => self.made.remove(&limb),
            Some(known) => Some(std::mem::take(known)),
        }
    }

    /// Returns the number of limbs in the table that have a value and are no inputs.
    pub fn made(&self) -> usize {
        self.made.len()
    }
}
