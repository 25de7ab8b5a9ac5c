// SPDX-License-Identifier: Apache-2.0
//! Times operations on encrypted integers of 16 bits. Each is a circuit of bootstraps, and its result is decrypted and
//! checked first.

use std::sync::Arc;

use ringmill_circuits::circuit::graph::BITS;
use ringmill_circuits::circuit::program::Binary;
use ringmill_circuits::circuit::{Circuit, ProgramBuilder, Type, lower};
use ringmill_circuits::run::client::{bound, unbound};
use ringmill_circuits::run::{CircuitClient, Engine, Keeping, Server, run};
use ringmill_circuits::tfhe::{Client, Evaluator, Params};
use ringmill_device::progress::Silent;
use ringmill_limits::Watch;

use crate::Result;
use crate::group::Group;
use crate::tfhe::sizes;

const ROWS: [(&str, Binary); 5] = [
    // Eight bootstraps, none of which waits for another.
    ("and", Binary::And),
    ("add", Binary::Add),
    ("multiply", Binary::Mul),
    ("maximum", Binary::Max),
    ("divide", Binary::Div),
];
const OPERANDS: [i128; 2] = [40_503, 777];
/// log2 of the largest probability with which one bootstrap may fail.
const FAILURE: f64 = -64.0;

fn circuit(op: Binary, params: &Params) -> Result<Circuit> {
    let mut b = ProgramBuilder::new();
    let kind = Type::new(16, false)?;
    let (x, y) = (b.input("x", kind), b.input("y", kind));
    let z = b.binary(op, x, y)?;
    b.output("z", z)?;
    let limit = params.noise().largest_norm(BITS, FAILURE);
    let limit = limit.ok_or("the set fails more often than 2^-64")?;
    Ok(lower(&b.finish(), limit, &Watch::default())?)
}

/// Makes the named rows of a parameter set ready, on this number of threads. The facts are the set's sizes, and the
/// bootstraps of each circuit.
///
/// # Errors
/// Fails if there is no such set, or if a computation fails. A name that is no row makes no row.
pub fn open(set: &str, rows: &[String], threads: usize) -> Result<Group> {
    let mut group = Group::default();
    let params = Params::named(set)?;
    let client = Client::new(Arc::clone(&params))?;
    let keys = (client.bootstrap_key()?, client.key_switch_key()?);
    let evaluator = Arc::new(Evaluator::new(Arc::clone(&params), &keys.0, &keys.1)?);
    let client = CircuitClient::new(client);
    group.fact("set", sizes(&params));
    for (name, op) in ROWS {
        if !rows.iter().any(|row| row == name) {
            continue;
        }
        let circuit = circuit(op, &params)?;
        let cost = circuit.graph.cost();
        let (all, depth) = (cost.bootstraps, cost.depth);
        group.fact(name, format!("{all} bootstraps, {depth} in a row"));
        let watch = Watch::default();
        let operands = circuit.inputs.iter().zip(OPERANDS);
        let operands = operands.map(|(port, x)| client.encrypt(port, x, &watch));
        let inputs = bound(&circuit, operands.collect::<std::result::Result<_, _>>()?)?;
        let port = circuit.outputs[0].clone();
        let evaluator = Arc::clone(&evaluator);
        let compute = move || {
            let server = Server {
                engine: Engine::Evaluator(&evaluator),
                threads,
                watch: &Watch::default(),
                progress: &Silent,
            };
            run(&circuit.graph, &server, inputs.clone(), &Keeping::default())
                .map(|ran| unbound(&circuit, ran.outputs))
        };
        let [x, y] = OPERANDS;
        let expected = match op {
            Binary::And => x & y,
            Binary::Add => (x + y) & 0xffff,
            Binary::Mul => (x * y) & 0xffff,
            Binary::Max => x.max(y),
            Binary::Div => x / y,
            other => return Err(format!("no row for {other:?}").into()),
        };
        let found = client.decrypt(&port, &compute()?[0])?;
        group.equal(name, found == expected);
        group.row(name, move || {
            compute()?;
            Ok(())
        });
    }
    Ok(group)
}
