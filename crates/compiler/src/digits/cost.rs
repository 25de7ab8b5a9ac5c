// SPDX-License-Identifier: Apache-2.0
//! Counts the word operations of a program, by which choices of key-switching digits are compared. Only those of key
//! switches depend on the digits. The others matter if two ring degrees are compared.

use std::collections::BTreeMap;
use std::ops::Range;

use ringmill_isa::macros::op::{MacroKeys, MacroNoise};
use ringmill_isa::macros::{MacroInstr, MacroProgram, MacroValue};

use crate::rewrite::is_cipher;
use crate::scheme::{Compiles, ErrorOf};

/// The cost of a product of words, in units of half a product. A transform has N / 2 butterflies for each bit of N, so
/// its cost is a whole number of units.
const PRODUCT: u64 = 2;
/// The cost of a product with a residue of a key, which comes from memory, in units of half a product.
const KEY_PRODUCT: u64 = 2 * PRODUCT;
/// The cost of a residue that is made from the seed of a key, once in each run of the program, in
/// units of half a product.
const EXPANDED: u64 = 4 * PRODUCT;

/// The moduli modulo which a product of two ciphertexts is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Products {
    /// The product is computed modulo the primes of the level alone.
    WithinQ,
    /// The product is computed modulo the primes of the level and about as many more, as in BFV.
    Extended,
}

/// The numbers of operations that a program carries out at one number of ciphertext primes.
#[derive(Clone, Copy, Default, Debug)]
struct Counts {
    /// The number of values that key switching decomposes into digits.
    decomposed: u64,
    /// The number of key switches. Rotations of one value share a decomposition into digits.
    switched: u64,
    /// The number of transforms of a limb outside of key switches.
    transforms: u64,
    /// The number of products of two limbs outside of key switches.
    products: u64,
}

/// The work of a program for each number of ciphertext primes, and the number of its keys. The work of its procedures
/// and bootstraps does not count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    by_primes: BTreeMap<usize, Counts>,
    keys: u64,
}

impl Work {
    /// Counts the work of a program's own instructions at parameters of its scheme. `primes` returns the number of
    /// ciphertext primes of a value.
    ///
    /// # Errors
    /// Fails for an instruction whose keys or automorphisms the scheme does not know.
    pub fn of<S: Compiles>(
        program: &MacroProgram,
        params: &S::Params,
        products: Products,
        primes: impl Fn(MacroValue) -> Option<usize>,
    ) -> Result<Self, ErrorOf<S>> {
        let mut work = Self {
            keys: S::keys(program, params, None)?.len() as u64,
            ..Self::default()
        };
        for instr in &program.instrs {
            let switched = match instr.op.columns().keys {
                MacroKeys::None | MacroKeys::Refresh | MacroKeys::Linked => 0,
                MacroKeys::Relin | MacroKeys::Switch => 1,
                MacroKeys::Galois | MacroKeys::Unknown => S::automorphisms(params, instr)?.len(),
            };
            let Some(primes) = instr.src.first().and_then(|&value| primes(value)) else {
                continue;
            };
            let counts = work.by_primes.entry(primes).or_default();
            counts.decomposed += u64::from(switched > 0);
            counts.switched += switched as u64;
            let (transforms, muls) = others(program, instr, primes as u64, products);
            counts.transforms += transforms;
            counts.products += muls;
        }
        Ok(work)
    }

    /// Returns the number of ciphertext primes of a value of a program with levels, or `None` for a
    /// value without a level.
    pub fn primes_of(managed: &MacroProgram, value: MacroValue) -> Option<usize> {
        let at = managed.types.get(value.0 as usize)?.at()?;
        Some(at.level.primes())
    }

    /// Returns the number of evaluation keys that the program needs.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// Returns the program's word operations with these key-switching digits, `special` special primes and `primes`
    /// primes in all. If `seeded`, half of each key is expanded from a seed. The unit is half a product of words.
    pub fn time(
        &self,
        log_n: u32,
        digits: &[Range<usize>],
        (special, primes): (u32, usize),
        seeded: bool,
    ) -> u64 {
        let (transform, special) = (u64::from(log_n), u64::from(special));
        let levels = self.by_primes.iter().map(|(&level, counts)| {
            let k = level as u64;
            let used = digits.iter().filter(|digit| digit.start < level);
            let lengths = used.map(|digit| (digit.end.min(level) - digit.start) as u64);
            let others = lengths.clone().map(|own| k + special - own);
            let extended: u64 = lengths.clone().zip(others.clone()).map(extension).sum();
            // A digit goes to coefficients, is extended to the other moduli, and is transformed there.
            let decomposed = transform * (k + others.sum::<u64>()) + extended;
            // After the products with both parts of the key, the division by P takes the special limbs to coefficients,
            // extends them, and transforms the result.
            let products = 2 * KEY_PRODUCT * lengths.count() as u64 * (k + special);
            let down = transform * (special + k) + extension((special, k)) + PRODUCT * k;
            let switched = products + 2 * down;
            let others = transform * counts.transforms + PRODUCT * counts.products;
            counts.decomposed * decomposed + counts.switched * switched + others
        });
        let residues = (digits.len() * primes) as u64;
        let expanded = match seeded {
            true => EXPANDED * residues * self.keys,
            false => 0,
        };
        (levels.sum::<u64>() + expanded) << log_n
    }
}

/// Returns the word operations to extend one coefficient from `from` to `to` moduli, in units of
/// half a product of words. One limb is reduced modulo each new modulus, and several are scaled and
/// summed.
fn extension((from, to): (u64, u64)) -> u64 {
    match from {
        1 => PRODUCT * to,
        from => PRODUCT * from * (1 + to),
    }
}

/// Returns the transforms and the products of limbs that an instruction on ciphertexts of k primes takes besides its
/// key switches.
fn others(program: &MacroProgram, instr: &MacroInstr, k: u64, products: Products) -> (u64, u64) {
    let ciphers = instr.src.iter().filter(|&&v| is_cipher(&program.types, v));
    let with_plain = instr.src.len() > ciphers.count();
    match (instr.op.columns().noise, products) {
        (MacroNoise::Product, _) if with_plain => (0, 2 * k),
        (MacroNoise::Product, Products::WithinQ) => (0, 4 * k),
        // Four polynomials are extended to 2k + 1 primes, and three are scaled back.
        (MacroNoise::Product, Products::Extended) => {
            (4 * (2 * k + 1) + 3 * (3 * k + 1), 10 * k * (k + 1))
        }
        (MacroNoise::Rounded, _) => (2 * k, 2 * k),
        (MacroNoise::Sum | MacroNoise::ConstantSum, _) => (0, k),
        (MacroNoise::ConstantProduct | MacroNoise::Quotient, _) => (0, 2 * k),
        // These compute nothing besides key switches, or the instructions that replace them are counted.
        (
            MacroNoise::Fresh
            | MacroNoise::Encoded
            | MacroNoise::Same
            | MacroNoise::Switched
            | MacroNoise::WrittenOut
            | MacroNoise::Refreshed
            | MacroNoise::Called
            | MacroNoise::Linked
            | MacroNoise::Unknown,
            _,
        ) => (0, 0),
    }
}
