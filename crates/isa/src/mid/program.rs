// SPDX-License-Identifier: Apache-2.0
//! A mid-level program: a head (ring, moduli, inputs, seeds, outputs), procedures, and blocks of steps that call them.
//!
//! A step calls a procedure, runs a block, or repeats a block. Limbs are numbered within the frame of their block, and
//! numbers are reused: each step lists its operands that die with it. So a walk over the steps ([`super::walk`]) holds
//! only the limbs that are alive, for every length of run.

use std::sync::Arc;

use super::procedure::{ParamRole, Procedure};
use super::types::{TableModulus, ValueType};
use crate::numbers::Poly;
use crate::source::SourceLoc;

/// The number of a limb of a block's frame, or of a value of another kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LocalId(pub u32);

/// An operand of a step: an input of the program, which every block can read, or a limb of the block's own frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Operand {
    /// Index into [`Program::inputs`].
    Input(u32),
    Local(LocalId),
    /// An argument of a repeat that is not carried: input `first` in the first turn, and in each turn the input `step`
    /// places after the one of the turn before.
    InTurn {
        first: u32,
        step: u32,
    },
}

impl Operand {
    /// Returns the input of the last of `turns` turns.
    pub(super) fn last_in_turn(first: u32, step: u32, turns: u64) -> u64 {
        let further = u64::from(step).saturating_mul(turns.saturating_sub(1));
        u64::from(first).saturating_add(further)
    }
}

/// The place at which the run time finds an input; a limb's prime is in its type.
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
    /// The output's limb after the last step of the program.
    pub from: Operand,
    pub name: String,
    pub output: u32,
    pub poly: Poly,
}

/// The action of a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// Calls a procedure: index into [`Program::procs`].
    Call { proc: u32 },
    /// Runs a block once: index into [`Program::blocks`], below that of the block that the step is in.
    Run { block: u32 },
    /// Runs a block `count` times. The first parameters, one for each result, are carried: each turn takes the results
    /// of the turn before. The others are the same in every turn.
    Repeat { block: u32, count: u64 },
    /// `HCF`: the machine halts and awaits new instructions. It is the last step of a program and has no operands.
    Halt,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub action: Action,
    /// An argument for each parameter, in order, of equal type.
    pub args: Vec<Operand>,
    /// For a call, an index into [`Program::seeds`] for each seed parameter.
    pub seeds: Vec<u32>,
    /// For a call, the value of each immediate parameter.
    pub immediates: Vec<u64>,
    /// The arguments among the frame's limbs that nothing reads after this step. Its results may take their numbers.
    pub dies: Vec<LocalId>,
    /// A number for each result, in order, which no limb alive has.
    pub results: Vec<LocalId>,
    /// The user's source line from which this step came.
    pub loc: Option<SourceLoc>,
}

impl Step {
    /// Returns the step that halts a machine.
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

/// A block: steps with a frame of their own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Unique among the blocks of a program. Letters, digits, `.`, `_`, `-`.
    pub name: String,
    /// Types of the parameters, which are the frame's first limbs and other values.
    pub params: Vec<ValueType>,
    pub steps: Vec<Step>,
    /// The results of the block, after its last step.
    pub results: Vec<Operand>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    pub log_n: u8,
    pub moduli: Vec<TableModulus>,
    pub procs: Vec<Arc<Procedure>>,
    pub blocks: Vec<Block>,
    pub inputs: Vec<HeadInput>,
    /// The numbers of the keys whose seeds the run time supplies.
    pub seeds: Vec<u32>,
    /// The steps of the program itself, in a frame without parameters.
    pub steps: Vec<Step>,
    pub outputs: Vec<HeadOutput>,
}

impl Program {
    /// Makes a program without steps over these moduli.
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

    /// Returns whether the program ends with [`Action::Halt`].
    pub fn halts(&self) -> bool {
        self.steps
            .last()
            .is_some_and(|step| step.action == Action::Halt)
    }

    /// Makes a program of one call of a procedure: each parameter is an input, each result an output, and each seed has
    /// a key.
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
