// SPDX-License-Identifier: Apache-2.0
//! Runs compiled programs: the client holds the secret key, the server holds evaluation keys only and runs programs on
//! a device.
//!
//! Client and server work for every scheme that implements [`Runs`].
//!
//! ```text
//! client: evaluation_keys ----------------> server: Server::new
//! client: encrypt(inputs) -- ciphertexts -> server: run(device) -- ciphertexts -> client: decrypt, measure
//! ```

mod bootstrapping;
mod ckks;
mod client;
mod error;
mod exact;
#[cfg(feature = "html")]
pub mod html;
pub mod known;
pub mod report;
mod scheme;
mod sender;
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
pub use scheme::{ErrorOf, PublicKeyOf, Runs};
pub use sender::Sender;
pub use served::{Figures, Own, Predicted, Served, Sharing, Unfit, Wishes};
pub use server::{Answer, AnswerOf, Running, Server, simulate};

/// Messages of a scheme by input or output name.
pub type Messages<S> = BTreeMap<String, <S as Scheme>::Message>;
/// Ciphertexts of a scheme by input or output name.
pub type Ciphers<S> = BTreeMap<String, <S as Scheme>::Ciphertext>;

/// Vectors of complex slot values by input or output name.
pub type Vectors = BTreeMap<String, Vec<Complex64>>;
/// Ciphertexts of CKKS by input or output name.
pub type Ciphertexts = BTreeMap<String, Ciphertext>;

/// Checks that all names are among the `known` names of the program. `kind` says in the error what is named: inputs or
/// outputs.
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
