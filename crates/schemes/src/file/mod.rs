// SPDX-License-Identifier: Apache-2.0
//! Reads and writes files of parameters, plaintexts, ciphertexts and keys. All schemes share a versioned container with
//! a checksum and the scheme's number (docs/files.md). The ring schemes also share their objects. Every byte string is
//! hostile until it has been checked. Sizes are compared with what the parameters imply before anything is allocated.
//! Residues must be below their moduli, identities must match, and nothing may follow the end.
//! [`ringmill_device::whole_file`] writes the bytes to disk.
#![deny(clippy::arithmetic_side_effects)]

mod accepted;
mod container;
mod counted;
mod evaluation_keys;
mod further;
mod message;
mod objects;
mod params;
mod switching;

pub use accepted::{Accepted, AcceptedTables, InsecureParams};
pub(crate) use container::limb_bytes;
pub use container::{Header, Reader, Writer, open};
pub(crate) use counted::{account_of, secret_key_bytes, write_counted_secret_key};
pub use evaluation_keys::{read_evaluation_keys, write_evaluation_keys};
pub use further::{FurtherKeys, read_further_keys, write_further_keys};
pub use message::{Part, read_message, write_message};
pub use objects::{
    read_ciphertext, read_galois_keys, read_plaintext, read_public_key, read_relin_key,
    read_secret_key_in_the_clear, write_ciphertext, write_galois_keys, write_plaintext,
    write_public_key, write_relin_key, write_secret_key_in_the_clear,
};
pub use params::{RingParamsFile, read_ring_params, write_params, write_params_of};
pub(crate) use switching::{key_bytes, read_key, write_key};

use ringmill_limits::Halt;
use thiserror::Error;

use crate::rlwe::{RlweError, SecurityTable};

/// The number of bytes of a seed.
const SEED: usize = 32;

/// The kind of object in a file. Its number stands in the field `kind` of the file's header.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u16)]
pub enum Kind {
    Params = 1,
    Plaintext = 2,
    Ciphertext = 3,
    SeededCiphertext = 4,
    PublicKey = 5,
    RelinKey = 6,
    GaloisKeys = 7,
    SecretKey = 8,
    BootstrapKey = 9,
    KeySwitchKey = 10,
    /// Several TFHE ciphertexts under one key.
    Ciphertexts = 11,
    /// The keys that only bootstrapping needs, such as the key to the sparse secret.
    FurtherKeys = 12,
    /// A secret key with the count of the decryptions under it that were shared with others.
    CountedSecretKey = 13,
    /// Encrypted integers of TFHE: their types and their ciphertexts.
    Integers = 14,
    /// All evaluation keys of a program.
    EvaluationKeys = 15,
    /// Ciphertexts by name, as client and server send them to each other.
    Message = 16,
    /// Encrypted integers of TFHE as a client encrypts them: their types, one seed of all masks, and their bodies.
    SeededIntegers = 17,
    /// The bootstrapping key and the key-switching key of TFHE, with which a server runs circuits.
    CircuitKeys = 18,
    /// Encrypted integers of TFHE by the names of a circuit's inputs or outputs.
    NamedIntegers = 19,
}

impl Kind {
    const ALL: [Self; 19] = [
        Self::Params,
        Self::Plaintext,
        Self::Ciphertext,
        Self::SeededCiphertext,
        Self::PublicKey,
        Self::RelinKey,
        Self::GaloisKeys,
        Self::SecretKey,
        Self::BootstrapKey,
        Self::KeySwitchKey,
        Self::Ciphertexts,
        Self::FurtherKeys,
        Self::CountedSecretKey,
        Self::Integers,
        Self::EvaluationKeys,
        Self::Message,
        Self::SeededIntegers,
        Self::CircuitKeys,
        Self::NamedIntegers,
    ];

