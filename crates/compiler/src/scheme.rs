// SPDX-License-Identifier: Apache-2.0
//! What the compiler needs of a scheme: its constants, its passes, its parameters with levels and annotations, and the
//! procedure of each operation. Everything else is the compiler's, for all schemes alike.

pub mod options;

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use ringmill_device::Limbed;
use ringmill_isa::macros::{
    LevelNote, MacroImm, MacroInput, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue,
};
use ringmill_isa::mid::{Form, ModulusId};
use ringmill_isa::{Galois, Level};
use ringmill_schemes::file::{Accepted, FileError};
use ringmill_schemes::rlwe::Annotation;
use ringmill_schemes::{At, Scheme};

use crate::error::CompileError;
use crate::kept::KeptBootstrapping;
use crate::line::At as Line;
use crate::numbers::{Ends, Numbers, Values};
use crate::reference::EvaluateError;
use options::{Options, Passes};

/// A limb object that a run makes when it is read.
pub type Lifted = Box<dyn Limbed + Send + Sync>;

/// What a scheme's programs are bootstrapped with, or in words what is in the way.
pub type MadeAgain<S> = Result<<S as Compiles>::Bootstrapping, String>;
/// Makes a constant of bootstrapping, by its number; `None` where there is none.
pub type Lifts<S> = fn(
    &<S as Compiles>::Bootstrapping,
    &<S as Scheme>::Params,
    u32,
) -> Option<Result<Lifted, <S as Scheme>::Error>>;

/// How a scheme bootstraps values, by what its programs are bootstrapped with.
#[derive(Debug)]
pub struct Bootstraps<S: Compiles> {
    /// A program of one procedure, which a `BOOTSTRAP` calls.
    pub program: fn(&S::Bootstrapping) -> &MacroProgram,
    /// The constants that the procedure's `LIFT`s are, each as a limb of each of its primes.
    pub lifted: Lifts<S>,
    /// How it is made again, as files of programs say.
    pub keep: fn(&S::Bootstrapping) -> KeptBootstrapping,
    /// What was kept of one, for the same parameters; in words, what no parameters bootstrap by, or these do not.
    pub made_again: fn(KeptBootstrapping, &Arc<S::Params>) -> MadeAgain<S>,
}

/// A scheme that programs are compiled for.
pub trait Compiles:
    Scheme<
        Params: Clone + Debug,
        Message: Clone + Debug,
        Annotation: Annotation + Copy,
        KeyName: Clone + Eq + Hash + Debug,
    > + Clone
    + Debug
{
    /// What programs call it.
    const NAME: &'static str;
    /// What its messages and ranges hold.
    const NUMBERS: Numbers;
    /// What parameters must provide that the compiler chooses.
    type Wanted: Clone + Debug + Default;
    /// Where the values of an input must lie.
    type Range: Clone + PartialEq + Debug;
    /// What is predicted of an output.
    type Prediction: Clone + Debug;

    /// What values are bootstrapped with; `Infallible` where they are not.
    type Bootstrapping: Clone + Debug + Send + Sync + 'static;
    /// `None` where they are not.
    const BOOTSTRAPS: Option<Bootstraps<Self>> = None;

    /// A message of these values; `None` where they are other numbers than the scheme's, or some is none of it.
    fn message(values: Values) -> Option<Self::Message>;

    fn values(message: Self::Message) -> Values;

    /// A range with these ends; `None` for what is none of the scheme.
    fn declared(ends: Ends) -> Option<Self::Range>;

    fn ends(range: &Self::Range) -> Ends;

    /// The range of an input by its sample as versions had it that wrote files of form 1: not rounded to a power of two.
    fn sampled(sample: &Self::Message, margin: f64) -> Self::Range;

    /// The widest range within one by a sample that tells no slot.
    fn narrowed(range: &Self::Range) -> Self::Range;

    /// The program's outputs in the clear, by its inputs in order.
    ///
    /// # Errors
    /// Inputs that do not fit the program; outputs that are no messages.
    fn evaluate(
        program: &MacroProgram,
        inputs: &[Self::Message],
    ) -> Result<Vec<Self::Message>, EvaluateError>;

    /// Parameters by the bytes of their file.
    ///
    /// # Errors
    /// A file that is damaged, of another scheme, by a security table that is not accepted, or of insecure parameters.
    fn read_params(bytes: &[u8], accepted: Accepted) -> Result<Arc<Self::Params>, FileError>;

    /// Constants as the scheme has them, in a program without calls.
    ///
    /// # Errors
    /// A constant that it does not have, with its line.
    fn constants(program: MacroProgram) -> Result<MacroProgram, ErrorOf<Self>>;

    /// The bits after the binary point that are wanted of outputs; `None` of exact ones.
    fn precision(_: &Self::Wanted) -> Option<u32> {
        None
    }

    /// The same wishes with another precision, where they have one.
    fn with_precision(wanted: &Self::Wanted, _: u32) -> Self::Wanted {
        wanted.clone()
    }

    /// Simplifications that know what values and constants are; the program stays as traced.
    fn simplified(program: MacroProgram, _: Passes) -> MacroProgram {
        program
    }

    /// The range of every input: declared, or what the options say of all.
    ///
    /// # Errors
    /// Options that make no sense for these inputs.
    fn ranges(
        options: &Options<Self>,
        inputs: &[MacroInput],
    ) -> Result<Vec<Self::Range>, ErrorOf<Self>>;

    /// Parameters, chosen or given and checked; the program with levels and annotations for them; and what is predicted
    /// of it.
    ///
    /// # Errors
    /// A program that the given parameters do not hold, or wishes that none meet.
    fn fit(
        program: &MacroProgram,
        options: &Options<Self>,
        ranges: &[Self::Range],
    ) -> Result<Fitted<Self>, ErrorOf<Self>>;

    /// The evaluation keys that a managed program needs, each once.
    ///
    /// # Errors
    /// A key that the parameters do not have.
    fn keys(
        managed: &MacroProgram,
        params: &Self::Params,
        bootstrapping: Option<&Self::Bootstrapping>,
    ) -> Result<Vec<Self::KeyName>, ErrorOf<Self>>;

    /// Where a value rests that nothing is computed from: at `level`, or above it where a value of the range needs that.
    ///
    /// # Errors
    /// As [`Compiles::fit`].
    fn resting(
        params: &Self::Params,
        level: Level,
        range: Option<&Self::Range>,
    ) -> Result<At<Self::Annotation>, ErrorOf<Self>>;

    /// The limbs of an encoded plaintext at a place: what is modulo which entry of the table, and in which form.
    fn plaintext(_: &Self::Params, at: &At<Self::Annotation>) -> Vec<(ModulusId, Form)> {
        let primes = at.level.moduli();
        primes.map(|i| (ModulusId(i as u16), Form::Eval)).collect()
    }

    /// The elements of the automorphisms that a `ROTATE`, `HROTATE`, `CONJ` or `MORPH` is, one a result; none of other instructions,
    /// and of one that leaves values as they are.
    ///
    /// # Errors
    /// Rotations that the slots do not have.
    fn automorphisms(_: &Self::Params, _: &MacroInstr) -> Result<Vec<Galois>, ErrorOf<Self>> {
        Ok(Vec::new())
    }

    /// The code of an instruction that computes: any but `INPUT`, `ENCODE`, `LOAD`, `OUTPUT`, `CALL` and `REPEAT`.
    ///
    /// # Errors
    /// Operands or constants that the scheme cannot take.
    fn code(params: &Self::Params, instr: &Lowerable<'_>) -> Result<Code<Self>, ErrorOf<Self>>;
}

/// What compiling for a scheme refuses.
pub type ErrorOf<S> = CompileError<<S as Scheme>::Error>;

/// A program managed for parameters, and what is predicted of it.
pub struct Fitted<S: Compiles> {
    pub params: Arc<S::Params>,
    pub managed: MacroProgram,
    /// The level of the outputs.
    pub output_level: Level,
    /// Of each output.
    pub predicted: Vec<S::Prediction>,
}

/// An instruction to be lowered, in its managed program.
#[derive(Clone, Copy, Debug)]
pub struct Lowerable<'a> {
    /// Of the values of its program or procedure.
    pub types: &'a [MacroType],
    pub instr: &'a MacroInstr,
    /// Whether the instruction is a product or a `MORPH` and its key switch with it.
    pub switched: bool,
    /// Whether keys come with seeds.
    pub seeded: bool,
}

