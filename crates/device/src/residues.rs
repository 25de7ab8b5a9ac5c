// SPDX-License-Identifier: Apache-2.0
//! Residues of ciphertexts, plaintexts and keys, in words of 32 bits if all moduli of the parameters are below 2^32.

use ringmill_math::kernels::{self, Store};
use ringmill_math::{MathError, Residues};
use zeroize::{DefaultIsZeroes, Zeroize, Zeroizing};

/// Residues of one ciphertext, plaintext or key modulo several moduli, limb by limb, in words of 32
/// or 64 bits.
#[derive(Clone, PartialEq, Debug)]
pub enum ResidueVec {
    Wide(Vec<u64>),
    /// Words of 32 bits, for parameters whose moduli are all below 2^32.
    Short(Vec<u32>),
}

impl Zeroize for ResidueVec {
    fn zeroize(&mut self) {
        match self {
            Self::Wide(words) => wipe(words),
            Self::Short(words) => wipe(words),
        }
    }
}

/// Overwrites all words with zeros like [`Vec::zeroize`], but in one loop. Without inlining, `zeroize` calls a
/// function for each word.
fn wipe<T: DefaultIsZeroes>(words: &mut Vec<T>) {
    words.spare_capacity_mut().zeroize();
    words.as_mut_slice().zeroize();
    words.clear();
}

impl ResidueVec {
    /// Packs residues into words of 32 bits if `short` is set, and of 64 bits otherwise. With `short` the caller
    /// ensures that the residues are below 2^32.
    pub fn packed(short: bool, residues: Vec<u64>) -> Self {
        match short {
            true => Self::Short(residues.into_iter().map(|x| x as u32).collect()),
            false => Self::Wide(residues),
        }
    }

    /// Packs secret residues as [`ResidueVec::packed`] does. With `short` it copies them and wipes the words of
    /// `residues`; otherwise the result takes these words over.
    ///
    /// # Errors
    /// None, because the packed vector is as long as `residues`.
    pub fn packed_secret(
        short: bool,
        mut residues: Zeroizing<Vec<u64>>,
    ) -> Result<Zeroizing<Self>, MathError> {
        if !short {
            return Ok(Zeroizing::new(Self::Wide(std::mem::take(&mut *residues))));
        }
        let mut short = Zeroizing::new(Self::zeros(true, residues.len()));
        short.put(0, Residues::Wide(&residues))?;
        Ok(short)
    }

    /// Returns `len` zeros, in words of 32 bits if `short` is set. The system zeroes them page by page as they are
    /// written.
    pub fn zeros(short: bool, len: usize) -> Self {
        match short {
            true => Self::Short(vec![0; len]),
            false => Self::Wide(vec![0; len]),
        }
    }

    /// Writes a limb from word `at` on. A limb that does not fit there is not written, without an error. If the vector
    /// has words of 32 bits, the caller ensures that the residues are below 2^32.
    ///
    /// # Errors
    /// None: as many words are replaced as the limb has.
    pub fn put(&mut self, at: usize, limb: Residues<'_>) -> Result<(), MathError> {
        let to = at..at.saturating_add(limb.len());
        match (self, limb) {
            (Self::Wide(words), Residues::Wide(limb)) => {
                if let Some(words) = words.get_mut(to) {
                    words.copy_from_slice(limb);
                }
            }
            (Self::Short(words), Residues::Short(limb)) => {
                if let Some(words) = words.get_mut(to) {
                    words.copy_from_slice(limb);
                }
            }
            (Self::Wide(words), Residues::Short(limb)) => {
                if let Some(words) = words.get_mut(to) {
                    kernels::widen(words, limb)?;
                }
            }
            (Self::Short(words), Residues::Wide(limb)) => {
                if let Some(words) = words.get_mut(to) {
                    kernels::narrow(words, limb, Store::Cached)?;
                }
            }
        }
        Ok(())
    }

    /// Returns a vector of the first `len` residues.
    pub fn first(&self, len: usize) -> Self {
        match self {
            Self::Wide(words) => Self::Wide(words.iter().take(len).copied().collect()),
            Self::Short(words) => Self::Short(words.iter().take(len).copied().collect()),
        }
    }

    /// Returns all residues of the vector, limb by limb.
    pub fn residues(&self) -> Residues<'_> {
        match self {
            Self::Wide(words) => Residues::Wide(words),
            Self::Short(words) => Residues::Short(words),
        }
    }

    /// Converts the residues to words of 64 bits.
    pub fn into_wide(self) -> Vec<u64> {
        match self {
            Self::Wide(words) => words,
            Self::Short(words) => words.into_iter().map(u64::from).collect(),
        }
    }

    /// Returns the number of residues.
    pub fn len(&self) -> usize {
        self.residues().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of memory that the residues take.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Wide(words) => size_of_val(words.as_slice()) as u64,
            Self::Short(words) => size_of_val(words.as_slice()) as u64,
        }
    }

    /// Returns whether all residues are 0.
    pub fn is_zero(&self) -> bool {
        match self {
            Self::Wide(words) => words.iter().all(|&x| x == 0),
            Self::Short(words) => words.iter().all(|&x| x == 0),
        }
    }

    /// Returns limb number `index` of the `count` equally long limbs that the vector consists of, or `None` if there is
    /// no such limb.
    pub fn limb(&self, index: usize, count: usize) -> Option<Residues<'_>> {
        let n = self.len().checked_div(count)?;
        let range = index.checked_mul(n)?..(index + 1).checked_mul(n)?;
        self.residues().get(range)
    }
}
