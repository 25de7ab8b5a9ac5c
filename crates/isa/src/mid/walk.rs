// SPDX-License-Identifier: Apache-2.0
//! Walks through the calls of a mid-level program in the order of a run. It enters and leaves blocks, repeats their
//! iterations, and lists the limbs that die with each call.
//!
//! All limbs that are alive have different numbers. Numbers of dead limbs are used again, so numbers stay below the
//! most limbs alive at one time. The walk holds a frame for each open block, and a count for each limb alive.

use super::program::{Action, Block, LocalId, Operand, Program, Step};
use super::verify::{in_program, verify_program};
use crate::error::{Fault, VerifyError};
use crate::source::SourceLoc;

/// An operand or a result of a call that a walk through a program returns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Held {
    /// The operand is an input of the program, by its number.
    Input(u32),
    /// The number of a limb that a call defined. The limb has this number until it is dead, which is when no later
    /// call reads it.
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
    /// The numbers of the limbs that are the results of the call.
    pub results: Vec<u32>,
    /// The numbers of the limbs that nothing reads after this call.
    pub dies: Vec<u32>,
    pub loc: Option<&'a SourceLoc>,
}

/// A block, or the program's own steps, that the walk has entered and not yet left.
struct Frame<'a> {
    /// The block, or `None` for the program's own frame.
    block: Option<&'a Block>,
    /// The steps of the frame. `next` is the index of the next one.
    steps: &'a [Step],
    next: usize,
    /// For each limb of the frame, the input that it is or the number that it has. A limb that is not defined yet or
    /// is dead has `None`.
    limbs: Vec<Option<Held>>,
    /// The step, in the frame from which this one was entered, that opened this frame. It still has `turns`
    /// iterations to run.
    opener: Option<&'a Step>,
    turns: u64,
    /// The number of iterations of the block that began before the current one.
    turned: u64,
    /// The arguments of a repeated block that are not results of the iteration before.
    given: Vec<Given>,
}

/// An argument of a repeated block that is not carried from one iteration to the next.
#[derive(Clone, Copy)]
enum Given {
    Same(Held),
    /// The argument is an input of the program that differs from iteration to iteration, as [`Operand::InTurn`] says.
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

    /// Returns the argument if it is the same in every iteration, otherwise `None`.
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
    /// For each number, how many entries of the open frames refer to the limb with this number. A number with 0 is
    /// free.
    places: Vec<u32>,
    free: Vec<u32>,
    /// The numbers of limbs that died after the call that the walk found last.
    died: Vec<u32>,
    /// The call that the walk found and has not yet returned. Limbs that die before the next call count as dying with
    /// it.
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

    /// Makes a walk through a program that is known to verify. For another program the walk returns an error when it
    /// reaches the fault.
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

    /// Returns the limbs that are the program's outputs, after the last call.
    ///
    /// # Errors
    /// Fails for a fault of the program that the verifier would refuse.
    pub fn outputs(&self) -> Result<Vec<Held>, VerifyError> {
        let outputs = self.program.outputs.iter();
        let held = outputs.map(|o| self.held(o.from).map_err(in_program));
        held.collect()
    }

    /// Returns a bound above all numbers that limbs have had so far.
    pub fn numbers(&self) -> usize {
        self.places.len()
    }

    /// Returns the call that the walk found, with all limbs that died since.
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

    /// Ends a run of a block: begins its next iteration, or returns to the frame below.
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
        // The places of the results pass to the frame below.
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

    /// Defines a limb of the current frame. The caller has counted this reference in `places`.
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

    /// Removes limbs that die from the current frame.
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
