// SPDX-License-Identifier: Apache-2.0
//! A mid-level program: a head (ring, moduli, inputs, seeds, outputs), procedures, and blocks of steps that call them.
//!
//! A step calls a procedure, runs a block, or repeats one. Limbs are numbered within the frame of their block and numbers
//! are used again: each step says which of its operands die with it, so that whoever takes the steps one after another
//! ([`super::walk`]) holds what is alive and nothing else, however long the program runs.

use std::sync::Arc;

use super::procedure::{ParamRole, Procedure};
use super::types::{TableModulus, ValueType};
use crate::numbers::Poly;
use crate::source::SourceLoc;

/// A limb of a block's frame, or a value of another kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LocalId(pub u32);

/// What a step reads: an input of the program, in reach of every block, or a limb of the block's own frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Operand {
    /// Index into [`Program::inputs`].
    Input(u32),
    Local(LocalId),
    /// Of a repeat, what it does not carry: input `first` in the first turn, and in each turn the one `step` after that of
    /// the turn before.
    InTurn {
        first: u32,
        step: u32,
    },
}

impl Operand {
    /// The input of the last of `turns` turns.
    pub(super) fn last_in_turn(first: u32, step: u32, turns: u64) -> u64 {
        let further = u64::from(step).saturating_mul(turns.saturating_sub(1));
        u64::from(first).saturating_add(further)
    }
}

/// Where the run time finds an input; a limb's prime is in its type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InputRole {
    /// Polynomial `poly` of encrypted input number `input`.
    Cipher { input: u32, poly: Poly },
    /// Encoded plaintext number `input`.
    Plain { input: u32 },
    /// Part of a digit of key number `key`, or a table that is a key.
    Key { key: u32, digit: u16, part: u16 },
    /// Public exponent number `index` of input number `input`.
    Exponent { input: u32, index: u32 },
}

/// An input of a [`Program`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeadInput {
    pub ty: ValueType,
    pub name: String,
    pub role: InputRole,
}

/// An output of a [`Program`]: polynomial `poly` of output ciphertext `output`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeadOutput {
    /// As it is after the last step of the program.
    pub from: Operand,
    pub name: String,
    pub output: u32,
    pub poly: Poly,
}

/// What a step does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// Calls a procedure: index into [`Program::procs`].
    Call { proc: u32 },
    /// Runs a block once: index into [`Program::blocks`], below that of the block that the step is in.
    Run { block: u32 },
    /// Runs a block `count` times. As many of its parameters as it has results are carried: what one turn gives is what
    /// the next takes; the others are the same in every turn.
    Repeat { block: u32, count: u64 },
    /// `HCF`: the machine that the program is sent to halts and awaits new instructions. The last step of a program, on nothing.
    Halt,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub action: Action,
    /// One for each parameter, in order, of equal type.
    pub args: Vec<Operand>,
    /// Of a call: for each seed parameter, an index into [`Program::seeds`].
    pub seeds: Vec<u32>,
    /// Of a call: the value of each immediate parameter.
    pub immediates: Vec<u64>,
    /// Limbs of the frame, each an argument, that nothing reads after this step; their numbers are free for its results.
    pub dies: Vec<LocalId>,
    /// One limb that is not alive for each result, in order.
    pub results: Vec<LocalId>,
    /// The user's source line this step came from.
    pub loc: Option<SourceLoc>,
}

impl Step {
    /// The end of a program for a machine that is sent its instructions.
    pub fn halt() -> Self {
        Self {
            action: Action::Halt,
            args: Vec::new(),
            seeds: Vec::new(),
            immediates: Vec::new(),
            dies: Vec::new(),
            results: Vec::new(),
            loc: None,
        }
    }
}

/// Steps with a frame of their own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Unique among the blocks of a program. Letters, digits, `.`, `_`, `-`.
    pub name: String,
    /// Types of the parameters, which are the frame's first limbs and other values.
    pub params: Vec<ValueType>,
    pub steps: Vec<Step>,
    /// What the block gives, as it is after the last step.
    pub results: Vec<Operand>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    pub log_n: u8,
    pub moduli: Vec<TableModulus>,
    pub procs: Vec<Arc<Procedure>>,
    pub blocks: Vec<Block>,
    pub inputs: Vec<HeadInput>,
    /// Key numbers whose seed the run time supplies.
    pub seeds: Vec<u32>,
    /// The steps of the program itself, in a frame without parameters.
    pub steps: Vec<Step>,
    pub outputs: Vec<HeadOutput>,
}

impl Program {
    /// A program that does nothing yet, over these moduli.
    pub fn empty(log_n: u8, moduli: Vec<TableModulus>) -> Self {
        Self {
            log_n,
            moduli,
            procs: Vec::new(),
            blocks: Vec::new(),
            inputs: Vec::new(),
            seeds: Vec::new(),
            steps: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Whether it ends with [`Action::Halt`].
    pub fn halts(&self) -> bool {
        self.steps
            .last()
            .is_some_and(|step| step.action == Action::Halt)
    }

    /// A program of one call of a procedure: each parameter an input, each result an output, a key for each seed.
    pub fn calling(procedure: Arc<Procedure>, immediates: Vec<u64>) -> Self {
        let inputs = procedure.params.iter().zip(procedure.param_types());
        let inputs = inputs.map(|(param, ty)| HeadInput {
            ty,
            name: param.name.clone(),
            role: match param.role {
                ParamRole::Cipher { arg, poly } => InputRole::Cipher {
                    input: arg.into(),
                    poly,
                },
                ParamRole::Plain { arg } => InputRole::Plain { input: arg.into() },
                ParamRole::Key { arg, digit, part } => InputRole::Key {
                    key: arg.into(),
                    digit,
                    part,
                },
                ParamRole::Exponent { arg, index } => InputRole::Exponent {
                    input: arg.into(),
                    index: index.into(),
                },
            },
        });
        let outputs = (0..).map(LocalId).zip(&procedure.results);
        let outputs = outputs.map(|(local, result)| HeadOutput {
            from: Operand::Local(local),
            name: result.name.clone(),
            output: result.index.into(),
            poly: result.poly,
        });
        Self {
            log_n: procedure.log_n,
            moduli: procedure.moduli.clone(),
            blocks: Vec::new(),
            inputs: inputs.collect(),
            seeds: procedure.seeds.iter().map(|&arg| arg.into()).collect(),
            steps: vec![Step {
                action: Action::Call { proc: 0 },
                args: (0..)
                    .map(Operand::Input)
                    .take(procedure.params.len())
                    .collect(),
                seeds: (0..).take(procedure.seeds.len()).collect(),
                immediates,
                dies: Vec::new(),
                results: (0..).map(LocalId).take(procedure.results.len()).collect(),
                loc: None,
            }],
            outputs: outputs.collect(),
            procs: vec![procedure],
        }
    }
}
