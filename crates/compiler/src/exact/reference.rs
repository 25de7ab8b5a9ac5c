//! What a program of integers computes, in the clear and without wrapping. Expected results come from here.

use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroValue};

use crate::numbers::whole;
pub use crate::reference::EvaluateError;
use crate::reference::{Meaning, rotated, run, turned_by};

/// A slot; `None` beyond 127 bits.
type Whole = Option<i128>;

/// Evaluates a traced program. `inputs` are the vectors of the program's inputs in order, each of `slots` values; the
/// result is one vector an output, in the order of the program's outputs.
///
/// # Errors
/// [`EvaluateError`] when inputs do not fit the program, outputs outgrow 127 bits, or the program breaks the macro level's
/// rules.
pub fn evaluate(
    program: &MacroProgram,
    inputs: &[Vec<i128>],
) -> Result<Vec<Vec<i128>>, EvaluateError> {
    meant(program, inputs, None)
}

/// The same modulo `t`, about zero: what a program computes that bootstraps. A quotient is the integer's about zero, which is right where
/// digits alone are read of it, and no more is known.
///
/// # Errors
/// As [`evaluate`]; [`EvaluateError::TooLarge`] for quotients of what the divisor does not divide, too.
pub fn evaluate_modulo(
    program: &MacroProgram,
    inputs: &[Vec<i128>],
    t: u64,
) -> Result<Vec<Vec<i128>>, EvaluateError> {
    meant(program, inputs, Some(t.into()))
}

fn meant(
    program: &MacroProgram,
    inputs: &[Vec<i128>],
    modulo: Option<i128>,
) -> Result<Vec<Vec<i128>>, EvaluateError> {
    let inputs = inputs.iter().map(|v| v.iter().map(|&x| Some(x)).collect());
    let inputs: Vec<Vec<Whole>> = inputs.collect();
    let outputs = run(program, &inputs, &mut Integers { modulo })?;
    let named = outputs.into_iter().zip(&program.outputs);
    let known = |(slots, name): (Vec<Whole>, &String)| {
        let slots: Option<Vec<i128>> = slots.into_iter().collect();
        slots.ok_or_else(|| EvaluateError::TooLarge { name: name.clone() })
    };
    named.map(known).collect()
}

/// Slots are integers, or about zero modulo one.
struct Integers {
    modulo: Option<i128>,
}

impl Meaning<Whole> for Integers {
    fn step(
        &mut self,
        program: &MacroProgram,
        instr: &MacroInstr,
        operands: &[&[Whole]],
        inputs: &[Vec<Whole>],
    ) -> Option<Vec<Vec<Whole>>> {
        step(program, instr, operands, inputs)
    }

    fn made(&mut self, _: MacroValue, slots: &mut [Whole]) {
        let Some(t) = self.modulo else {
            return;
        };
        for slot in slots.iter_mut() {
            let residue = slot.map(|x| x.rem_euclid(t));
            *slot = residue.map(|x| if x > t / 2 { x - t } else { x });
        }
    }
}

/// The results of one instruction; `None` if its shape is wrong.
fn step(
    program: &MacroProgram,
    instr: &MacroInstr,
    operands: &[&[Whole]],
    inputs: &[Vec<Whole>],
) -> Option<Vec<Vec<Whole>>> {
    let zip = |f: fn(i128, i128) -> Whole| match operands {
        [a, b] => {
            let slots = a.iter().zip(b.iter()).map(|(&x, &y)| f(x?, y?));
            Some(vec![slots.collect()])
        }
        _ => None,
    };
    let each = |f: &dyn Fn(i128) -> Whole| match operands {
        [a] => Some(vec![a.iter().map(|&x| f(x?)).collect::<Vec<_>>()]),
        _ => None,
    };
    match (instr.op, &instr.imm) {
        (MacroOp::Input, MacroImm::Input(i)) => Some(vec![inputs.get(*i as usize)?.clone()]),
        (MacroOp::Encode, MacroImm::Data(d)) => {
            let data = program.data.get(*d as usize)?;
            let values: Option<Vec<i64>> = data.iter().map(|&(re, _)| whole(re)).collect();
            let values = values.filter(|v| v.len() == program.slots as usize)?;
            Some(vec![values.into_iter().map(|x| Some(x.into())).collect()])
        }
        (MacroOp::Add, _) => zip(i128::checked_add),
        (MacroOp::Sub, _) => zip(i128::checked_sub),
        (MacroOp::Mul, _) => zip(i128::checked_mul),
        (MacroOp::Square, _) => each(&|x| x.checked_mul(x)),
        (MacroOp::Neg, _) => each(&i128::checked_neg),
        (MacroOp::Iszero, _) => each(&|x| Some((x == 0).into())),
        (MacroOp::Addc, &MacroImm::Integer(c)) => each(&|x| x.checked_add(c)),
        (MacroOp::Mulc, &MacroImm::Integer(c)) => each(&|x| x.checked_mul(c)),
        (MacroOp::Addc, &MacroImm::Constant { value, .. }) => {
            let c = whole(value)?.into();
            each(&|x| x.checked_add(c))
        }
        (MacroOp::Mulc, &MacroImm::Constant { value, .. }) => {
            let c = whole(value)?.into();
            each(&|x| x.checked_mul(c))
        }
        (
            MacroOp::Conj
            | MacroOp::Relin
            | MacroOp::Rescale
            | MacroOp::Modswitch
            | MacroOp::Refactor
            | MacroOp::Load
            | MacroOp::Ksw
            | MacroOp::Bootstrap,
            _,
        ) => each(&|x| Some(x)),
        // What bootstraps turns by its slots' own generator, which the program does not say.
        (MacroOp::Morph, &MacroImm::Galois(element))
            if program.instrs.iter().all(|i| i.op != MacroOp::Bootstrap) =>
        {
            match turned_by(element, program.slots)? {
                (steps, false) => Some(rotated(operands.first()?, &[steps])),
                (_, true) => None,
            }
        }
        (MacroOp::Quotient, &MacroImm::Integer(c)) => each(&|x| {
            x.checked_rem(c)
                .filter(|&rest| rest == 0)
                .and(x.checked_div(c))
        }),
        (MacroOp::Rotate | MacroOp::Hrotate, MacroImm::Steps(steps)) => match operands {
            [a] => Some(rotated(a, steps)),
            _ => None,
        },
        (
            MacroOp::Input
            | MacroOp::Encode
            | MacroOp::Addc
            | MacroOp::Mulc
            | MacroOp::Morph
            | MacroOp::Rotate
            | MacroOp::Hrotate
            | MacroOp::Quotient
            | MacroOp::Output
            | MacroOp::Call
            | MacroOp::Repeat,
            _,
        ) => None,
    }
}
