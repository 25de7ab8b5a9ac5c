// SPDX-License-Identifier: Apache-2.0
//! The parameters for which a base-extension unit is built: lanes, degrees, bases and word size.

use super::BasextError;

/// log2 of the smallest ring degree of a unit. The unit's rings have 2^8 to 2^16 coefficients.
pub const MIN_LOG_N: u32 = 8;
pub const TOP_LOG_N: u32 = 16;
/// The most source moduli of a unit, and also the most target moduli.
pub const MAX_BASE: usize = 64;
/// The most bits of one beat of a unit's stream, the width of the memory port in Kırbıyık's thesis.
const PORT_BITS: usize = 2048;

/// The width of a word in the unit's streams, which bounds the moduli.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Word {
    /// The unit's streams have words of 32 bits, and its moduli are below 2^32.
    Bits32,
    /// The unit's streams have words of 64 bits, and its moduli are below 2^61.
    Bits64,
}

impl Word {
    /// Returns the bits of one word in the unit's streams.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bits32 => 32,
            Self::Bits64 => 64,
        }
    }

    /// Returns the most bits that a modulus of the unit can have.
    pub fn modulus_bits(self) -> u32 {
        match self {
            Self::Bits32 => 32,
            Self::Bits64 => 61,
        }
    }

    /// Returns log2 of the Montgomery factor R by which the unit's constants are multiplied.
    pub fn log_r(self) -> u32 {
        self.bits()
    }
}

/// The kind of base extension of an integer A, given by its residues modulo sources with the
/// product Q. The exact extension returns the residues of A (Kırbıyık's thesis, Algorithm 2). The
/// fast one returns the residues of A plus a small multiple of Q (Algorithm 1 there).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Extension {
    Exact,
    Fast,
}

/// The parameters for which a base-extension unit is built. Extensions must stay within its maxima.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    word: Word,
    lanes: usize,
    min_log_n: u32,
    max_log_n: u32,
    max_l: usize,
    max_k: usize,
}

impl Shape {
    /// Checks the parameters of a unit: `lanes` coefficients in a cycle (TP in Kırbıyık's thesis), rings of 2^`log_n`
    /// coefficients, at most `max_l` source and `max_k` target moduli.
    ///
    /// # Errors
    /// [`BasextError::Shape`] for lanes that are no power of two or fill more than 2048 bits, and for degrees or
    /// numbers of moduli out of range.
    pub fn new(
        word: Word,
        lanes: usize,
        log_n: std::ops::RangeInclusive<u32>,
        max_l: usize,
        max_k: usize,
    ) -> Result<Self, BasextError> {
        let refuse = |what, expected: String, got: u64| {
            Err(BasextError::Shape {
                what,
                expected,
                got,
            })
        };
        let most = (PORT_BITS / word.bits() as usize).min(64);
        if !lanes.is_power_of_two() || lanes > most {
            let expected = format!("a power of two up to {most}");
            return refuse("the number of lanes", expected, lanes as u64);
        }
        let (min_log_n, max_log_n) = (*log_n.start(), *log_n.end());
        if min_log_n < MIN_LOG_N || min_log_n > max_log_n || max_log_n > TOP_LOG_N {
            let got = if min_log_n < MIN_LOG_N {
                min_log_n
            } else {
                max_log_n
            };
            let expected = format!("a range within {MIN_LOG_N} to {TOP_LOG_N}");
            return refuse("log N", expected, u64::from(got));
        }
        for (what, got) in [
            ("the number of source moduli", max_l),
            ("the number of target moduli", max_k),
        ] {
            if !(1..=MAX_BASE).contains(&got) {
                return refuse(what, format!("1 to {MAX_BASE}"), got as u64);
            }
        }
        Ok(Self {
            word,
            lanes,
            min_log_n,
            max_log_n,
            max_l,
            max_k,
        })
    }

    pub fn word(self) -> Word {
        self.word
    }

    /// Returns the number of coefficients that the unit takes in a cycle.
    pub fn lanes(self) -> usize {
        self.lanes
    }

    pub fn min_log_n(self) -> u32 {
        self.min_log_n
    }

    pub fn max_log_n(self) -> u32 {
        self.max_log_n
    }

    pub fn max_l(self) -> usize {
        self.max_l
    }

    pub fn max_k(self) -> usize {
        self.max_k
    }

    /// Returns the exponent b for which every modulus of the unit must be 1 modulo 2^b.
    pub fn low(self) -> u32 {
        self.min_log_n + 1
    }

    /// Returns the number of beats in which a limb of 2^`log_n` coefficients passes a stream of the unit.
    pub fn beats(self, log_n: u32) -> u64 {
        (1 << log_n) / self.lanes as u64
    }
}
