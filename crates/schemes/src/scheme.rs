// SPDX-License-Identifier: Apache-2.0
//! The interface between a scheme and the layers above it, such as devices and the compiler. These layers work with any
//! scheme that implements it.

pub mod roles;

use std::fmt::{Debug, Display};
use std::hash::Hash;

use ringmill_isa::macros::MacroOp;
use ringmill_isa::mid::{Procedure, TableModulus};
use ringmill_isa::{Level, Poly};
use sha2::{Digest, Sha256};

use ringmill_device::{Limbed, ParamsId};

pub use crate::identity::SchemeTag;

/// Returns the identity of parameters with this canonical form: its SHA-256.
pub fn identity(canonical: &[u8]) -> ParamsId {
    Sha256::digest(canonical).into()
}

/// A homomorphic encryption scheme: the types of its parameters, values, keys, operations and parties.
pub trait Scheme: Sized + 'static {
    const TAG: SchemeTag;
    type Params: ParameterSet;
    type Operation: Operation<Params = Self::Params, Error = Self::Error>;
    /// The data that a scheme adds to the limbs and the level of a value: a scale in CKKS, a correction factor in
    /// BGV, nothing in BFV.
    type Annotation: Clone + PartialEq + Debug + Send + Sync;
    type Plaintext: Limbed + Send + Sync;
    type Ciphertext: Encrypted<Self::Annotation>;
    /// The type of one evaluation key of the scheme.
    type Key: Limbed + Send + Sync;
    /// The messages that are encrypted and decrypted, for example vectors of complex numbers in CKKS.
    type Message;
    /// The name of an evaluation key, by which a program requests it.
    type KeyName: Display;
    /// The evaluation keys that a client gives to a server.
    type Keys;
    type Error: std::error::Error + Send + Sync + 'static;
    /// The type of the party that makes keys, encrypts and decrypts.
    type Holder: roles::KeyHolder<Scheme = Self> + Send + Sync;
    /// The type of the party that computes on ciphertexts, without the secret key.
    type Operator: roles::Operator<Scheme = Self> + Send + Sync;
    /// The number of polynomials of a ciphertext that is an input of a program.
    const FRESH_POLYS: usize;

    /// Returns whether a value with the level and annotation `a` may be an operand where a program expects a value
    /// with the level and annotation `b`.
    fn agree(a: &At<Self::Annotation>, b: &At<Self::Annotation>) -> bool;

    /// Describes the level and annotation of a value in words, for messages.
    fn place(at: &At<Self::Annotation>) -> String;
}

/// The level of a value, and its scheme's annotation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct At<A> {
    pub level: Level,
    pub annotation: A,
}

/// A checked parameter set: the ring, and the table of moduli to which its programs and limbs refer.
pub trait ParameterSet: Send + Sync + 'static {
    /// Returns the identity of the set among all sets of all schemes, the hash of [`ParameterSet::canonical`].
    fn id(&self) -> &ParamsId;
    /// Returns the bytes that the identity hashes and a parameter file holds. The scheme's byte is part of them.
    fn canonical(&self) -> Vec<u8>;
    /// Returns the base-2 logarithm of the ring degree N.
    fn log_n(&self) -> u8;
    /// Returns the primes of ciphertexts and keys.
    fn moduli(&self) -> &[u64];
    /// Returns the ciphertext primes alone, those of the lowest level first. By default these are all of
    /// [`ParameterSet::moduli`].
    fn level_primes(&self) -> &[u64] {
        self.moduli()
    }
    /// Returns the table of moduli. Programs refer to moduli by indices into this table. It has the primes of
    /// [`ParameterSet::moduli`], then the other moduli of programs.
    fn table(&self) -> Vec<TableModulus> {
        TableModulus::primes(self.moduli())
    }
    /// Returns the number of bytes of memory that `keys` evaluation keys for the highest level take. With `seeded`,
    /// each key has a seed in place of its uniform half.
    fn key_bytes(&self, keys: usize, seeded: bool) -> u64;
    /// Returns one line about the parameters, for reports.
    fn summary(&self) -> String;
}

/// A homomorphic operation with everything that determines its instructions. Equal operations have equal procedures.
pub trait Operation: Clone + Eq + Hash + Debug + Send + Sync + 'static {
    type Params;
    type Error;

    /// Returns the procedure's name, which is unique within one parameter set.
    fn name(&self) -> String;

    /// Emits the operation's procedure for these parameters. [`ProcCache::get`](crate::ProcCache::get) keeps the
    /// procedures that were emitted.
    ///
    /// # Errors
    /// Fails for an operation that these parameters do not have.
    fn emit(&self, params: &Self::Params) -> Result<Procedure, Self::Error>;

    /// Returns the macro instructions whose work the operation does, one after another. Reports count a machine's
    /// time for the operation under these instructions.
    fn stands_for(&self) -> &'static [MacroOp];

    /// Returns the number of polynomials in a result of the operation.
    fn result_size(&self) -> u32;

    /// Returns the index of the operand whose polynomial `poly` is also polynomial `poly` of the result. Returns
    /// `None` if the operation's procedure computes that polynomial, or if the result does not have it.
    fn passes_through(&self, poly: Poly) -> Option<u16>;
}

/// The interface of a ciphertext of any scheme, with annotation `A`.
pub trait Encrypted<A>: Limbed + Send + Sync {
    fn at(&self) -> At<A>;

    /// Returns whether the message is visible without the secret key, in a ciphertext that should hide it.
    fn is_transparent(&self) -> bool;
}
