// SPDX-License-Identifier: Apache-2.0
//! Keeps the keys and encrypted inputs of `ringmill circuit` in the folder of `--checkpoint`, so that a run can
//! continue.

use std::path::Path;
use std::sync::Arc;

use ringmill_circuits::circuit::{Chosen, Circuit};
use ringmill_circuits::run::CircuitClient;
use ringmill_circuits::run::client::bound;
use ringmill_circuits::tfhe::{BootstrapKey, Client, KeySwitchKey, LweCiphertext, file};
use ringmill_limits::Watch;

use super::{Asked, Folder, SECRET};
use crate::error::CliError;

const BOOTSTRAP: &str = "bootstrap.key";
const SWITCH: &str = "switch.key";
const INPUTS: &str = "inputs.ct";

/// Returns whether a circuit's run keeps a file of this name in the folder.
pub(super) fn is_kept(name: &str) -> bool {
    [BOOTSTRAP, SWITCH, INPUTS].contains(&name)
}

/// The keys and inputs of a circuit's run, and the folder that keeps them.
pub struct Prepared {
    pub client: CircuitClient,
    pub bootstrap: BootstrapKey,
    pub switch: KeySwitchKey,
    /// The ciphertexts of the inputs, in the order in which the circuit takes them.
    pub inputs: Vec<LweCiphertext>,
    pub folder: Option<Folder>,
}

/// Returns new keys and encrypted inputs of a circuit's run, and writes them into the folder. If the folder already
/// holds a run of the same circuit and the same values, it returns that run's keys and inputs.
///
/// # Errors
/// Fails if the folder is of another run, cannot be used or has damaged files, and if keys or encryptions cannot be
/// made.
pub fn prepare(
    chosen: &Chosen,
    values: &[u64],
    folder: Option<&Path>,
    watch: &Watch,
) -> Result<Prepared, CliError> {
    let open = |path| Folder::open(path, |nothing| asked(chosen, values, nothing), watch);
    let folder = folder.map(open).transpose()?;
    match folder {
        Some(folder) if folder.held => read(chosen, folder, watch),
        folder => fresh(chosen, values, folder, watch),
    }
}

/// Adds to the digest `nothing` the parts that identify a circuit's run: the compiled circuit, its parameters and the
/// values of its inputs.
fn asked(chosen: &Chosen, values: &[u64], nothing: Asked) -> Asked {
    let graph = chosen.circuit.graph.to_string();
    let asked = nothing
        .with("", graph.as_bytes())
        .with("", chosen.params.id());
    let inputs = chosen.circuit.inputs.iter().zip(values);
    inputs.fold(asked, |asked, (port, value)| {
        asked.with(&port.name, &value.to_le_bytes())
    })
}

fn fresh(
    chosen: &Chosen,
    values: &[u64],
    mut folder: Option<Folder>,
    watch: &Watch,
) -> Result<Prepared, CliError> {
    let (params, circuit): (_, &Circuit) = (&chosen.params, &chosen.circuit);
    let client = Client::new(Arc::clone(params))?;
    let (bootstrap, switch) = (client.bootstrap_key()?, client.key_switch_key()?);
    let client = CircuitClient::new(client);
    let mut inputs = Vec::with_capacity(values.len());
    for (port, &value) in circuit.inputs.iter().zip(values) {
        inputs.push(client.encrypt(port, value.into(), watch)?);
    }
    let inputs = bound(circuit, inputs)?;
    if let Some(folder) = &mut folder {
        let secret = file::write_secret_key_in_the_clear(client.client().secret());
        folder.put(SECRET, &secret)?;
        let bytes = file::write_bootstrap_key(params, &bootstrap);
        folder.put(BOOTSTRAP, &bytes)?;
        let bytes = file::write_key_switch_key(params, &switch);
        folder.put(SWITCH, &bytes)?;
        let bytes = file::write_ciphertexts(params, &inputs)?;
        folder.put(INPUTS, &bytes)?;
        folder.complete()?;
    }
    Ok(Prepared {
        client,
        bootstrap,
        switch,
        inputs,
        folder,
    })
}

fn read(chosen: &Chosen, mut folder: Folder, watch: &Watch) -> Result<Prepared, CliError> {
    let params = &chosen.params;
    let secret = folder.get_secret(watch)?;
    let secret = file::read_secret_key_in_the_clear(&secret, params);
    let secret = secret.map_err(|e| folder.damaged(SECRET, e))?;
    let bootstrap = file::read_bootstrap_key(&folder.get(BOOTSTRAP, watch)?, params);
    let switch = file::read_key_switch_key(&folder.get(SWITCH, watch)?, params);
    let inputs = file::read_ciphertexts(&folder.get(INPUTS, watch)?, params);
    let client = Client::with_secret(Arc::clone(params), Arc::new(secret))?;
    Ok(Prepared {
        client: CircuitClient::new(client),
        bootstrap: bootstrap.map_err(|e| folder.damaged(BOOTSTRAP, e))?,
        switch: switch.map_err(|e| folder.damaged(SWITCH, e))?,
        inputs: inputs.map_err(|e| folder.damaged(INPUTS, e))?,
        folder: Some(folder),
    })
}