    /// Returns whether objects of this kind belong to a secret key.
    pub const fn has_key(self) -> bool {
        match self {
            Self::Params | Self::Plaintext => false,
            Self::Ciphertext
            | Self::SeededCiphertext
            | Self::PublicKey
            | Self::RelinKey
            | Self::GaloisKeys
            | Self::SecretKey
            | Self::BootstrapKey
            | Self::KeySwitchKey
            | Self::Ciphertexts
            | Self::FurtherKeys
            | Self::CountedSecretKey
            | Self::Integers
            | Self::EvaluationKeys
            | Self::Message
            | Self::SeededIntegers
            | Self::CircuitKeys
            | Self::NamedIntegers => true,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Params => "parameters",
            Self::Plaintext => "plaintext",
            Self::Ciphertext => "ciphertext",
            Self::SeededCiphertext => "seeded ciphertext",
            Self::PublicKey => "public key",
            Self::RelinKey => "relinearisation key",
            Self::GaloisKeys => "Galois keys",
            Self::SecretKey => "secret key",
            Self::BootstrapKey => "bootstrapping key",
            Self::KeySwitchKey => "key-switching key",
            Self::Ciphertexts => "several ciphertexts",
            Self::FurtherKeys => "bootstrapping keys of programs",
            Self::CountedSecretKey => "secret key with its count",
            Self::Integers => "encrypted integers",
            Self::EvaluationKeys => "evaluation keys",
            Self::Message => "message",
            Self::SeededIntegers => "seeded encrypted integers",
            Self::CircuitKeys => "evaluation keys of circuits",
            Self::NamedIntegers => "named integers",
        }
    }
}

/// Returns the kind that a file claims to have. It looks at the header only, to choose a reader.
///
/// # Errors
/// Fails for a file that does not begin as files do, or is of an unknown version or kind.
pub fn peek_kind(bytes: &[u8]) -> Result<Kind, FileError> {
    container::peek(bytes).map(|(_, kind)| kind)
}

/// Returns the number of the scheme that a file claims to have. It looks at the header only, to choose a reader.
///
/// # Errors
/// The errors of [`peek_kind`].
pub fn peek_scheme(bytes: &[u8]) -> Result<u8, FileError> {
    container::peek(bytes).map(|(scheme, _)| scheme)
}

/// The error of a file that its reader refuses.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum FileError {
    #[error("not a Ringmill file: it does not start with the eight bytes RINGMILL; check the path")]
    Magic,
    #[error(
        "file format version {got} is not known, expected 1 to {expected}; use a newer version of the software"
    )]
    Version { expected: u16, got: u16 },
    #[error(
        "the file is of scheme number {got}, expected {expected} ({name}); read it with what wrote it"
    )]
    Scheme {
        expected: u8,
        name: &'static str,
        got: u8,
    },
    #[error("the file holds {got}, expected {expected}")]
    Kind { expected: &'static str, got: String },
    #[error(
        "the file belongs to other parameters (identity {got}, expected {expected}); use the parameters it was made with"
    )]
    OtherParams { expected: String, got: String },
    #[error("{what}: expected {expected} bytes, got {got}; the file is truncated or altered")]
    Length {
        what: &'static str,
        expected: u64,
        got: u64,
    },
    #[error("the checksum does not match: the file is damaged; fetch it again")]
    Checksum,
    #[error("{what} is {got}, expected {expected}; the file is altered")]
    Field {
        what: &'static str,
        expected: String,
        got: String,
    },
    #[error(
        "the file's parameters are checked by the security table {table}, accepted are {accepted}; to accept {table}, name it: AcceptedTables::named in Rust, tables=[\"{table}\"] in Python, --table {table} of the command"
    )]
    Table {
        table: SecurityTable,
        accepted: AcceptedTables,
    },
    #[error("the file's contents are refused: {0}")]
    Contents(#[from] RlweError),
    /// The object in the file is refused, for the reason in this text.
    #[error("the file's contents are refused: {0}")]
    Refused(String),
    #[error("{0}")]
    Halt(#[from] Halt),
}
