// SPDX-License-Identifier: Apache-2.0
//! The interface between a scheme and the layers above it. It lets a scheme be one folder.

pub mod roles;

use std::fmt::{Debug, Display};
use std::hash::Hash;

use ringmill_isa::macros::MacroOp;
use ringmill_isa::mid::{Procedure, TableModulus};
use ringmill_isa::{Level, Poly};
use sha2::{Digest, Sha256};

use ringmill_device::{Limbed, ParamsId};

pub use crate::identity::SchemeTag;

/// Returns the identity of the parameters with this canonical form.
pub fn identity(canonical: &[u8]) -> ParamsId {
    Sha256::digest(canonical).into()
}

/// A homomorphic encryption scheme.
pub trait Scheme: Sized + 'static {
    const TAG: SchemeTag;
    type Params: ParameterSet;
    type Operation: Operation<Params = Self::Params, Error = Self::Error>;
    /// The scheme's own data of a value, in addition to limbs and level: a scale in CKKS, a factor in BGV, nothing in
    /// BFV.
    type Annotation: Clone + PartialEq + Debug + Send + Sync;
    type Plaintext: Limbed + Send + Sync;
    type Ciphertext: Encrypted<Self::Annotation>;
    /// One evaluation key.
    type Key: Limbed + Send + Sync;
    /// The messages that are encrypted and decrypted, for example vectors of complex numbers in CKKS.
    type Message;
    /// The name of an evaluation key.
    type KeyName: Display;
    /// A collection of evaluation keys, as a client hands it over.
    type Keys;
    type Error: std::error::Error + Send + Sync + 'static;
    /// The party that makes keys, encrypts and decrypts.
    type Holder: roles::KeyHolder<Scheme = Self> + Send + Sync;
    /// The party that computes.
    type Operator: roles::Operator<Scheme = Self> + Send + Sync;
    /// The number of polynomials of a ciphertext that programs take.
    const FRESH_POLYS: usize;

    /// Returns whether a value at `a` may be used where one at `b` is expected.
    fn agree(a: &At<Self::Annotation>, b: &At<Self::Annotation>) -> bool;

    /// Describes the level and annotation of a value in words.
    fn place(at: &At<Self::Annotation>) -> String;
}

/// The level of a value, and its scheme's annotation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct At<A> {
    pub level: Level,
    pub annotation: A,
}

/// A checked parameter set: the ring and the table of moduli that its programs and limbs refer to.
pub trait ParameterSet: Send + Sync + 'static {
    /// Returns the set's name among all sets of all schemes, the hash of [`ParameterSet::canonical`].
    fn id(&self) -> &ParamsId;
    /// Returns the bytes that the identity hashes and a parameter file holds. The scheme's byte is part of them.
    fn canonical(&self) -> Vec<u8>;
    /// Returns log2 of the ring degree.
    fn log_n(&self) -> u8;
    /// Returns the primes of ciphertexts and keys.
    fn moduli(&self) -> &[u64];
    /// Returns the primes of ciphertexts alone: the primes of the levels, the lowest first.
    fn level_primes(&self) -> &[u64] {
        self.moduli()
    }
    /// Returns the table that moduli in programs are indices into: [`ParameterSet::moduli`], then the other moduli of
    /// programs.
    fn table(&self) -> Vec<TableModulus> {
        TableModulus::primes(self.moduli())
    }
    /// Returns the bytes of `keys` evaluation keys, with seeds in place of their uniform halves if `seeded`.
    fn key_bytes(&self, keys: usize, seeded: bool) -> u64;
    /// Returns one line for reports.
    fn summary(&self) -> String;
}

/// A homomorphic operation with everything that determines its code. Equal operations have equal procedures.
pub trait Operation: Clone + Eq + Hash + Debug + Send + Sync + 'static {
    type Params;
    type Error;

    /// Returns the procedure's name, which is unique within one parameter set.
    fn name(&self) -> String;

    /// Emits the procedure. [`ProcCache::get`](crate::ProcCache::get) makes each once.
    ///
    /// # Errors
    /// An operation that these parameters do not have.
    fn emit(&self, params: &Self::Params) -> Result<Procedure, Self::Error>;

    /// Returns the macro instructions that the operation performs, one after another. A machine's times of its
    /// procedure are reported for them.
    fn stands_for(&self) -> &'static [MacroOp];

    /// Returns the number of polynomials of a result.
    fn result_size(&self) -> u32;

    /// Returns the operand whose polynomial `poly` is also polynomial `poly` of the result. Returns `None` if the
    /// procedure computes that polynomial, or the result has none.
    fn passes_through(&self, poly: Poly) -> Option<u16>;
}

/// A ciphertext.
pub trait Encrypted<A>: Limbed + Send + Sync {
    fn at(&self) -> At<A>;

    /// Returns whether the message is visible without the secret key where it should not be.
    fn is_transparent(&self) -> bool;
}
