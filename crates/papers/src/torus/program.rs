// SPDX-License-Identifier: Apache-2.0
//! Counts of Kong and Li's bootstrap: operations of its steps (Table I), and the estimated security of its parameter
//! sets (Table III of their paper).

use ringmill_circuits::tfhe::mid::BootstrapPrograms;
use ringmill_circuits::tfhe::{Params, ParamsBuilder};
use ringmill_isa::mid::{Op, Procedure, ValueType};

use crate::error::PaperError;
use crate::scope::{Record, Scope, record};
use crate::value::{Value, counted};

/// Returns the instructions of a procedure with this opcode. Each is given as its number of results and its
/// number of operands.
fn of(procedure: &Procedure, op: Op) -> impl Iterator<Item = (usize, usize)> {
    let those = procedure.instrs.iter().filter(move |i| i.op == op);
    those.map(|i| (i.dst.len(), i.src.len()))
}

/// Counts the instructions of our bootstrap program, from which Table I of the paper of Kong and Li follows. Procedures
/// are `start`, `turn` for one step of the blind rotation, and `end`.
///
/// # Errors
/// Fails if the bootstrap's program cannot be made.
pub fn counts(params: &Params) -> Result<Record, PaperError> {
    let s = params.sizes();
    let program = BootstrapPrograms::new(params)?.rotate;
    let procedure = |name: &str| {
        let found = program.procs.iter().find(|p| p.name == name);
        found.ok_or_else(|| PaperError::Internal(format!("a bootstrap has no procedure `{name}`")))
    };
    let (start, turn, end) = (procedure("start")?, procedure("turn")?, procedure("end")?);
    let exponents = program.inputs.iter();
    let exponents = exponents.filter(|input| input.ty == ValueType::Exponent);
    let count = |procedure, op| Value::from(of(procedure, op).count());
    let digits = of(turn, Op::Decomp).map(|(results, _)| results);
    // The operands of a sum of products come in pairs.
    let products = of(turn, Op::Dot).map(|(_, operands)| operands / 2);
    Ok(record([
        ("large", s.large_dimension().into()),
        ("switch_levels", s.key_switch.levels.into()),
        ("exponents", exponents.count().into()),
        ("start.rotdiff", count(start, Op::Rotdiff)),
        ("turn.rotdiff", count(turn, Op::Rotdiff)),
        ("turn.digits", digits.sum::<usize>().into()),
        ("turn.ntt", count(turn, Op::Ntt)),
        ("turn.intt", count(turn, Op::Intt)),
        ("turn.products", products.sum::<usize>().into()),
        ("turn.dot", count(turn, Op::Dot)),
        ("turn.add", count(turn, Op::Add)),
        ("end.extract", count(end, Op::Extract)),
        ("end.lweks", count(end, Op::Lweks)),
    ]))
}

/// Returns the estimated bits of security of the small key and of the ring key for the parameter set that the current
/// row of `data/torus.toml` names. The record is empty for a row without a set, and for a set without both estimates.
///
/// # Errors
/// Fails if no set has the name.
pub fn security(at: &Scope<'_>) -> Result<Record, PaperError> {
    let Value::Text(name) = at.evaluate("known_sets.{n}?")? else {
        return Ok(Record::new());
    };
    let params = ParamsBuilder::named(&name)?.build()?;
    let security = params.security();
    Ok(match security.lwe.bits().zip(security.glwe.bits()) {
        Some((lwe, glwe)) => record([("lwe", counted(lwe)), ("glwe", counted(glwe))]),
        None => Record::new(),
    })
}
