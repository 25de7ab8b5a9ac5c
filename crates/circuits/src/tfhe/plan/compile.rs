// SPDX-License-Identifier: Apache-2.0
//! Compiles a verified limb program to a [`Plan`] for the CPU: assigns a place in memory to every value, and finds the
//! keys and exponents of each turn (step of a blind rotation).

mod calls;
mod turns;

use std::collections::HashMap;

use ringmill_device::plan::{Fusion, Steps};
use ringmill_isa::mid::{Action, Block, LocalId, Operand, Step, ValueType, Verified};

use super::memory::together;
use super::turn::Turn;
use super::{Place, Plan};
use crate::tfhe::TfheError;
use crate::tfhe::mid::RotationInput;
use crate::tfhe::params::Params;

/// Returns the error for a program that the CPU's kernels cannot run, or cannot run with these keys.
fn other(what: impl ToString) -> TfheError {
    TfheError::Unplanned {
        what: what.to_string(),
    }
}

/// The kind of an input of the compiled program, and its number among the inputs of that kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bound {
    /// The input is a limb or a vector, with this number among the inputs that are limbs and vectors.
    Words(usize),
    /// The input is an exponent, with this number among the inputs that are exponents.
    Exponent(usize),
    /// The input is a polynomial of the bootstrapping key.
    Key(RotationInput),
    /// The input is the rows of the key-switching key.
    Switch,
}

/// An argument of a call or of a loop: a value in memory, or inputs of the program.
#[derive(Clone, PartialEq, Debug)]
enum Source {
    Place(Place),
    /// The argument is an input of the program: `first` in the first turn (step of the blind rotation) of a loop. Each
    /// further turn takes the input `step` places after the one before.
    Inputs {
        first: usize,
        step: usize,
    },
}

struct Compiler<'p> {
    params: &'p Params,
    program: &'p Verified,
    bound: Vec<Bound>,
    locals: HashMap<LocalId, Place>,
    plan: Plan,
}

impl Plan {
    /// Compiles a limb program. `keys` names the program's inputs in order. It is empty for a program that takes no
    /// bootstrapping key.
    ///
    /// # Errors
    /// [`TfheError::Unplanned`] for a program that is no bootstrap or part of one.
    pub fn of(
        params: &Params,
        program: &Verified,
        keys: &[RotationInput],
    ) -> Result<Self, TfheError> {
        let (mut words, mut exponents) = (Vec::new(), 0);
        let mut bound = Vec::with_capacity(program.inputs.len());
        for (i, input) in program.inputs.iter().enumerate() {
            bound.push(match (input.ty, keys.get(i)) {
                (_, Some(&key @ RotationInput::Key { .. })) => Bound::Key(key),
                (ValueType::LweTable(_), _) => Bound::Switch,
                (ValueType::Exponent, _) => {
                    exponents += 1;
                    Bound::Exponent(exponents - 1)
                }
                (ValueType::Limb(_) | ValueType::Lwe(_), _) => {
                    words.push(input.ty.words());
                    Bound::Words(words.len() - 1)
                }
            });
        }
        let mut compiler = Compiler {
            params,
            program,
            bound,
            locals: HashMap::new(),
            plan: Plan {
                lines: Vec::new(),
                words: 0,
                outputs: 0..0,
                inputs: words,
                exponents,
            },
        };
        for step in &program.steps {
            compiler.step(step)?;
        }
        compiler.outputs()?;
        Ok(compiler.plan)
    }
}

