//! The run time around a compiled program: the client, who holds the secret key, and the server, who holds evaluation
//! keys only and runs programs on a device.
//!
//! ```text
//! client: evaluation_keys ----------------> server: Server::new
//! client: encrypt(inputs) -- ciphertexts -> server: run(device) -- ciphertexts -> client: decrypt, measure
//! ```

mod client;
mod error;
mod server;

use std::collections::BTreeMap;

use num_complex::Complex64;
use ringmill_compiler::CompiledInput;
use ringmill_schemes::ckks::{Ciphertext, CkksError, GaloisKeys, KeyId, RelinKey};

pub use client::Client;
pub use error::RuntimeError;
pub use server::{Answer, Server, simulate};

/// Slot vectors by input or output name.
pub type Vectors = BTreeMap<String, Vec<Complex64>>;
/// Ciphertexts by input or output name.
pub type Ciphertexts = BTreeMap<String, Ciphertext>;

/// What a server needs to compute: public.
#[derive(Clone, Debug, Default)]
pub struct EvaluationKeys {
    pub relin: Option<RelinKey>,
    pub galois: GaloisKeys,
}

impl EvaluationKeys {
    /// The secret key that all belong to; `None` when that of one is not known, or there are none.
    ///
    /// # Errors
    /// [`CkksError::OtherKeys`] for keys of two secret keys.
    pub fn key_id(&self) -> Result<Option<KeyId>, CkksError> {
        let relin = self
            .relin
            .iter()
            .map(|k| ("relinearisation key", k.0.key_id()));
        let galois = self.galois.iter().map(|(_, k)| ("Galois key", k.key_id()));
        KeyId::common(relin.chain(galois))
    }
}

/// Refuses names that the program has no input for.
fn check_names<'n>(
    given: impl Iterator<Item = &'n String>,
    known: &[&str],
    kind: &'static str,
) -> Result<(), RuntimeError> {
    for name in given {
        if !known.contains(&name.as_str()) {
            let known = known.iter().map(|&k| k.to_owned()).collect();
            return Err(RuntimeError::UnknownName {
                kind,
                name: name.clone(),
                known,
            });
        }
    }
    Ok(())
}

/// Refuses a vector that does not have the program's number of slots.
fn check_length(name: &str, expected: u32, values: &[Complex64]) -> Result<(), RuntimeError> {
    if values.len() == expected as usize {
        return Ok(());
    }
    Err(RuntimeError::VectorLength {
        name: name.to_owned(),
        expected: expected as usize,
        got: values.len(),
    })
}

/// Refuses values outside the range that the program was compiled for. What is not finite is the encoder's to refuse.
fn check_range(input: &CompiledInput, values: &[Complex64]) -> Result<(), RuntimeError> {
    let outside = |z: &Complex64| z.is_finite() && !input.range.contains(z.re, z.im);
    match values.iter().position(outside) {
        None => Ok(()),
        Some(slot) => Err(RuntimeError::OutOfRange {
            name: input.name.clone(),
            slot,
            value: values.get(slot).copied().unwrap_or_default(),
            range: input.range,
        }),
    }
}
