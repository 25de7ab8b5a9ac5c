// SPDX-License-Identifier: Apache-2.0
//! Recognises the procedures of a bootstrap that an engine runs: those that begin, rotate and end an accumulator.

use ringmill_isa::mid::{Head, Imm, Op, Procedure, TableModulus, ValueType};
use ringmill_math::torus::TorusRing;

use super::Shape;
use crate::MachineError;

/// The part of a bootstrap that a procedure of the engine's program does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The procedure makes the accumulator of the blind rotation from a look-up table.
    Start,
    /// The procedure is one step of the blind rotation, for this number of secret bits.
    Turn(usize),
    /// The procedure extracts a ciphertext from the accumulator. `switches` tells whether it also switches the
    /// key.
    End { switches: bool },
}

fn count(procedure: &Procedure, op: Op) -> usize {
    procedure.instrs.iter().filter(|i| i.op == op).count()
}

/// Returns whether the procedure's decompositions have the engine's number and width of digits.
fn decomposes(shape: Shape, procedure: &Procedure) -> bool {
    let sizes = shape.sizes();
    let mut decomps = procedure.instrs.iter().filter(|i| i.op == Op::Decomp);
    decomps.all(|i| i.imm == Imm::Base(sizes.log_base as u8) && i.dst.len() == sizes.levels)
}

/// Refuses a procedure whose key switch has other digits or dimensions than the engine's. The error has the
/// numbers of both. A procedure without a key switch passes.
fn check_switch(shape: Shape, procedure: &Procedure) -> Result<(), MachineError> {
    let digits = shape.switch().digits();
    let Some(switch) = procedure.instrs.iter().find(|i| i.op == Op::Lweks) else {
        return Ok(());
    };
    let types = switch.src.iter().map(|v| procedure.types.get(v.0 as usize));
    let table = types.flatten().find_map(|ty| match ty {
        ValueType::LweTable(table) => Some(*table),
        ValueType::Limb(_) | ValueType::Lwe(_) | ValueType::Exponent => None,
    });
    let table = table.ok_or_else(|| MachineError::Program("a key switch without a key".into()))?;
    let (rows, small) = (table.rows as usize, table.row.dimension.words() - 1);
    let same_base = switch.imm == Imm::Base(digits.log_base as u8);
    if same_base && rows == shape.degree() * digits.levels && small == shape.sizes().dim {
        return Ok(());
    }
    Err(MachineError::Unsupported {
        procedure: procedure.name.clone(),
        what: format!(
            "a key switch with {rows} rows to dimension {small}, {:?}: this engine's has N = {} words of {} digits (`switch.levels`) of {} bits (`switch.log_base`), to {} (`dim`)",
            switch.imm,
            shape.degree(),
            digits.levels,
            digits.log_base,
            shape.sizes().dim
        ),
    })
}

/// Returns which part of a bootstrap the procedure does. It counts the procedure's operations and compares sizes; it
/// does not follow operands.
///
/// # Errors
/// [`MachineError::Unsupported`] for a procedure that is no part of a bootstrap, or one of other sizes than the
/// engine's; [`MachineError::Program`] for a key switch without a key.
pub fn part(shape: Shape, procedure: &Procedure) -> Result<Part, MachineError> {
    let sizes = shape.sizes();
    let is = |op, expected: usize| count(procedure, op) == expected;
    if is(Op::Decomp, 0) {
        let extracts = is(Op::Extract, 1) && procedure.instrs.len() <= 2;
        if extracts {
            let switches = is(Op::Lweks, 1);
            if switches || procedure.instrs.len() == 1 {
                check_switch(shape, procedure)?;
                return Ok(Part::End { switches });
            }
        }
        if is(Op::Rotdiff, 1) && is(Op::Add, 1) && is(Op::Sub, 1) && procedure.instrs.len() == 3 {
            return Ok(Part::Start);
        }
        return Err(MachineError::Unsupported {
            procedure: procedure.name.clone(),
            what: "what is no start, turn or end of a blind rotation with k = 1".to_owned(),
        });
    }
    let exponent = |&&ty: &&ValueType| ty == ValueType::Exponent;
    let params = procedure.params.len();
    let bits = procedure.types.iter().take(params).filter(exponent).count();
    let patterns = (1usize << bits.min(8)) - 1;
    let single = sizes.unroll == 1;
    let expected = [
        (Op::Decomp, 2),
        (Op::Ntt, shape.rows()),
        (Op::Dot, 2 * patterns),
        (Op::Intt, 2),
        (Op::Bextx, 2),
        (Op::Rotdiff, 2 * patterns),
        (Op::Add, 2 + if single { 0 } else { 2 * (patterns - 1) }),
    ];
    let all: usize = expected.iter().map(|&(_, n)| n).sum();
    let same = expected.iter().all(|&(op, n)| is(op, n));
    if !same || all != procedure.instrs.len() || !decomposes(shape, procedure) {
        return Err(MachineError::Unsupported {
            procedure: procedure.name.clone(),
            what: format!(
                "a turn of other sizes: this engine has k = 1, {} digits of {} bits (`levels`, `log_base`) and {} bits a turn (`unroll`)",
                sizes.levels, sizes.log_base, sizes.unroll
            ),
        });
    }
    Ok(Part::Turn(bits))
}

/// Checks that a program has the engine's ring degree and moduli.
///
/// # Errors
/// [`MachineError::Unsupported`] for another ring degree or other moduli.
pub fn check_head(shape: Shape, head: &Head<'_>) -> Result<(), MachineError> {
    let refuse = |what: String| {
        Err(MachineError::Unsupported {
            procedure: "of the head".to_owned(),
            what,
        })
    };
    let log_n = shape.sizes().log_n;
    if u32::from(head.log_n) != log_n {
        return refuse(format!(
            "rings of 2^{}: this engine is made for 2^{log_n} (`log_n` of its description)",
            head.log_n
        ));
    }
    let expected = [
        TableModulus::PowerOfTwo(32),
        TableModulus::Prime(TorusRing::MAX_PRIME),
    ];
    if head.moduli != expected {
        let got: Vec<_> = head.moduli.iter().map(ToString::to_string).collect();
        return refuse(format!(
            "moduli {}: this engine has q = 2^32 and transforms modulo 2^52 - 2^12 + 1",
            got.join(", ")
        ));
    }
    Ok(())
}
