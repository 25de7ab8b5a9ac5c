// SPDX-License-Identifier: Apache-2.0
//! Walks through the calls of a mid-level program in the order of a run. It enters and leaves
//! blocks, repeats their iterations, and lists the limbs that die with each call: those that no
//! later call reads and that are no outputs.
//!
//! All limbs that are alive have different numbers. A later limb gets the number of a dead one, so numbers stay below
//! the most limbs alive at one time. A limb that dies with a call counts as alive until the next call. The walk holds
//! one frame for each block that it is in, and a count for each limb alive.

use super::program::{Action, Block, LocalId, Operand, Program, Step};
use super::verify::{in_program, verify_program};
use crate::error::{Fault, VerifyError};
use crate::source::SourceLoc;

/// A limb or other value that a walk through a program names as an operand of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Held {
    /// The value is an input of the program, by its number.
    Input(u32),
    /// The value is a limb that a call defined, by its number. The limb has the number until no
    /// later call reads it. Then another limb may get the number.
    Made(u32),
}

/// A call of a procedure that a walk through a program returns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pulled<'a> {
    /// The number of the called procedure: an index into [`Program::procs`].
    pub proc: u32,
    pub args: Vec<Held>,
    pub seeds: &'a [u32],
    pub immediates: &'a [u64],
    /// The numbers of the limbs that are the results of the call, in order.
    pub results: Vec<u32>,
    /// The numbers of the limbs that die with the call: no later call reads them, and they are no outputs.
    pub dies: Vec<u32>,
    pub loc: Option<&'a SourceLoc>,
}

/// The state of a block, or of the program's own steps, that the walk has entered and not yet left.
struct Frame<'a> {
    /// The block of this frame, or `None` for the program's own steps.
    block: Option<&'a Block>,
    /// The steps of the block or program. `next` is the index of the next step to walk.
    steps: &'a [Step],
    next: usize,
    /// For each limb that the block numbers, the input that it is or the number that the walk gave
    /// it. A limb that is not defined yet or is dead has `None`.
    limbs: Vec<Option<Held>>,
    /// The step by which the walk entered this block, in the frame below. `turns` is the number of
    /// iterations that are left, with the present one.
    opener: Option<&'a Step>,
    turns: u64,
    /// The number of iterations of this block that have ended.
    turned: u64,
    /// The arguments of a repeated block that are the same in all iterations or inputs in turn. The
    /// others are results of the iteration before.
    given: Vec<Given>,
}

/// An argument of a repeated block that is no result of the iteration before.
#[derive(Clone, Copy)]
enum Given {
    Same(Held),
    /// The argument is another input of the program in each iteration, as [`Operand::InTurn`] says.
    InTurn {
        first: u32,
        step: u32,
    },
}

impl Given {
    fn in_turn(self, turn: u64) -> Held {
        match self {
            Self::Same(held) => held,
            // The verifier has checked that this is below the number of inputs.
            Self::InTurn { first, step } => {
                let input = Operand::last_in_turn(first, step, turn.saturating_add(1));
                Held::Input(u32::try_from(input).unwrap_or(u32::MAX))
            }
        }
    }

    /// Returns the argument of a repeated block if it is the same in every iteration, otherwise
    /// `None`.
    fn same(self) -> Option<Held> {
        match self {
            Self::Same(held) => Some(held),
            Self::InTurn { .. } => None,
        }
    }
}

/// A walk through the calls of a verified program.
pub struct Walk<'a> {
    program: &'a Program,
    frames: Vec<Frame<'a>>,
    /// For each number of a limb, how often the frames of all open blocks refer to the limb that
    /// has it. A number with 0 is free for another limb.
    places: Vec<u32>,
    free: Vec<u32>,
    /// The numbers of the limbs that died after the call that the walk found last, when it left or
    /// entered blocks.
    died: Vec<u32>,
    /// The call that the walk found and has not returned. It waits, because limbs that die before
    /// the next call are listed as dying with it.
    found: Option<Pulled<'a>>,
}

impl<'a> Walk<'a> {
    /// Makes a walk through the calls of a program, which is verified first.
    ///
    /// # Errors
    /// Fails if the program does not verify.
    pub fn new(program: &'a Program) -> Result<Self, VerifyError> {
        verify_program(program)?;
        Ok(Self::verified(program))
    }

