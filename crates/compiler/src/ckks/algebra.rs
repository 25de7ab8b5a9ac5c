//! What values are as polynomials of others, so that x + y - x is known to lie where y does, and x (x + 1) - x where x^2
//! does.
//!
//! Interval analysis takes a sum's and a product's operands to be anywhere within their spans, whatever the others are.
//! Beside it, a value is kept as a polynomial ([`Polynomial`]) of inputs and of what is no polynomial of a few terms.

use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram};
use ringmill_schemes::ckks::{Ball, Polynomial};

/// An instruction's result number `k`; `operands` are what is known of its operands and `real` says which values are. `None`
/// for what has too many products.
pub(crate) fn result(
    program: &MacroProgram,
    instr: &MacroInstr,
    k: usize,
    operands: &[Option<&Polynomial>],
    real: impl Fn(u32) -> bool,
) -> Option<Polynomial> {
    let operand = |i: usize| operands.get(i).copied().flatten();
    let (a, b) = (|| operand(0), || operand(1));
    match (instr.op, &instr.imm) {
        (MacroOp::Encode, &MacroImm::Data(d)) => {
            let numbers = program.data.get(d as usize)?;
            Some(Polynomial::constant(Ball::constants(numbers)))
        }
        (MacroOp::Add, _) => a()?.plus(b()?),
        (MacroOp::Sub, _) => a()?.plus(&b()?.negated()),
        (MacroOp::Neg, _) => Some(a()?.negated()),
        (MacroOp::Mul, _) => a()?.times(b()?),
        (MacroOp::Square, _) => a()?.times(a()?),
        (MacroOp::Addc, &MacroImm::Constant { value, .. }) => {
            a()?.plus(&Polynomial::constant(Ball::exact(value)))
        }
        (MacroOp::Mulc, &MacroImm::Constant { value, .. }) => Some(a()?.scaled(value)),
        (MacroOp::Conj, _) => Some(a()?.conjugated(real)),
        (MacroOp::Relin | MacroOp::Rescale | MacroOp::Modswitch | MacroOp::Refactor, _) => {
            a().cloned()
        }
        (MacroOp::Rotate | MacroOp::Hrotate, MacroImm::Steps(steps)) => {
            let steps = i64::from(*steps.get(k)?);
            Some(a()?.rotated(steps, program.slots as usize))
        }
        (
            MacroOp::Input
            | MacroOp::Encode
            | MacroOp::Load
            | MacroOp::Morph
            | MacroOp::Ksw
            | MacroOp::Addc
            | MacroOp::Mulc
            | MacroOp::Rotate
            | MacroOp::Hrotate
            | MacroOp::Iszero
            | MacroOp::Quotient
            | MacroOp::Bootstrap
            | MacroOp::Call
            | MacroOp::Repeat
            | MacroOp::Output,
            _,
        ) => None,
    }
}