impl<'a> Lowerable<'a> {
    pub fn op(&self) -> MacroOp {
        self.instr.op
    }

    pub fn imm(&self) -> &'a MacroImm {
        &self.instr.imm
    }

    /// The type of an operand.
    fn operand(&self, number: usize) -> Option<MacroType> {
        let value = self.instr.src.get(number)?;
        self.types.get(value.0 as usize).copied()
    }

    /// Polynomials of a ciphertext operand; `None` for a plaintext.
    pub fn size(&self, number: usize) -> Option<u32> {
        self.operand(number)?.polys()
    }

    /// The Galois element whose secret a ciphertext operand is under, where that is not the program's own.
    pub fn under(&self, number: usize) -> Option<Galois> {
        match self.operand(number)? {
            MacroType::Morphed { by, .. } => Some(by),
            MacroType::Cipher { .. }
            | MacroType::Plain { .. }
            | MacroType::Distant { .. }
            | MacroType::Key { .. }
            | MacroType::Lifted { .. } => None,
        }
    }

    /// Level and note of an operand.
    pub fn at(&self, number: usize) -> Option<LevelNote> {
        self.operand(number)?.at()
    }

    /// The line of the user's program.
    pub fn line(&self) -> Line {
        Line(self.instr.loc.clone())
    }

    /// Whether there are as many operands as the operation takes.
    ///
    /// # Errors
    /// [`Lowerable::misshapen`].
    pub(crate) fn check_count<E>(&self) -> Result<(), CompileError<E>> {
        match self.op().info().operands.allows(self.instr.src.len()) {
            true => Ok(()),
            false => Err(self.misshapen()),
        }
    }

    /// That an earlier pass should have refused or replaced the instruction.
    pub fn misshapen<E>(&self) -> CompileError<E> {
        CompileError::Misshapen {
            at: self.line(),
            op: self.op().mnemonic(),
        }
    }
}

/// What an instruction becomes.
#[derive(Clone, Debug)]
pub enum Code<S: Scheme> {
    /// Its operand: the limbs of the result's level, and nothing is computed.
    Kept,
    /// A key that is a ciphertext, and nothing is computed.
    Key(S::KeyName),
    /// One call of an operation's procedure on the operands, then these keys, with the values of its immediate parameters.
    Call {
        operation: S::Operation,
        keys: Vec<S::KeyName>,
        immediates: Vec<u64>,
    },
}

/// Level and annotation of a value, by its type.
pub(crate) fn place<S: Compiles>(
    types: &[MacroType],
    value: MacroValue,
) -> Option<At<S::Annotation>> {
    let LevelNote { level, note } = types.get(value.0 as usize)?.at()?;
    let annotation = S::Annotation::of_note(note)?;
    Some(At { level, annotation })
}