impl Compiler<'_> {
    fn outputs(&mut self) -> Result<(), TfheError> {
        let mut places = Vec::with_capacity(self.program.outputs.len());
        for output in &self.program.outputs {
            match self.source(output.from)? {
                Source::Place(place) => places.push(place),
                Source::Inputs { .. } => return Err(other("an output that it is given")),
            }
        }
        let outputs = together(&places);
        self.plan.outputs = outputs.ok_or_else(|| other("outputs that do not lie together"))?;
        Ok(())
    }

    fn place(&mut self, words: usize) -> Place {
        let start = self.plan.words;
        self.plan.words += words;
        Place::Own(start..self.plan.words)
    }

    fn bound(&self, input: usize) -> Result<Bound, TfheError> {
        let bound = self.bound.get(input).copied();
        bound.ok_or_else(|| other("an input that it lacks"))
    }

    fn source(&self, operand: Operand) -> Result<Source, TfheError> {
        let (first, step) = match operand {
            Operand::Local(local) => {
                let place = self.locals.get(&local).cloned();
                return place
                    .map(Source::Place)
                    .ok_or_else(|| other("a limb that is not alive"));
            }
            Operand::Input(input) => (input as usize, 0),
            Operand::InTurn { first, step } => (first as usize, step as usize),
        };
        Ok(match self.bound(first)? {
            Bound::Words(number) => Source::Place(Place::Input(number)),
            Bound::Exponent(_) | Bound::Key(_) | Bound::Switch => Source::Inputs { first, step },
        })
    }

    fn steps(&self, step: &Step) -> Result<Steps, TfheError> {
        let called = self.program.called(step);
        let proc = called.and_then(|at| self.program.bound_procs().get(at as usize));
        let proc = proc.ok_or_else(|| other("a step that calls nothing"))?;
        Steps::of(proc, Fusion::None).map_err(other)
    }

    fn step(&mut self, step: &Step) -> Result<(), TfheError> {
        let sources = step.args.iter().map(|&arg| self.source(arg));
        let sources: Vec<Source> = sources.collect::<Result<_, _>>()?;
        let results = match step.action {
            Action::Call { .. } => {
                let steps = self.steps(step)?;
                match Turn::of(&steps) {
                    Some(turn) => {
                        // A turn of the blind rotation overwrites its limbs, so nothing may read them later.
                        let alive = |&at: &usize| match step.args.get(at) {
                            Some(&Operand::Local(local)) => !step.dies.contains(&local),
                            Some(Operand::Input(_) | Operand::InTurn { .. }) | None => true,
                        };
                        if turn.limbs.iter().any(alive) {
                            return Err(other("a turn of limbs that are read again"));
                        }
                        self.turns(&turn, 1, &sources)?
                    }
                    None => self.call(&steps, &sources)?,
                }
            }
            Action::Repeat { block, count } => {
                let block = self.program.blocks.get(block as usize);
                let block = block.ok_or_else(|| other("a loop of nothing"))?;
                let carried = step.args.iter().take(block.results.len());
                let dies = |arg: &Operand| match arg {
                    Operand::Local(local) => step.dies.contains(local),
                    Operand::Input(_) | Operand::InTurn { .. } => false,
                };
                if !carried.into_iter().all(dies) {
                    return Err(other("a turn of limbs that are read again"));
                }
                self.repeat(block, count, &sources)?
            }
            Action::Run { .. } | Action::Halt => {
                return Err(other("a block that runs once, or an end"));
            }
        };
        step.dies.iter().for_each(|local| {
            self.locals.remove(local);
        });
        self.locals
            .extend(step.results.iter().copied().zip(results));
        Ok(())
    }

    /// Compiles a loop over one call of a turn, a step of the blind rotation. The loop carries the accumulator's limbs
    /// from turn to turn.
    fn repeat(
        &mut self,
        block: &Block,
        count: u64,
        outer: &[Source],
    ) -> Result<Vec<Place>, TfheError> {
        let [step] = block.steps.as_slice() else {
            return Err(other("a loop of several steps"));
        };
        let turn = Turn::of(&self.steps(step)?);
        let turn = turn.ok_or_else(|| other("a loop of what is no turn"))?;
        let param = |arg: &Operand| match arg {
            Operand::Local(local) => Some(local.0 as usize),
            Operand::Input(_) | Operand::InTurn { .. } => None,
        };
        let carried = turn
            .limbs
            .iter()
            .map(|&at| step.args.get(at).and_then(param));
        let carried = carried.eq((0..block.results.len()).map(Some));
        let given = step.results.iter().map(|&local| Operand::Local(local));
        if !carried || !given.eq(block.results.iter().copied()) {
            return Err(other(
                "a loop that carries something else than a turn's limbs",
            ));
        }
        let sources = step.args.iter().map(|arg| outer.get(param(arg)?).cloned());
        let sources = sources.collect::<Option<Vec<_>>>();
        let sources = sources.ok_or_else(|| other("a loop that reads what it is not given"))?;
        self.turns(&turn, count as usize, &sources)
    }
}
