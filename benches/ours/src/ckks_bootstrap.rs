// SPDX-License-Identifier: Apache-2.0
//! Times a bootstrap of CKKS under a parameter set that bootstraps. The timed program is x^4 with its output one level
//! below that of bootstrapped values. It consists of a square at a low level, a bootstrap, and a square of the result.

use std::collections::BTreeMap;
use std::sync::Arc;

use num_complex::Complex64;
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::{InputRange, Options, ParamsChoice};
use ringmill_compiler::compile;
use ringmill_device::Request;
use ringmill_device::progress::Silent;
use ringmill_isa::macros::Visibility;
use ringmill_runtime::{Client, Server, Vectors};
use ringmill_schemes::ParameterSet;
use ringmill_schemes::ckks::bootstrap::{Procedure, Set};
use ringmill_sim::open as open_device;
use serde_json::json;

use crate::Result;
use crate::group::Group;

/// The name of the row: a bootstrap of real numbers up to 1 in all slots.
const BOOTSTRAP: &str = "real";

/// Makes the row of a parameter set ready, on this number of threads. The decrypted result must be within the
/// compiler's bound on its error.
///
/// # Errors
/// Fails if there is no such set, or if a computation fails.
pub fn open(set: &str, threads: usize) -> Result<Group> {
    let named = Set::named(set).ok_or_else(|| format!("no set {set}"))?;
    let procedure = Arc::new(Procedure::of_set(named)?);
    let params = Arc::clone(procedure.params());
    let slots = params.slots() as u32;
    let mut t = TraceBuilder::new("bootstrap", slots)?;
    let x = t.input("x", Visibility::Encrypted, None)?;
    let square = t.square(x, None)?;
    let y = t.square(square, None)?;
    t.output("y", y, None)?;
    let options = Options {
        ranges: vec![Some(InputRange::Real {
            lowest: -1.0,
            highest: 1.0,
        })],
        output_level: procedure.end().below().unwrap_or_default(),
        params: ParamsChoice::Given(Arc::clone(&params)),
        bootstrapping: Some(Arc::clone(&procedure)),
        ..Options::default()
    };
    let compiled = Arc::new(compile(t.finish(), &options)?);
    let bound = compiled.predicted.first().map_or(f64::MAX, |p| p.error);

    let client = Client::new(Arc::clone(&compiled))?;
    let keys = client.evaluation_keys()?;
    let server: &'static Server<_> = Box::leak(Box::new(Server::new(Arc::clone(&compiled), keys)?));
    let device = Box::leak(open_device(&format!("cpu:{threads}"))?);
    let values = (0..slots).map(|i| f64::from(i % 201) / 100.0 - 1.0);
    let values: Vec<Complex64> = values.map(Complex64::from).collect();
    let powers: Vec<f64> = values.iter().map(|x| x.re.powi(4)).collect();
    let ciphers = client.encrypt(&Vectors::from([("x".to_owned(), values)]))?;

    let mut running = server.open(device, &Request::function_only().watch)?;
    let plains = BTreeMap::new();
    let answer = running.run(&ciphers, &plains, Request::function_only(), &Silent)?;
    let outputs = client.decrypt(&answer.outputs.ok_or("a run without outputs")?)?;
    let found = outputs.get("y").ok_or("no output y")?;
    let errors = found.iter().zip(&powers).map(|(a, b)| (a - b).norm());
    let error = errors.fold(0.0, f64::max);

    let mut group = Group::default();
    group.fact(
        "set",
        json!({
            "log_n": params.log_n(),
            "slots": slots,
            "levels": procedure.end().0 - procedure.start().0,
            "bits": params.cipher_moduli().iter().map(|&q| (q as f64).log2()).sum::<f64>().round(),
            "digits": params.dnum(),
        }),
    );
    group.fact("least_bits", (-error.log2() * 10.0).floor() / 10.0);
    group.fact("proved_bits", (-bound.log2() * 10.0).floor() / 10.0);
    group.fact("key_mib", compiled.key_bytes() >> 20);
    group.equal(BOOTSTRAP, error <= bound);
    group.row(BOOTSTRAP, move || {
        drop(running.run(&ciphers, &plains, Request::function_only(), &Silent)?);
        Ok(())
    });
    Ok(group)
}
