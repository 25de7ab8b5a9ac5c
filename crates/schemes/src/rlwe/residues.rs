//! Residues of switching keys, which are the most that a server holds: in words of 32 bits where all moduli allow it.

use ringmill_math::Residues;

use super::params::Params;

/// Residues over some moduli, limb-major.
#[derive(Clone, PartialEq, Debug)]
pub enum ResidueVec {
    Wide(Vec<u64>),
    /// Of parameters with [`Params::short_words`].
    Short(Vec<u32>),
}

impl ResidueVec {
    /// As these parameters hold them. Residues are below their moduli.
    pub(crate) fn packed(params: &Params, residues: Vec<u64>) -> Self {
        match params.short_words() {
            true => Self::Short(residues.into_iter().map(|x| x as u32).collect()),
            false => Self::Wide(residues),
        }
    }

    /// All of them.
    pub fn residues(&self) -> Residues<'_> {
        match self {
            Self::Wide(words) => Residues::Wide(words),
            Self::Short(words) => Residues::Short(words),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.residues().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory that they take.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Wide(words) => size_of_val(words.as_slice()) as u64,
            Self::Short(words) => size_of_val(words.as_slice()) as u64,
        }
    }

    /// Limb `index` of `count`.
    pub(crate) fn limb(&self, index: usize, count: usize) -> Option<Residues<'_>> {
        let n = self.len().checked_div(count)?;
        let range = index.checked_mul(n)?..(index + 1).checked_mul(n)?;
        self.residues().get(range)
    }
}
