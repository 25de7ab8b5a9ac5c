// SPDX-License-Identifier: Apache-2.0
//! Compiles the programs of [`super::mid`] for this computer's kernels. Compilation refuses a program that is no
//! bootstrap or part of one.
//!
//! A compiled program is a list of lines, which read and write places in one memory. Turns of the blind rotation take
//! nearly all of the time. A loop of turns is therefore one line ([`turn`]). It reads the key in the order in which the
//! key is stored ([`rotate`]).

mod compile;
mod memory;
mod rotate;
mod turn;

use std::ops::Range;

use ringmill_device::plan::WordJob;
use ringmill_math::torus::{Coefficients, Gadget, SwitchRows, extract_mask, rotate_sub};

use memory::{Place, split};
pub use rotate::RotationKey;
use rotate::{Room, Turns};

use super::TfheError;
use super::params::Params;

/// A bootstrap program compiled for the CPU's kernels.
pub struct Plan {
    lines: Vec<Line>,
    /// The number of words of the program's memory.
    words: usize,
    /// The range of the outputs' words in the memory, one output after another.
    outputs: Range<usize>,
    /// The number of words of each input that is a limb or a vector.
    inputs: Vec<usize>,
    /// The number of the program's inputs that are public exponents.
    exponents: usize,
}

/// A line of a compiled program: one step, or a loop over the turns of a blind rotation.
enum Line {
    /// Computes (X^e - 1) a for a limb a. Here e is the sum of the run's exponents that the line
    /// names.
    RotateDifference {
        q: Coefficients,
        exponents: Vec<usize>,
        a: Place,
        to: Place,
    },
    Sum {
        q: Coefficients,
        act: Act,
        a: Place,
        b: Place,
        to: Place,
    },
    /// Extracts the LWE ciphertext of coefficient 0 from a GLWE ciphertext.
    Extract {
        q: Coefficients,
        masks: Vec<Place>,
        body: Place,
        to: Place,
    },
    Switch {
        gadget: Gadget,
        of: Place,
        to: Place,
    },
    Turns(Turns),
}

#[derive(Clone, Copy)]
enum Act {
    Add,
    Sub,
}

impl Act {
    /// Returns the operation of a job on machine words if it is a sum or a difference, or `None` for another job.
    fn of(job: WordJob) -> Option<Self> {
        match job {
            WordJob::Add => Some(Self::Add),
            WordJob::Sub => Some(Self::Sub),
            WordJob::Neg | WordJob::Muli(_) | WordJob::Addi(_) | WordJob::Auto(_) => None,
        }
    }
}

/// The memory of a compiled program's values, allocated once and used by many runs.
pub(super) struct Memory {
    words: Vec<u64>,
    /// The buffers for turns of a blind rotation, if the program has turns.
    room: Option<Room>,
}

/// The expanded evaluation keys that compiled programs read.
pub(super) struct Keys {
    pub rotation: RotationKey,
    pub switch: SwitchRows,
}

/// The inputs of one run of a compiled program: words, exponents and keys.
pub(super) struct Given<'g> {
    /// The words of each limb or vector, in the order of the program's inputs.
    pub inputs: &'g [&'g [u64]],
    pub exponents: &'g [usize],
    pub keys: &'g Keys,
}

/// Returns the error for an object `what` whose length `got` is not the expected one.
fn lost(what: &'static str, expected: usize, got: usize) -> TfheError {
    TfheError::Dimension {
        what,
        expected,
        got,
    }
}

impl Plan {
    /// Allocates a memory for runs of the compiled program.
    pub(super) fn memory(&self, params: &Params) -> Memory {
        let turns = self.lines.iter().any(|line| matches!(line, Line::Turns(_)));
        Memory {
            words: vec![0; self.words],
            room: turns.then(|| Room::new(params)),
        }
    }

    /// Returns the words of the last run's outputs in this memory, one output after another.
    pub(super) fn outputs<'m>(&self, memory: &'m Memory) -> &'m [u64] {
        memory.words.get(self.outputs.clone()).unwrap_or_default()
    }

    /// Runs the compiled program. Its outputs lie in `memory`.
    ///
    /// # Errors
    /// [`TfheError::Dimension`] for inputs of other lengths or another number of exponents than the program's;
    /// [`TfheError::Dimension`] or [`TfheError::Math`] for keys and memory of other parameters.
    pub(super) fn run(
        &self,
        params: &Params,
        given: &Given<'_>,
        memory: &mut Memory,
    ) -> Result<(), TfheError> {
        let lengths = given.inputs.iter().map(|input| input.len());
        if !lengths.eq(self.inputs.iter().copied()) {
            let got = given.inputs.iter().map(|input| input.len()).sum();
            return Err(lost("input of a program", self.inputs.iter().sum(), got));
        }
        if given.exponents.len() != self.exponents {
            let got = given.exponents.len();
            return Err(lost("exponents of a program", self.exponents, got));
        }
        let mut lines = self.lines.iter();
        lines.try_for_each(|line| self.line(params, line, given, memory))
    }

    fn line(
        &self,
        params: &Params,
        line: &Line,
        given: &Given<'_>,
        Memory { words, room }: &mut Memory,
    ) -> Result<(), TfheError> {
        match line {
            Line::RotateDifference {
                q,
                exponents,
                a,
                to,
            } => {
                let e = exponents.iter().filter_map(|&e| given.exponents.get(e));
                let e = e.fold(0usize, |sum, &e| sum.wrapping_add(e));
                let (out, read) = split(words, given.inputs, to);
                rotate_sub(*q, out, read.of(a), e)?;
            }
            Line::Sum { q, act, a, b, to } => {
                let (out, read) = split(words, given.inputs, to);
                let (a, b) = (read.of(a), read.of(b));
                if a.len() != out.len() {
                    return Err(lost("limb", out.len(), a.len()));
                }
                out.copy_from_slice(a);
                match act {
                    Act::Add => q.add_assign(out, b)?,
                    Act::Sub => q.sub_assign(out, b)?,
                }
            }
            Line::Extract { q, masks, body, to } => {
                let (out, read) = split(words, given.inputs, to);
                let body = read.of(body);
                let (mask, last) = out.split_at_mut(out.len().saturating_sub(1));
                for (out, p) in mask.chunks_mut(body.len().max(1)).zip(masks) {
                    extract_mask(*q, out, read.of(p))?;
                }
                if let (Some(last), Some(&body)) = (last.first_mut(), body.first()) {
                    *last = body;
                }
            }
            Line::Switch { gadget, of, to } => {
                let (out, read) = split(words, given.inputs, to);
                let vector = read.of(of).split_last();
                let (&body, mask) = vector.ok_or_else(|| lost("vector", self.words, 0))?;
                (given.keys.switch).switch(gadget, mask, body, out)?;
            }
            Line::Turns(turns) => {
                let acc = words.get_mut(turns.limbs.clone()).zip(room.as_mut());
                let (acc, room) = acc.ok_or_else(|| lost("memory of a program", self.words, 0))?;
                turns.run(params, &given.keys.rotation, given.exponents, acc, room)?;
            }
        }
        Ok(())
    }
}
