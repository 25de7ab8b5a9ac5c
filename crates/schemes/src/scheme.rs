// SPDX-License-Identifier: Apache-2.0
//! What a scheme offers the layers above it: the seams at which a scheme is one folder.

pub mod roles;

use std::fmt::{Debug, Display};
use std::hash::Hash;

use ringmill_isa::macros::MacroOp;
use ringmill_isa::mid::{Procedure, TableModulus};
use ringmill_isa::{Level, Poly};
use sha2::{Digest, Sha256};

use ringmill_device::{Limbed, ParamsId};

pub use crate::identity::SchemeTag;

/// The identity of the parameters of this canonical form.
pub fn identity(canonical: &[u8]) -> ParamsId {
    Sha256::digest(canonical).into()
}

/// A homomorphic encryption scheme.
pub trait Scheme: Sized + 'static {
    const TAG: SchemeTag;
    type Params: ParameterSet;
    type Operation: Operation<Params = Self::Params, Error = Self::Error>;
    /// What a value carries beside its limbs and its level: CKKS a scale, BGV a factor, BFV nothing.
    type Annotation: Clone + PartialEq + Debug + Send + Sync;
    type Plaintext: Limbed + Send + Sync;
    type Ciphertext: Encrypted<Self::Annotation>;
    /// One evaluation key.
    type Key: Limbed + Send + Sync;
    /// What is encrypted and decrypted: CKKS a vector of complex numbers.
    type Message;
    /// Says which evaluation key.
    type KeyName: Display;
    /// Evaluation keys, as they are handed over.
    type Keys;
    type Error: std::error::Error + Send + Sync + 'static;
    /// Who makes keys, encrypts and decrypts.
    type Holder: roles::KeyHolder<Scheme = Self> + Send + Sync;
    /// Who computes.
    type Operator: roles::Operator<Scheme = Self> + Send + Sync;
    /// Number of polynomials of a ciphertext that programs take.
    const FRESH_POLYS: usize;

    /// Whether a value that is at `a` may stand where one at `b` is wanted.
    fn agree(a: &At<Self::Annotation>, b: &At<Self::Annotation>) -> bool;

    /// Where a value is, in words.
    fn place(at: &At<Self::Annotation>) -> String;
}

/// Where a value is: its level and its scheme's annotation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct At<A> {
    pub level: Level,
    pub annotation: A,
}

/// A checked parameter set: the ring and the table of moduli that its programs and limbs refer to.
pub trait ParameterSet: Send + Sync + 'static {
    /// The set's name among all sets of all schemes, the hash of [`ParameterSet::canonical`].
    fn id(&self) -> &ParamsId;
    /// What the identity hashes and a parameter file holds. The scheme's byte is part of it.
    fn canonical(&self) -> Vec<u8>;
    /// log2 of the ring degree.
    fn log_n(&self) -> u8;
    /// The primes of ciphertexts and keys.
    fn moduli(&self) -> &[u64];
    /// Those of ciphertexts alone: the primes of the levels, the lowest first.
    fn level_primes(&self) -> &[u64] {
        self.moduli()
    }
    /// The table that moduli in programs are indices into: [`ParameterSet::moduli`], then what else programs compute
    /// modulo.
    fn table(&self) -> Vec<TableModulus> {
        TableModulus::primes(self.moduli())
    }
    /// Bytes of so many evaluation keys, with seeds in place of their uniform halves if `seeded`.
    fn key_bytes(&self, keys: usize, seeded: bool) -> u64;
    /// One line for reports.
    fn summary(&self) -> String;
}

/// A homomorphic operation with everything that changes its code: equal operations have equal procedures.
pub trait Operation: Clone + Eq + Hash + Debug + Send + Sync + 'static {
    type Params;
    type Error;

    /// The procedure's name: unique within one parameter set.
    fn name(&self) -> String;

    /// Makes the procedure; [`ProcCache::get`](crate::ProcCache::get) makes each once.
    ///
    /// # Errors
    /// An operation that these parameters do not have.
    fn emit(&self, params: &Self::Params) -> Result<Procedure, Self::Error>;

    /// The macro instructions that it is, one after another: what a machine's times of its procedure are times of.
    fn stands_for(&self) -> &'static [MacroOp];

    /// Number of polynomials of a result.
    fn result_size(&self) -> u32;

    /// The operand whose polynomial `poly` is, unchanged, polynomial `poly` of the result; `None` when the procedure
    /// computes that polynomial (or the result has none).
    fn passes_through(&self, poly: Poly) -> Option<u16>;
}

/// A ciphertext.
pub trait Encrypted<A>: Limbed + Send + Sync {
    fn at(&self) -> At<A>;

    /// Whether the message shows without the secret key where it should not.
    fn is_transparent(&self) -> bool;
}
