// SPDX-License-Identifier: Apache-2.0
//! The errors of files in Microsoft SEAL's format.

use std::fmt;

use ringmill_limits::{Halt, human};

use super::source::MOST_UNPACKED;
use crate::rlwe::RlweError;

/// The kind of SEAL object that an error message names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Object {
    Parameters,
    Modulus,
    Plaintext,
    Ciphertext,
    Array,
    GeneratorInfo,
    PublicKey,
    SecretKey,
    KeySwitchDigit,
    RelinKeys,
    GaloisKeys,
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Object::Parameters => "encryption parameters",
            Object::Modulus => "modulus",
            Object::Plaintext => "plaintext",
            Object::Ciphertext => "ciphertext",
            Object::Array => "data array",
            Object::GeneratorInfo => "generator seed",
            Object::PublicKey => "public key",
            Object::SecretKey => "secret key",
            Object::KeySwitchDigit => "key-switching key digit",
            Object::RelinKeys => "relinearisation keys",
            Object::GaloisKeys => "Galois keys",
        })
    }
}

/// The error of bytes in SEAL's format that are refused, or of an object of Ringmill that cannot be written in
/// SEAL's format.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    #[error(
        "SEAL {object}: the file ends early: {needed} more bytes were expected, {left} are left; copy the file again"
    )]
    Truncated {
        object: Object,
        needed: u64,
        left: u64,
    },

    #[error(
        "SEAL {object}: expected SEAL's magic number 0xA15E, found {found:#06X}; this is not a file that SEAL's save() wrote"
    )]
    NotSeal { object: Object, found: u16 },

    #[error(
        "SEAL {object}: expected a header of 16 bytes, its header says {found}; this is not a file of SEAL 3.6 or later"
    )]
    HeaderSize { object: Object, found: u8 },

    #[error(
        "SEAL {object}: expected a file of SEAL 3.6 or later, 4.x included, found version {major}.{minor}; {}",
        cure(*major, *minor)
    )]
    Version {
        object: Object,
        major: u8,
        minor: u8,
    },

    #[error(
        "SEAL {object}: unknown compression mode {found} (known: 0 none, 1 zlib, 2 Zstandard); save it with one of those"
    )]
    Compression { object: Object, found: u8 },

    #[error(
        "SEAL {object}: expected {expected} bytes, its header says {found}; the file is damaged or of other parameters"
    )]
    Size {
        object: Object,
        expected: u64,
        found: u64,
    },

    #[error("SEAL {object}: {left} bytes are left over after its end; the file is damaged")]
    Trailing { object: Object, left: u64 },

    #[error("SEAL {object}: decompression failed: {reason}; copy the file again")]
    Decompress { object: Object, reason: String },

    #[error(
        "SEAL {object}: it takes more than the {} of memory allowed; raise the limit (--max-memory, RINGMILL_MAX_MEMORY or ringmill.limits) if you trust its source",
        human(*budget)
    )]
    Budget { object: Object, budget: u64 },

    #[error(
        "SEAL {object}: its {packed} bytes unpack to more than {MOST_UNPACKED} times as many, which no uniform residues do; it is made to exhaust memory"
    )]
    Packed { object: Object, packed: u64 },

    #[error("{0}")]
    Halt(#[from] Halt),

    #[error("SEAL {object}: {field}: expected {expected}, found {found}; {hint}")]
    Field {
        object: Object,
        field: &'static str,
        expected: String,
        found: String,
        hint: &'static str,
    },

    #[error(
        "SEAL {object}: its parms_id {found} is none of these parameters' levels; load the parameters that it was made with"
    )]
    UnknownParmsId { object: Object, found: String },

    #[error(
        "SEAL {object}: word {index} is {value}, not below its modulus {modulus}; the file is damaged or of other parameters"
    )]
    Residue {
        object: Object,
        index: u64,
        value: u64,
        modulus: u64,
    },

    #[error(
        "SEAL {object}: its random half is a seed of generator type {found}; only Blake2xb (1) is expanded here: save it from SEAL unseeded (create it into an object, then save that object)"
    )]
    Generator { object: Object, found: u8 },

    #[error("SEAL has no counterpart of these parameters: {reason}")]
    Unsupported { reason: String },

    #[error(transparent)]
    Scheme(#[from] crate::ckks::CkksError),

    #[error(transparent)]
    Bfv(#[from] crate::bfv::BfvError),

    #[error(transparent)]
    Bgv(#[from] crate::bgv::BgvError),

    #[error(transparent)]
    Exact(#[from] crate::exact::ExactError),

    #[error(transparent)]
    Rlwe(#[from] RlweError),
}

impl SealError {
    /// Makes the error of a field of a SEAL file with an impossible value.
    pub(super) fn field(
        object: Object,
        field: &'static str,
        expected: impl fmt::Display,
        found: impl fmt::Display,
    ) -> Self {
        Self::hinted(
            object,
            field,
            expected,
            found,
            "the file is damaged or of other parameters",
        )
    }

    pub(super) fn hinted(
        object: Object,
        field: &'static str,
        expected: impl fmt::Display,
        found: impl fmt::Display,
        hint: &'static str,
    ) -> Self {
        SealError::Field {
            object,
            field,
            expected: expected.to_string(),
            found: found.to_string(),
            hint,
        }
    }
}

/// Returns advice on how to make a file of another SEAL version readable. SEAL 4 loads files of 3.4 and later.
fn cure(major: u8, minor: u8) -> &'static str {
    match (major, minor) {
        (3, 4..) => "load it in SEAL 4 and save it again",
        _ => "SEAL 4 does not load it either: make what it holds anew, in SEAL 3.6 to 4.x",
    }
}
