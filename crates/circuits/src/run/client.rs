// SPDX-License-Identifier: Apache-2.0
//! The client of a circuit, which holds the secret key: encrypts inputs and decrypts outputs.

use std::sync::Arc;

use ringmill_limits::Watch;

use super::CircuitRunError;
use crate::circuit::{Circuit, Part, Port};
use crate::tfhe::{Client, EncryptedIntegers, IntegerType, LweCiphertext, Messages, Params};

/// A client of a circuit. It encrypts integers piece by piece ([`Port::parts`]), and decrypts outputs to integers.
pub struct CircuitClient {
    client: Client,
}

impl CircuitClient {
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    pub fn params(&self) -> &Arc<Params> {
        self.client.params()
    }

    /// Encrypts an integer for an input port, with one ciphertext for each piece of the port, lowest first. A piece is
    /// a bit in circuits of bits and in circuits of netlists, otherwise a digit in base 4.
    ///
    /// # Errors
    /// [`CircuitRunError::Value`] for a value that the port's type does not have; [`CircuitRunError::Tfhe`];
    /// [`CircuitRunError::Halt`].
    pub fn encrypt(
        &self,
        port: &Port,
        value: i128,
        watch: &Watch,
    ) -> Result<Vec<LweCiphertext>, CircuitRunError> {
        let (ports, values) = (std::slice::from_ref(port), [value]);
        Ok(self.encrypt_all(ports, &values, watch)?.into_ciphertexts())
    }

    /// Encrypts an integer for each of several input ports, as [`CircuitClient::encrypt`] does. The masks of all
    /// ciphertexts expand from one fresh seed.
    ///
    /// # Errors
    /// [`CircuitRunError::Integers`] for another number of values than ports; the errors of [`CircuitClient::encrypt`].
    pub fn encrypt_all(
        &self,
        ports: &[Port],
        values: &[i128],
        watch: &Watch,
    ) -> Result<EncryptedIntegers, CircuitRunError> {
        if ports.len() != values.len() {
            return Err(CircuitRunError::Integers {
                port: (ports.first()).map_or_else(String::new, |port| port.name.clone()),
                expected: ports.len(),
                got: values.len(),
            });
        }
        let mut batch = self.client.batch()?;
        for (port, &value) in ports.iter().zip(values) {
            let bits = (port.kind.write(value)).ok_or_else(|| CircuitRunError::Value {
                port: port.name.clone(),
                expected: port.kind.to_string(),
                got: value.to_string(),
            })?;
            for part in &port.parts {
                watch.check()?;
                if let Part::Encrypted { at, bits: of, .. } = part {
                    let digit = bits >> at & ((1 << of) - 1);
                    match self.params().sizes().messages {
                        Messages::Booleans => batch.encrypt_bit(digit == 1)?,
                        Messages::Integers { .. } => batch.encrypt(digit)?,
                    }
                }
            }
        }
        let types = ports.iter().map(Port::integer).collect();
        Ok(EncryptedIntegers::fresh(types, batch.finish()))
    }

    /// Decrypts the ciphertexts of an output port to an integer.
    ///
    /// # Errors
    /// [`CircuitRunError::Ciphertexts`] if the number of ciphertexts is not the port's; [`CircuitRunError::Tfhe`] for
    /// ciphertexts of other parameters or keys.
    pub fn decrypt(&self, port: &Port, limbs: &[LweCiphertext]) -> Result<i128, CircuitRunError> {
        check(port, limbs.len())?;
        let mut limbs = limbs.iter();
        let mut bits = 0u64;
        for part in &port.parts {
            match part {
                Part::Known { value, at } => bits |= value << at,
                Part::Encrypted { at, .. } => {
                    if let Some(limb) = limbs.next() {
                        let limb = match self.params().sizes().messages {
                            Messages::Booleans => self.client.decrypt_bit(limb)?.into(),
                            Messages::Integers { .. } => self.client.decrypt(limb)?,
                        };
                        bits |= limb << at;
                    }
                }
            }
        }
        Ok(port.kind.read(bits))
    }
}

/// Returns the number of ciphertexts that hold the integer of an input or output of a circuit, without its known
/// pieces.
pub fn ciphertexts(port: &Port) -> usize {
    let encrypted = |part: &&Part| matches!(part, Part::Encrypted { .. });
    port.parts.iter().filter(encrypted).count()
}

/// Checks that encrypted integers have the types of the ports that take them.
///
/// # Errors
/// [`CircuitRunError::Integer`] for an integer of another type; [`CircuitRunError::Integers`] for another number of
/// integers.
pub fn check_types(ports: &[Port], integers: &[IntegerType]) -> Result<(), CircuitRunError> {
    let name = |port: Option<&Port>| port.map_or_else(String::new, |port| port.name.clone());
    if ports.len() != integers.len() {
        return Err(CircuitRunError::Integers {
            port: name(ports.first()),
            expected: ports.len(),
            got: integers.len(),
        });
    }
    let wrong = ports
        .iter()
        .zip(integers)
        .find(|(port, got)| port.integer() != **got);
    match wrong {
        None => Ok(()),
        Some((port, got)) => Err(CircuitRunError::Integer {
            port: port.name.clone(),
            expected: port.integer(),
            got: *got,
        }),
    }
}

fn check(port: &Port, got: usize) -> Result<(), CircuitRunError> {
    let expected = ciphertexts(port);
    if expected == got {
        return Ok(());
    }
    Err(CircuitRunError::Ciphertexts {
        port: port.name.clone(),
        expected,
        got,
    })
}

/// Joins the ciphertexts of all ports into one list, in the order of the circuit's inputs.
///
/// # Errors
/// [`CircuitRunError::Ciphertexts`] for another number of ports, or of ciphertexts of a port.
pub fn bound(
    circuit: &Circuit,
    inputs: Vec<Vec<LweCiphertext>>,
) -> Result<Vec<LweCiphertext>, CircuitRunError> {
    if inputs.len() != circuit.inputs.len() {
        return Err(CircuitRunError::Ciphertexts {
            port: "the inputs of the program".to_owned(),
            expected: circuit.inputs.len(),
            got: inputs.len(),
        });
    }
    for (port, given) in circuit.inputs.iter().zip(&inputs) {
        check(port, given.len())?;
    }
    Ok(inputs.into_iter().flatten().collect())
}

/// Splits the output ciphertexts of a run into one list for each output port.
pub fn unbound(circuit: &Circuit, outputs: Vec<LweCiphertext>) -> Vec<Vec<LweCiphertext>> {
    let mut outputs = outputs.into_iter();
    let ports = circuit.outputs.iter();
    ports
        .map(|port| outputs.by_ref().take(ciphertexts(port)).collect())
        .collect()
}
