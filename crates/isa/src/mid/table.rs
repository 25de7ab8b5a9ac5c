// SPDX-License-Identifier: Apache-2.0
//! Tables by limb: inputs by their number, limbs that calls made by a hash that costs a multiplication.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::unrolled::LimbId;

/// Spreads a number over all bits. Limbs are numbered in the order of their making, so nobody can choose numbers that
/// meet.
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
        // 2^64 over the golden ratio. The table takes its place from the low bits, which the product's high ones vary best.
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed.rotate_left(26);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A map by limb, of the run or of a frame.
pub type LimbMap<T, L = LimbId> = HashMap<L, T, BuildHasherDefault<ByNumber>>;

/// What is known of each limb: a value for each input from the beginning, one for each other limb that was given one.
#[derive(Clone, Debug)]
pub struct LimbTable<T> {
    inputs: Vec<T>,
    made: LimbMap<T>,
}

impl<T: Clone + Default> LimbTable<T> {
    /// For a program of so many inputs, which are the first limbs.
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

    /// The limb's value, the default one if it had none.
    pub fn entry(&mut self, limb: LimbId) -> &mut T {
        match self.inputs.get_mut(limb.0 as usize) {
            None => self.made.entry(limb).or_default(),
            Some(known) => known,
        }
    }

    /// The limb has no value any more; an input's is the default one again.
    pub fn remove(&mut self, limb: LimbId) -> Option<T> {
        match self.inputs.get_mut(limb.0 as usize) {
            None => self.made.remove(&limb),
            Some(known) => Some(std::mem::take(known)),
        }
    }

    /// Limbs other than inputs that have one.
    pub fn made(&self) -> usize {
        self.made.len()
    }
}
