// SPDX-License-Identifier: Apache-2.0
//! Emits the limb program of a blind rotation: its inputs, and the loop of its turns.

use std::sync::Arc;

use ringmill_isa::Poly;
use ringmill_isa::mid::{
    Action, Block, Form, HeadInput, HeadOutput, InputRole, LocalId, Operand, Program, Step,
    ValueType,
};

use super::shape::{Q, Shape};
use super::{Ending, RotationInput, procedures, rotation_inputs};
use crate::tfhe::TfheError;
use crate::tfhe::keys::gadget_ciphertexts;
use crate::tfhe::params::Order;

fn head(shape: &Shape<'_>, input: RotationInput) -> HeadInput {
    let keys = gadget_ciphertexts(shape.params) as u32;
    match input {
        RotationInput::Table => HeadInput {
            ty: shape.limb(Q, Form::Coeff).into(),
            name: "table".into(),
            role: InputRole::Plain { input: 0 },
        },
        RotationInput::MinusBody => HeadInput {
            ty: ValueType::Exponent,
            name: "minus_b".into(),
            role: InputRole::Exponent { input: 0, index: 0 },
        },
        RotationInput::Mask { i } => HeadInput {
            ty: ValueType::Exponent,
            name: format!("a{i}"),
            role: InputRole::Exponent {
                input: 0,
                index: i as u32 + 1,
            },
        },
        RotationInput::Key { at, row, col, lane } => HeadInput {
            ty: shape.limb(shape.lanes[lane], Form::Eval).into(),
            name: format!("k{at}.{row}.{col}.{lane}"),
            role: InputRole::Key {
                key: at as u32,
                digit: row as u16,
                part: procedures::part(col, shape.cols()),
            },
        },
        RotationInput::SwitchKey => HeadInput {
            ty: ValueType::LweTable(shape.switch_key()),
            name: "switch_key".into(),
            role: InputRole::Key {
                key: keys,
                digit: 0,
                part: 0,
            },
        },
    }
}

/// Makes a step of a limb program whose first `cols` operands are the accumulator's limbs, by their local numbers. The
/// results of the step replace these limbs.
fn step(action: Action, cols: u32, others: Vec<Operand>) -> Step {
    let acc = || (0..cols).map(LocalId);
    Step {
        action,
        args: acc().map(Operand::Local).chain(others).collect(),
        seeds: Vec::new(),
        immediates: Vec::new(),
        dies: acc().collect(),
        results: acc().collect(),
        loc: None,
    }
}

/// Returns the numbers of `count` successive inputs of a program, from `first` on.
fn inputs(first: usize, count: usize) -> impl Iterator<Item = u32> {
    (first as u32..).take(count)
}

pub(super) fn rotate(shape: &Shape<'_>, ending: Ending) -> Result<Program, TfheError> {
    let s = shape.params.sizes();
    let (m, cols) = (s.unrolling.m(), shape.cols() as u32);
    let (turns, left) = (s.n.0 / m, s.n.0 % m);
    let masks = 2;
    let keys = masks + s.n.0;
    let mut program = Program::empty(shape.log_n(), shape.moduli.clone());
    let all = rotation_inputs(shape.params, ending);
    let switch_key = Operand::Input((all.len() - 1) as u32);
    program.inputs = all.into_iter().map(|input| head(shape, input)).collect();
    program.procs.push(Arc::new(procedures::start(shape)?));
    program.steps.push(Step {
        args: vec![Operand::Input(0), Operand::Input(1)],
        dies: Vec::new(),
        ..step(Action::Call { proc: 0 }, cols, Vec::new())
    });
    if turns > 0 {
        let proc = procedures::turn(shape, "turn", m)?;
        let others = || (cols..).map(LocalId).take(m + shape.key_limbs(m));
        let types = proc.param_types().collect();
        program.procs.push(Arc::new(proc));
        let mut call = step(
            Action::Call { proc: 1 },
            cols,
            others().map(Operand::Local).collect(),
        );
        call.dies.extend(others());
        program.blocks.push(Block {
            name: "blind_rotate".into(),
            params: types,
            steps: vec![call],
            results: (0..cols).map(LocalId).map(Operand::Local).collect(),
        });
        let each = |first, count, step: usize| {
            let step = step as u32;
            inputs(first, count).map(move |first| Operand::InTurn { first, step })
        };
        let exponents = each(masks, m, m);
        let limbs = shape.key_limbs(m);
        let action = Action::Repeat {
            block: 0,
            count: turns as u64,
        };
        let given = exponents.chain(each(keys, limbs, limbs)).collect();
        program.steps.push(step(action, cols, given));
    }
    if left > 0 {
        let proc = program.procs.len() as u32;
        program
            .procs
            .push(Arc::new(procedures::turn(shape, "last_turn", left)?));
        let exponents = inputs(masks + turns * m, left);
        let limbs = inputs(keys + turns * shape.key_limbs(m), shape.key_limbs(left));
        let given = exponents.chain(limbs).map(Operand::Input).collect();
        program.steps.push(step(Action::Call { proc }, cols, given));
    }
    let output = |col: u32, name: String| HeadOutput {
        from: Operand::Local(LocalId(col)),
        name,
        output: 0,
        poly: Poly(col as u16),
    };
    match ending {
        Ending::Accumulator => {
            let cols = (0..cols).map(|col| output(col, format!("acc{col}")));
            program.outputs.extend(cols);
        }
        Ending::Entry => {
            let proc = program.procs.len() as u32;
            program.procs.push(Arc::new(procedures::end(shape)?));
            let given = match s.order {
                Order::BootstrapFirst => vec![switch_key],
                Order::KeySwitchFirst => Vec::new(),
            };
            program.steps.push(Step {
                results: vec![LocalId(0)],
                ..step(Action::Call { proc }, cols, given)
            });
            program.outputs.push(output(0, "out".into()));
        }
    }
    Ok(program)
}
