// SPDX-License-Identifier: Apache-2.0
//! Times bootstraps of TFHE with the variants of a parameter set. The results of each are decrypted and checked first.

use std::sync::Arc;

use ringmill_circuits::tfhe::{
    CiphertextModulus, Client, Evaluator, Gate, LookupTable, Messages, Params, ParamsBuilder,
    Unrolling, Workspace,
};
use serde_json::json;

use crate::Result;
use crate::group::Group;

/// A row's name, whether its ciphertext modulus is a prime (else it is the set's power of two), and its unrolling.
const WAYS: [(&str, bool, Unrolling); 10] = [
    ("nand", false, Unrolling::One),
    ("nand_m2", false, Unrolling::Two),
    ("nand_m3", false, Unrolling::Three),
    ("nand_prime", true, Unrolling::One),
    ("nand_prime_m2", true, Unrolling::Two),
    ("nand_prime_m3", true, Unrolling::Three),
    ("lookup", false, Unrolling::One),
    ("lookup_m2", false, Unrolling::Two),
    ("lookup_prime", true, Unrolling::One),
    ("lookup_prime_m2", true, Unrolling::Two),
];

/// Returns the bits of a set's prime ciphertext modulus: 50 for integers and 30 for booleans. It is 32 for
/// `boolean_p64`, whose noise is one unit of a prime of that size.
fn prime_bits(set: &str, messages: Messages) -> u32 {
    match (messages, set) {
        (Messages::Booleans, "boolean_p64") => 32,
        (Messages::Booleans, _) => 30,
        (Messages::Integers { .. }, _) => 50,
    }
}

/// Makes the named rows of a parameter set ready, on one thread. The facts are the sizes of the
/// last row made, and a summary of each row's parameters.
///
/// # Errors
/// Fails if there is no such set, or if a computation fails. A name that is no row makes no row.
pub fn open(set: &str, rows: &[String]) -> Result<Group> {
    let mut group = Group::default();
    for (name, prime, unrolling) in WAYS {
        if !rows.iter().any(|row| row == name) {
            continue;
        }
        let mut builder = ParamsBuilder::named(set)?
            .unrolling(unrolling)
            .failing(Default::default());
        if prime {
            let messages = Params::named(set)?.sizes().messages;
            let bits = prime_bits(set, messages);
            builder = builder.modulus(CiphertextModulus::Prime { bits });
        }
        let params = builder.build()?;
        group.fact(name, params.summary());
        group.fact("set", sizes(&params));
        row(&mut group, name, params)?;
    }
    Ok(group)
}

pub fn sizes(params: &Params) -> serde_json::Value {
    let s = params.sizes();
    let (message_bits, carry_bits) = match s.messages {
        Messages::Booleans => (0, 0),
        Messages::Integers {
            message_bits,
            carry_bits,
        } => (message_bits, carry_bits),
    };
    json!({
        "n": s.n.0,
        "k": s.k.0,
        "ring": s.degree(),
        "pbs_log_base": s.bootstrap.log_base,
        "pbs_levels": s.bootstrap.levels,
        "ks_log_base": s.key_switch.log_base,
        "ks_levels": s.key_switch.levels,
        "lwe_std": s.lwe_std,
        "glwe_std": s.glwe_std,
        "security_bits": params.security().lwe.bits(),
        "message_bits": message_bits,
        "carry_bits": carry_bits,
    })
}

fn row(group: &mut Group, name: &str, params: Arc<Params>) -> Result<()> {
    let client = Client::new(params.clone())?;
    let evaluator = Evaluator::new(
        params.clone(),
        &client.bootstrap_key()?,
        &client.key_switch_key()?,
    )?;
    let mut work = evaluator.workspace();
    match params.sizes().messages {
        Messages::Booleans => {
            group.equal(name, gates_are_right(&client, &evaluator, &mut work)?);
            let (x, y) = (client.encrypt_bit(true)?, client.encrypt_bit(false)?);
            group.row(name, move || {
                evaluator.gate(&mut work, Gate::Nand, &x, &y)?;
                Ok(())
            });
        }
        Messages::Integers { message_bits, .. } => {
            let mask = (1 << message_bits) - 1;
            let table = LookupTable::of(&params, |m| (m + 1) & mask)?;
            let mut right = true;
            for m in 0..=mask {
                let found = evaluator.lookup(&mut work, &table, &client.encrypt(m)?)?;
                right &= client.decrypt(&found)? == (m + 1) & mask;
            }
            group.equal(name, right);
            let x = client.encrypt(1)?;
            group.row(name, move || {
                evaluator.lookup(&mut work, &table, &x)?;
                Ok(())
            });
        }
    }
    Ok(())
}

fn gates_are_right(client: &Client, evaluator: &Evaluator, work: &mut Workspace) -> Result<bool> {
    let mut right = true;
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        let (x, y) = (client.encrypt_bit(a)?, client.encrypt_bit(b)?);
        let nand = evaluator.gate(work, Gate::Nand, &x, &y)?;
        right &= client.decrypt_bit(&nand)? != (a && b);
    }
    Ok(right)
}
