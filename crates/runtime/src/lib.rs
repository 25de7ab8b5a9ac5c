// SPDX-License-Identifier: Apache-2.0
//! The run time around a compiled program: the client, who holds the secret key, and the server, who holds evaluation
//! keys only and runs programs on a device. Both are written for any scheme whose programs run ([`Runs`]).
//!
//! ```text
//! client: evaluation_keys ----------------> server: Server::new
//! client: encrypt(inputs) -- ciphertexts -> server: run(device) -- ciphertexts -> client: decrypt, measure
//! ```

mod ckks;
mod client;
mod error;
mod exact;
#[cfg(feature = "html")]
pub mod html;
pub mod known;
pub mod report;
mod scheme;
mod served;
mod server;
pub mod shown;

use std::collections::BTreeMap;

use num_complex::Complex64;
use ringmill_schemes::Scheme;
use ringmill_schemes::ckks::Ciphertext;

pub use client::Client;
pub use error::RuntimeError;
pub use known::Known;
pub use ringmill_schemes::rlwe::EvaluationKeys;
pub use scheme::Runs;
pub use served::{Figures, Own, Predicted, Served, Sharing, Unfit, Wishes};
pub use server::{Answer, AnswerOf, Running, Server, simulate};

/// Messages by input or output name.
pub type Messages<S> = BTreeMap<String, <S as Scheme>::Message>;
/// Ciphertexts by input or output name.
pub type Ciphers<S> = BTreeMap<String, <S as Scheme>::Ciphertext>;

/// Slot vectors by input or output name.
pub type Vectors = BTreeMap<String, Vec<Complex64>>;
/// Ciphertexts by input or output name.
pub type Ciphertexts = BTreeMap<String, Ciphertext>;

/// Refuses names that the program has no input for.
fn check_names<'n, E>(
    given: impl Iterator<Item = &'n String>,
    known: &[&str],
    kind: &'static str,
) -> Result<(), RuntimeError<E>> {
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