    /// Makes a walk through a program that is known to verify. If it does not, the walk may return an error. It finds
    /// limbs that do not exist or are alive, but checks no types.
    pub(crate) fn verified(program: &'a Program) -> Self {
        let frame = Frame {
            block: None,
            steps: &program.steps,
            next: 0,
            limbs: Vec::new(),
            opener: None,
            turns: 0,
            turned: 0,
            given: Vec::new(),
        };
        Self {
            program,
            frames: vec![frame],
            places: Vec::new(),
            free: Vec::new(),
            died: Vec::new(),
            found: None,
        }
    }

    /// Returns the next call of the program, or `None` after the last.
    ///
    /// # Errors
    /// Fails for a fault of the program that the verifier would refuse.
    pub fn next_call(&mut self) -> Result<Option<Pulled<'a>>, VerifyError> {
        loop {
            let Some(frame) = self.frames.last_mut() else {
                return Ok(self.give());
            };
            let Some(step) = frame.steps.get(frame.next) else {
                if frame.block.is_none() {
                    // The program's own frame stays, for its outputs.
                    return Ok(self.give());
                }
                self.leave().map_err(in_program)?;
                continue;
            };
            frame.next += 1;
            let given = match step.action {
                Action::Call { proc } => {
                    let given = self.give();
                    let found = self.call(proc, step).map_err(in_program)?;
                    self.found = Some(found);
                    given
                }
                Action::Run { block } => {
                    self.enter(block, step, 1).map_err(in_program)?;
                    None
                }
                Action::Repeat { block, count } => {
                    self.enter(block, step, count).map_err(in_program)?;
                    None
                }
                // The halt stands after the last call.
                Action::Halt => None,
            };
            if given.is_some() {
                return Ok(given);
            }
        }
    }

    /// Returns the limbs and inputs that are the program's outputs. The caller must have taken the last call.
    ///
    /// # Errors
    /// Fails for a fault of the program that the verifier would refuse.
    pub fn outputs(&self) -> Result<Vec<Held>, VerifyError> {
        let outputs = self.program.outputs.iter();
        let held = outputs.map(|o| self.held(o.from).map_err(in_program));
        held.collect()
    }

    /// Returns a number above all numbers that the walk has given to limbs so far.
    pub fn numbers(&self) -> usize {
        self.places.len()
    }

    /// Returns the call that the walk found last, with all limbs that died since, or `None` if it
    /// was returned already.
    fn give(&mut self) -> Option<Pulled<'a>> {
        let mut found = self.found.take()?;
        self.free.extend_from_slice(&self.died);
        found.dies.append(&mut self.died);
        Some(found)
    }

    fn call(&mut self, proc: u32, step: &'a Step) -> Result<Pulled<'a>, Fault> {
        let args = self.args(step)?;
        self.end(&step.dies)?;
        // Limbs that died since the call die with it; none was left over from an earlier call.
        let dies = std::mem::take(&mut self.died);
        let mut results = Vec::with_capacity(step.results.len());
        for &local in &step.results {
            let number = self.fresh();
            self.define(local, Held::Made(number))?;
            results.push(number);
        }
        // Results have numbers other than those of the limbs that die with their call.
        self.free.extend_from_slice(&dies);
        Ok(Pulled {
            proc,
            args,
            seeds: &step.seeds,
            immediates: &step.immediates,
            results,
            dies,
            loc: step.loc.as_ref(),
        })
    }

    fn enter(&mut self, block: u32, step: &'a Step, turns: u64) -> Result<(), Fault> {
        let program = self.program;
        let called = program.blocks.get(block as usize);
        let called = called.ok_or_else(|| undefined("a block"))?;
        if called.params.len() != step.args.len() || called.results.len() != step.results.len() {
            return Err(undefined("an argument or result of a block"));
        }
        let args = self.args(step)?;
        // The new frame holds the arguments before the old frame releases them.
        for &held in &args {
            self.hold(held)?;
        }
        self.end(&step.dies)?;
        let carried = match step.action {
            Action::Repeat { .. } => called.results.len(),
            Action::Run { .. } | Action::Call { .. } | Action::Halt => args.len(),
        };
        let given = step.args.iter().zip(&args).skip(carried);
        let given: Vec<_> = given
            .map(|(&operand, &held)| match operand {
                Operand::InTurn { first, step } => Given::InTurn { first, step },
                Operand::Input(_) | Operand::Local(_) => Given::Same(held),
            })
            .collect();
        for held in given.iter().filter_map(|given| given.same()) {
            self.hold(held)?;
        }
        self.frames.push(Frame {
            block: Some(called),
            steps: &called.steps,
            next: 0,
            limbs: args.into_iter().map(Some).collect(),
            opener: Some(step),
            turns,
            turned: 0,
            given,
        });
        Ok(())
    }

    /// Ends one iteration of the innermost open block: begins the next iteration, or leaves the
    /// block if none is left.
    fn leave(&mut self) -> Result<(), Fault> {
        let Some(frame) = self.frames.last() else {
            return Ok(());
        };
        let Some(block) = frame.block else {
            return Ok(());
        };
        let results = block.results.iter().map(|&operand| self.held(operand));
        let results = results.collect::<Result<Vec<_>, _>>()?;
        for &held in &results {
            self.hold(held)?;
        }
        let Some(frame) = self.frames.last_mut() else {
            return Ok(());
        };
        let gone: Vec<_> = frame.limbs.drain(..).flatten().collect();
        frame.turns = frame.turns.saturating_sub(1);
        if frame.turns > 0 {
            frame.turned = frame.turned.saturating_add(1);
            let turn = frame.turned;
            let given: Vec<_> = frame
                .given
                .iter()
                .map(|given| given.in_turn(turn))
                .collect();
            frame.next = 0;
            frame.limbs.extend(results.into_iter().map(Some));
            frame.limbs.extend(given.iter().copied().map(Some));
            for &held in &given {
                self.hold(held)?;
            }
            return gone.into_iter().try_for_each(|held| self.let_go(held));
        }
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        gone.into_iter().try_for_each(|held| self.let_go(held))?;
        let same = frame.given.iter().filter_map(|given| given.same());
        same.into_iter().try_for_each(|held| self.let_go(held))?;
        let opener = frame.opener.map_or(&[][..], |step| &step.results);
        // The references to the results, which are counted already, pass to the frame below.
        let mut pairs = opener.iter().zip(results);
        pairs.try_for_each(|(&local, held)| self.define(local, held))
    }

    fn args(&self, step: &Step) -> Result<Vec<Held>, Fault> {
        step.args.iter().map(|&a| self.held(a)).collect()
    }

    fn held(&self, operand: Operand) -> Result<Held, Fault> {
        let local = match operand {
            Operand::Input(n) | Operand::InTurn { first: n, .. } => return Ok(Held::Input(n)),
            Operand::Local(local) => local.0 as usize,
        };
        let frame = self.frames.last();
        let limb = frame.and_then(|f| f.limbs.get(local)).copied().flatten();
        limb.ok_or_else(|| undefined("a limb"))
    }

    /// Makes the limb `local` of the innermost open block refer to `held`. The caller has counted
    /// this reference in `places`.
    fn define(&mut self, local: LocalId, held: Held) -> Result<(), Fault> {
        let frame = self.frames.last_mut().ok_or_else(|| undefined("a frame"))?;
        let index = local.0 as usize;
        if index >= frame.limbs.len() {
            frame.limbs.resize(index.saturating_add(1), None);
        }
        match frame.limbs.get_mut(index) {
            Some(slot @ None) => {
                *slot = Some(held);
                Ok(())
            }
            _ => Err(Fault::Alive {
                item: format!("@{}", local.0),
            }),
        }
    }

    /// Removes the limbs `dies` from the innermost open block, because no later step reads them.
    fn end(&mut self, dies: &[LocalId]) -> Result<(), Fault> {
        for &local in dies {
            let held = self.held(Operand::Local(local))?;
            if let Some(frame) = self.frames.last_mut()
                && let Some(slot) = frame.limbs.get_mut(local.0 as usize)
            {
                *slot = None;
            }
            self.let_go(held)?;
        }
        Ok(())
    }

    fn fresh(&mut self) -> u32 {
        if let Some(number) = self.free.pop() {
            if let Some(places) = self.places.get_mut(number as usize) {
                *places = 1;
            }
            return number;
        }
        self.places.push(1);
        // Each number belongs to a limb of a frame, so there are far fewer than 2^32.
        self.places.len() as u32 - 1
    }

    fn hold(&mut self, held: Held) -> Result<(), Fault> {
        let Held::Made(number) = held else {
            return Ok(());
        };
        let places = self.places.get_mut(number as usize);
        let places = places.ok_or_else(|| undefined("a limb"))?;
        *places = places.saturating_add(1);
        Ok(())
    }

    fn let_go(&mut self, held: Held) -> Result<(), Fault> {
        let Held::Made(number) = held else {
            return Ok(());
        };
        let places = self.places.get_mut(number as usize);
        let places = places.ok_or_else(|| undefined("a limb"))?;
        *places = places.saturating_sub(1);
        if *places == 0 {
            self.died.push(number);
        }
        Ok(())
    }
}

fn undefined(what: &str) -> Fault {
    Fault::Undefined {
        item: what.to_owned(),
    }
}
