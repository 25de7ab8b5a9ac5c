// SPDX-License-Identifier: Apache-2.0
//! Table I: operations of a bootstrap's steps, counted in our program.

use ringmill_circuits::tfhe::Params;
use ringmill_circuits::tfhe::mid::BootstrapPrograms;
use ringmill_isa::mid::{Op, Procedure, ValueType};

use super::paper::Torus;
use crate::error::PaperError;
use crate::expression::value;
use crate::figure::How;
use crate::row::{Ours, Row};

const TABLE: &str =
    "Table I: operations of a bootstrap's steps, n = 630, N = 1024, k = 1, l = 3, t = 15";

/// The instructions of a procedure with this opcode: results and operands of each.
fn of(procedure: &Procedure, op: Op) -> impl Iterator<Item = (usize, usize)> {
    let those = procedure.instrs.iter().filter(move |i| i.op == op);
    those.map(|i| (i.dst.len(), i.src.len()))
}

pub fn rows(paper: &Torus, params: &Params) -> Result<Vec<Row>, PaperError> {
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
    // Operands of a sum of products come in pairs.
    let products = of(turn, Op::Dot).map(|(_, src)| src / 2).sum::<usize>() as f64;
    let transforms = count(turn, Op::Ntt) + count(turn, Op::Intt);
    let sums = products - count(turn, Op::Dot) + count(turn, Op::Add);
    let letters = [
        ("n", s.n.0 as f64),
        ("N", n),
        ("k", s.k.0 as f64),
        ("l", s.bootstrap.levels as f64),
        ("t", s.key_switch.levels as f64),
    ];
    let mut found = Vec::new();
    for (step, part, formula) in &paper.step_cycles {
        let ours = match (step.as_str(), part.as_str()) {
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
        let printed = value(formula, &letters)?;
        let row = Row::new(TABLE, step, part, "", printed, Ours::Is(ours, How::Counted));
        found.push(match (step.as_str(), part.as_str()) {
            ("initialization", _) => row.remarked("the body too"),
            ("blind_rotate", "matrix") => row.remarked("products, in transform form"),
            ("keyswitch", _) => row.remarked("the body has no digits"),
            _ => row,
        });
    }
    Ok(found)
}
