// SPDX-License-Identifier: Apache-2.0
//! A mid-level program: a head (ring, moduli, inputs, seeds, outputs), procedures, and blocks of steps that call
//! procedures.
//!
//! A step calls a procedure, runs a block, or repeats a block. Each run of a block has a frame of its own, in which its
//! limbs are numbered. Numbers are used again: each step lists its operands that nothing reads after it. So a walk over
//! the steps ([`super::walk`]) holds only the limbs that are alive, however long the run is.

use std::sync::Arc;

use super::procedure::{ParamRole, Procedure};
use super::types::{TableModulus, ValueType};
use crate::numbers::Poly;
use crate::source::SourceLoc;

/// The number of a limb, or of a value of another kind, in one block of a program. Every block
/// numbers its own values from 0; these numbers and their limbs are the block's frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LocalId(pub u32);

/// An operand of a step of a program: an input of the program, which every block can read, or a
/// limb of the step's own block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Operand {
    /// The operand is an input of the program, by its number: an index into [`Program::inputs`].
    Input(u32),
    Local(LocalId),
    /// An argument of a repeated block that is another input in each iteration. The first iteration
    /// has input number `first`, and each later one the input `step` places after that of the
    /// iteration before.
    InTurn {
        first: u32,
        step: u32,
    },
}

impl Operand {
    /// Returns the number of the input that an argument [`Operand::InTurn`] of a repeated block is
    /// in the last of `turns` iterations. It is `first` in the first iteration, and `step` more in
    /// each further one.
    pub(super) fn last_in_turn(first: u32, step: u32, turns: u64) -> u64 {
        let further = u64::from(step).saturating_mul(turns.saturating_sub(1));
        u64::from(first).saturating_add(further)
    }
}

/// The role of an input of a program: which part of which ciphertext, plaintext, key or exponents
/// of the caller it is. A limb's prime is in the input's type, and not in its role.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InputRole {
    /// The input is polynomial `poly`, or a limb of it, of the ciphertext that is input number `input` of the caller.
    Cipher { input: u32, poly: Poly },
    /// The input is a limb of the encoded plaintext that is input number `input` of the caller.
    Plain { input: u32 },
    /// The input is part `part` of digit `digit` of key number `key` of the caller, or a table that
    /// is this whole key.
    Key { key: u32, digit: u16, part: u16 },
    /// The input is a public exponent e of x^e: number `index` of those in input number `input` of
    /// the caller.
    Exponent { input: u32, index: u32 },
}

/// An input of a [`Program`]: its name, type and role.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeadInput {
    pub ty: ValueType,
    pub name: String,
    pub role: InputRole,
}

/// An output of a [`Program`]: polynomial `poly` of output ciphertext number `output`, a limb of it, or an LWE vector.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeadOutput {
    /// The limb or other value of the program's own steps, or the input, that is this output after the last step.
    pub from: Operand,
    pub name: String,
    pub output: u32,
    pub poly: Poly,
}

/// What a step of a program does: calls a procedure, runs or repeats a block, or halts the machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// The step calls a procedure, whose number is an index into [`Program::procs`].
    Call { proc: u32 },
    /// The step runs a block once. `block` is an index into [`Program::blocks`]. If the step itself
    /// is in a block, the index is below that block's.
    Run { block: u32 },
    /// The step runs a block `count` times. The block's first parameters, one for each result, are carried: each
    /// iteration after the first takes them from the results of the iteration before. Each other parameter is the same
    /// in every iteration, or another input of the program in each ([`Operand::InTurn`]).
    Repeat { block: u32, count: u64 },
    /// The step is the halt instruction `HCF`: the machine halts and awaits new instructions. It is the last step of a
    /// program and has no operands.
    Halt,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub action: Action,
    /// The arguments of the called procedure or of the block, one for each of its parameters, in
    /// order and of the same type.
    pub args: Vec<Operand>,
    /// For a call, one entry for each seed parameter of the procedure: an index into
    /// [`Program::seeds`].
    pub seeds: Vec<u32>,
    /// For a call, the value of each immediate parameter of the procedure.
    pub immediates: Vec<u64>,
    /// Limbs among the arguments that no later step of the same block or program reads, and that are none of its
    /// results or outputs. The results of this step may take their numbers.
    pub dies: Vec<LocalId>,
    /// The numbers that this step's results get in their block, in order. Each must be free: no limb that is alive
    /// after this step's `dies` has it.
    pub results: Vec<LocalId>,
    /// The line of the user's source from which this step came.
    pub loc: Option<SourceLoc>,
}

impl Step {
    /// Returns the step with which a program halts the machine (`HCF`).
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

/// A block of a program: a list of steps that the program runs or repeats. Each block numbers its
/// own limbs from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The name of the block, unique in a program. It has letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// The types of the block's parameters, which are the first of the limbs that the block
    /// numbers.
    pub params: Vec<ValueType>,
    pub steps: Vec<Step>,
    /// The results of the block: the values of these limbs or parameters after the block's last step,
    /// or inputs of the program.
    pub results: Vec<Operand>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    pub log_n: u8,
    pub moduli: Vec<TableModulus>,
    pub procs: Vec<Arc<Procedure>>,
    pub blocks: Vec<Block>,
    pub inputs: Vec<HeadInput>,
    /// The numbers of the keys whose 32-byte seeds the caller supplies, from which masks are
    /// expanded.
    pub seeds: Vec<u32>,
    /// The steps of the program itself, which run once. They number their limbs from 0, as a block
    /// does, and have no parameters.
    pub steps: Vec<Step>,
    pub outputs: Vec<HeadOutput>,
}

impl Program {
    /// Makes a program without inputs, steps and outputs, over the ring of degree 2^`log_n` and
    /// with these moduli.
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

    /// Returns whether the program's last step is the halt instruction `HCF` ([`Action::Halt`]).
    pub fn halts(&self) -> bool {
        self.steps
            .last()
            .is_some_and(|step| step.action == Action::Halt)
    }

    /// Makes a program that calls one procedure once, with these values of its immediate
    /// parameters. Each parameter of the procedure is an input, each result an output, and each
    /// seed parameter has a seed of its own.
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
