// SPDX-License-Identifier: Apache-2.0
//! Keeps the keys and encrypted inputs of `ringmill run` in the folder of `--checkpoint`, so that a run can continue.

use std::path::Path;
use std::sync::Arc;

use ringmill_compiler::Compiled;
use ringmill_isa::macros::Visibility;
use ringmill_limits::Watch;
use ringmill_runtime::{Ciphers, Client, EvaluationKeys, Messages, Served};
use ringmill_schemes::file;
use ringmill_schemes::rlwe::RingParams;

use super::{Asked, Folder, SECRET};
use crate::error::CliError;
use crate::numbers;

const KEYS: &str = "evaluation.keys";

/// The keys and inputs of a program's run, and the folder that keeps them.
pub struct Prepared<S: Served> {
    pub client: Client<S>,
    pub keys: EvaluationKeys,
    pub ciphers: Ciphers<S>,
    pub folder: Option<Folder>,
}

fn cipher_name(input: usize) -> String {
    format!("input{input}.ct")
}

/// Returns whether a program's run keeps a file of this name in the folder.
pub(super) fn is_kept(name: &str) -> bool {
    let input = name
        .strip_prefix("input")
        .and_then(|rest| rest.strip_suffix(".ct"));
    let input = input.and_then(|number| number.parse().ok());
    name == KEYS || input.is_some_and(|input| cipher_name(input) == name)
}

/// Returns new keys and encrypted inputs of a program's run, and writes them into the folder. If the folder already
/// holds a run of the same program and inputs, it returns that run's keys and inputs.
///
/// # Errors
/// Fails if the folder is of another run, cannot be used or has damaged files, and if keys or encryptions cannot be
/// made.
pub fn prepare<S: Served>(
    compiled: &Arc<Compiled<S>>,
    encrypted: &Messages<S>,
    plains: &Messages<S>,
    folder: Option<&Path>,
    watch: &Watch,
) -> Result<Prepared<S>, CliError> {
    let open = |path| {
        let asked = |nothing| asked(compiled, encrypted, plains, nothing);
        Folder::open(path, asked, watch)
    };
    let mut folder = folder.map(open).transpose()?;
    let (client, keys, ciphers) = match &mut folder {
        Some(folder) if folder.held => read(compiled, folder, watch)?,
        folder => {
            let client = Client::new(Arc::clone(compiled))?.watched(watch);
            let (keys, ciphers) = (client.evaluation_keys()?, client.encrypt(encrypted)?);
            if let Some(folder) = folder {
                write(compiled, folder, (&client, &keys, &ciphers))?;
            }
            (client, keys, ciphers)
        }
    };
    Ok(Prepared {
        client,
        keys,
        ciphers,
        folder,
    })
}

/// Adds to a digest the parts that identify a program's run: the compiled program and its inputs.
fn asked<S: Served>(
    compiled: &Compiled<S>,
    encrypted: &Messages<S>,
    plains: &Messages<S>,
    nothing: Asked,
) -> Asked {
    let program = ringmill_isa::mid::text::print_program(&compiled.program);
    let asked = nothing.with("", program.as_bytes());
    let inputs = encrypted.iter().chain(plains);
    inputs.fold(asked, |asked, (name, values)| {
        asked.with(name, &numbers::bytes(&S::values(values.clone())))
    })
}

fn write<S: Served>(
    compiled: &Compiled<S>,
    folder: &mut Folder,
    (client, keys, ciphers): (&Client<S>, &EvaluationKeys, &Ciphers<S>),
) -> Result<(), CliError> {
    let secret = file::write_secret_key_in_the_clear(client.secret_key());
    folder.put(SECRET, &secret)?;
    let params = compiled.params.ring_params();
    let failed = |e: file::FileError| CliError::Internal(e.to_string());
    folder.put(
        KEYS,
        &file::write_evaluation_keys(params, keys).map_err(failed)?,
    )?;
    for (number, cipher) in ciphers.values().enumerate() {
        let bytes = file::write_ciphertext(params, cipher).map_err(failed)?;
        folder.put(&cipher_name(number), &bytes)?;
    }
    folder.complete()
}

fn read<S: Served>(
    compiled: &Arc<Compiled<S>>,
    folder: &mut Folder,
    watch: &Watch,
) -> Result<(Client<S>, EvaluationKeys, Ciphers<S>), CliError> {
    let params = compiled.params.ring_params();
    let secret = folder.get_secret(watch)?;
    let secret = file::read_secret_key_in_the_clear(&secret, params);
    let secret = secret.map_err(|e| folder.damaged(SECRET, e))?;
    let keys = file::read_evaluation_keys(&folder.get(KEYS, watch)?, params);
    let keys = keys.map_err(|e| folder.damaged(KEYS, e))?;
    let mut ciphers = Ciphers::<S>::new();
    let inputs = compiled.inputs.iter();
    let encrypted = inputs.filter(|input| input.visibility == Visibility::Encrypted);
    let mut names: Vec<&String> = encrypted.map(|input| &input.name).collect();
    // A map of ciphertexts has the names in this order.
    names.sort_unstable();
    for (number, name) in names.into_iter().enumerate() {
        let file = cipher_name(number);
        let cipher = file::read_ciphertext(&folder.get(&file, watch)?, params);
        ciphers.insert(name.clone(), cipher.map_err(|e| folder.damaged(&file, e))?);
    }
    let client = Client::with_secret_key(Arc::clone(compiled), secret)?.watched(watch);
    Ok((client, keys, ciphers))
}
