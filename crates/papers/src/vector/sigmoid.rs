// SPDX-License-Identifier: Apache-2.0
//! Table 7 of the BASALISC paper: the instructions of one sigmoid, beside those that our compiler makes for it.

use std::sync::Arc;

use ringmill_compiler::bgv::Options;
use ringmill_compiler::builder::{self, Power, TraceBuilder};
use ringmill_compiler::{Compiled, compile};
use ringmill_isa::macros::{MacroOp, SchemeName, Visibility, stats};
use ringmill_schemes::bgv::Bgv;
use ringmill_schemes::bgv::bootstrap::Procedure;

use super::opcodes::{OPCODES, counts};
use crate::error::PaperError;
use crate::scope::{Record, record};

/// The points where the sigmoid's linear pieces meet, and the sigmoid's values there. For negative arguments the value
/// is 1 less the value of the opposite.
const PIECES: [(f64, f64); 6] = [
    (0.0, 0.5),
    (1.0, 0.731),
    (2.0, 0.881),
    (3.0, 0.953),
    (5.0, 0.993),
    (8.0, 1.0),
];

/// Returns 64 times the sigmoid of each z from -(p - 1) / 2 to (p - 1) / 2, for the prime p. The last z stands for the
/// argument 8.
pub fn table(prime: u64) -> Vec<i64> {
    let half = (prime / 2) as i64;
    let scale = 64.0;
    let above = |z: i64| {
        let x = z as f64 * 8.0 / half.max(1) as f64;
        let pieces = PIECES.windows(2).find_map(|pair| match *pair {
            [(x0, y0), (x1, y1)] if x <= x1 => Some(y0 + (y1 - y0) * (x - x0) / (x1 - x0)),
            _ => None,
        });
        (scale * pieces.unwrap_or(1.0)).round_ties_even() as i64
    };
    (-half..=half)
        .map(|z| match z < 0 {
            true => scale as i64 - above(-z),
            false => above(z),
        })
        .collect()
}

/// Traces a procedure that maps u to the entry of [`table`] for z = u / p, rounded to nearest. `power` is the plaintext
/// modulus, a power of p.
///
/// # Errors
/// Fails if the trace refuses an operation.
pub fn traced(trace: &mut TraceBuilder, power: Power) -> Result<builder::Procedure, PaperError> {
    let given = trace.begin_procedure("sigmoid", &[Visibility::Encrypted], None)?;
    let &[u] = given.as_slice() else {
        return Err(PaperError::Internal("a procedure of one parameter".into()));
    };
    let low = trace.low_digit(u, power, None)?;
    let rest = trace.sub(u, low, None)?;
    let rest = trace.quotient(rest, power.prime, None)?;
    let looked_up = trace.digit_table(rest, power, &table(power.prime), None)?;
    Ok(trace.end(&[looked_up], None)?)
}

/// Compiles a BGV program with one call of the sigmoid's procedure. `procedure` is the bootstrap that the program uses.
///
/// # Errors
/// Fails if the compiler refuses the program.
pub fn compiled(procedure: &Arc<Procedure>) -> Result<Compiled<Bgv>, PaperError> {
    let power = procedure.params().prime_power()?;
    let (prime, exponent) = (power.prime(), power.exponent());
    let slots = procedure.setup().structure().columns() as u32;
    let mut trace = TraceBuilder::new("sigmoid", slots)?;
    let u = trace.input("u", Visibility::Encrypted, None)?;
    let sigmoid = traced(&mut trace, Power { prime, exponent })?;
    let result = trace.call(&sigmoid, &[u], None)?;
    if let Some(&s) = result.first() {
        trace.output("s", s, None)?;
    }
    let mut source = trace.finish();
    source.scheme = SchemeName::new("bgv").unwrap_or_default();
    let options = Options {
        bootstrapping: Some(Arc::clone(procedure)),
        seeded_keys: procedure.seeded(),
        ..Options::given(Arc::clone(procedure.params()))
    };
    Ok(compile::<Bgv>(source, &options)?)
}

/// Counts in one sigmoid each opcode of the BASALISC paper, the bootstraps and the macro instructions.
///
/// # Errors
/// Fails as [`compiled`] does.
pub fn figures(procedure: &Arc<Procedure>) -> Result<Vec<Record>, PaperError> {
    let compiled = compiled(procedure)?;
    let opcodes = counts(compiled.program.program());
    let macros = stats::counts(&compiled.managed);
    let bootstraps = macros.get(&MacroOp::Bootstrap).copied().unwrap_or(0);
    let mut found = record([
        ("bootstraps", bootstraps.into()),
        ("macros", macros.values().sum::<u64>().into()),
    ]);
    for opcode in OPCODES {
        let count = opcodes.get(opcode).copied().unwrap_or(0);
        found.insert(format!("count.{opcode}"), count.into());
    }
    Ok(vec![found])
}
