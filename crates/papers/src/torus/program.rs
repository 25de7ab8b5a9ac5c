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

/// Counts the operations in our bootstrap program that belong to one step of Table I of the paper of Kong and Li.
pub fn step(at: &Scope<'_>, params: &Params) -> Result<Record, PaperError> {
    let s = params.sizes();
    let program = BootstrapPrograms::new(params)?.rotate;
    let procedure = |name: &str| {
        let found = program.procs.iter().find(|p| p.name == name);
        found.ok_or_else(|| PaperError::Internal(format!("a bootstrap has no procedure `{name}`")))
    };
    let (start, turn, end) = (procedure("start")?, procedure("turn")?, procedure("end")?);
    let n = s.degree() as f64;
    let butterflies = n / 2.0 * n.log2();
    let inputs = program.inputs.iter();
    let exponents = inputs.filter(|i| i.ty == ValueType::Exponent).count();
    let count = |procedure, op| of(procedure, op).count() as f64;
    let results = |procedure, op| of(procedure, op).map(|(dst, _)| dst).sum::<usize>() as f64;
    // The operands of a sum of products come in pairs.
    let products = of(turn, Op::Dot).map(|(_, src)| src / 2).sum::<usize>() as f64;
    let transforms = count(turn, Op::Ntt) + count(turn, Op::Intt);
    let sums = products - count(turn, Op::Dot) + count(turn, Op::Add);
    let (step, part) = (at.text("step")?, at.text("part")?);
    let operations = match (step.as_str(), part.as_str()) {
        ("initialization", _) => exponents as f64,
        ("plaintext_rotate", _) => count(start, Op::Rotdiff) * n,
        ("blind_rotate", "(x^a - 1) * bk") => count(turn, Op::Rotdiff) * n,
        ("blind_rotate", "decompose") => results(turn, Op::Decomp) * n,
        ("blind_rotate", "matrix") => transforms * butterflies + products * n,
        ("blind_rotate", "accumulate") => sums * n,
        ("extract", _) => count(end, Op::Extract) * (s.large_dimension() + 1) as f64,
        ("keyswitch", _) => {
            let digits = s.large_dimension() * s.key_switch.levels;
            count(end, Op::Lweks) * digits as f64
        }
        (step, part) => {
            return Err(PaperError::Internal(format!("Table I has {step}, {part}")));
        }
    };
    Ok(record([("operations", counted(operations))]))
}

/// Returns the estimated bits of security of the small key and of the ring key for the dimension n in the current row
/// of `data/torus.toml`. The estimate assumes the noise that the TFHE library had for n.
pub fn security(at: &Scope<'_>) -> Result<Record, PaperError> {
    let name = match at.count("n")? {
        630 => Some("tfhe_library_2020_below_128_bits"),
        500 => Some("paper_110_bits_below_94_bits"),
        _ => None,
    };
    let bits = match name {
        Some(name) => {
            let params = ParamsBuilder::named(name)?.build()?;
            let security = params.security();
            security.lwe.bits().zip(security.glwe.bits())
        }
        None => None,
    };
    let (lwe, glwe) = match bits {
        Some((lwe, glwe)) => (counted(lwe), counted(glwe)),
        None => (Value::None, Value::None),
    };
    Ok(record([("lwe", lwe), ("glwe", glwe)]))
}
