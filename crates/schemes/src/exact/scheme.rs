//! What schemes of exact integers differ in, for the parties that are alike in all of them.

use std::sync::Arc;

use super::embedding::Embedding;
use super::plaintext::Plaintext;
use crate::rlwe::{RlweError, SecretKey};
use crate::scheme::{At, Scheme};

/// A scheme whose messages are polynomials modulo t.
pub trait ExactScheme: Scheme {
    /// Opens its ciphertexts.
    type Decryptor: Decrypts<Self>;

    /// What a fresh ciphertext carries unless another annotation is asked for.
    const FRESH: Self::Annotation;

    /// How a message stands in a ciphertext at `at`: what its procedure that adds a plaintext adds.
    ///
    /// # Errors
    /// A place that the parameters do not have.
    fn embedding(params: &Self::Params, at: &At<Self::Annotation>) -> Result<Embedding, RlweError>;
}

/// Holds a secret key and opens ciphertexts of scheme `S`. Running time depends on public sizes and on whether a message is
/// refused, but for that of [`Decrypts::noise_budget`].
pub trait Decrypts<S: Scheme>: Sized {
    /// # Errors
    /// A secret key of other parameters.
    fn new(params: Arc<S::Params>, secret: SecretKey) -> Result<Self, S::Error>;

    /// The message.
    ///
    /// # Errors
    /// [`ExactError::NoBudget`](super::ExactError::NoBudget) where it may be lost; ciphertexts of other parameters or another
    /// key.
    fn decrypt(&self, cipher: &S::Ciphertext) -> Result<Plaintext, S::Error>;

    /// Bits of noise that the ciphertext can still take: SEAL's invariant noise budget, from 0.
    ///
    /// # Errors
    /// Ciphertexts of other parameters or another key.
    fn noise_budget(&self, cipher: &S::Ciphertext) -> Result<u32, S::Error>;
}
