// SPDX-License-Identifier: Apache-2.0
//! The interface of a scheme to the compiler: its constants, its passes, its parameters with levels and annotations,
//! and the procedure of each operation. The rest of the compiler is the same for every scheme.

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

use crate::accuracy::Accuracy;
use crate::error::CompileError;
use crate::kept::KeptBootstrapping;
use crate::line::At as Line;
use crate::numbers::{Ends, Numbers, Values};
use crate::reference::EvaluateError;
use options::{Options, Passes};

/// A plaintext whose limbs a run of a program makes when it reads them.
pub type Lifted = Box<dyn Limbed + Send + Sync>;

/// The bootstrap of a scheme's programs, made again from a program's file, or the reason why that is not possible.
pub type MadeAgain<S> = Result<<S as Compiles>::Bootstrapping, String>;
/// A function that makes a constant of bootstrapping, by its number, or `None` if there is no such constant.
pub type Lifts<S> = fn(
    &<S as Compiles>::Bootstrapping,
    &<S as Scheme>::Params,
    u32,
) -> Option<Result<Lifted, <S as Scheme>::Error>>;

/// The functions by which a scheme bootstraps values in programs.
#[derive(Debug)]
pub struct Bootstraps<S: Compiles> {
    /// Whether a program that bootstraps keeps its procedures. Otherwise they are written out before levels are chosen.
    pub keeps_procedures: bool,
    /// Returns a program of one procedure, the bootstrap that a `BOOTSTRAP` calls.
    pub program: fn(&S::Bootstrapping) -> &MacroProgram,
    /// Returns a constant that the procedure's `LIFT` instructions name by a number. The constant has one limb for each
    /// prime of its level.
    pub lifted: Lifts<S>,
    /// Returns the number of limbs of the constant with this number, and the length of their blocks of equal residues: 1
    /// or more. There are no limbs if there is no such constant.
    pub limbs: fn(&S::Bootstrapping, &S::Params, u32) -> [usize; 2],
    /// Returns the fields from which the bootstrap can be made again, for files of programs.
    pub keep: fn(&S::Bootstrapping) -> KeptBootstrapping,
    /// Makes the bootstrap again from the fields of a program's file, for the same parameters. If no bootstrap of these
    /// parameters has such fields, it returns the reason as text.
    pub made_again: fn(KeptBootstrapping, &Arc<S::Params>) -> MadeAgain<S>,
}

/// A scheme for which the compiler compiles programs.
pub trait Compiles:
    Scheme<
        Params: Clone + Debug,
        Message: Clone + Debug,
        Annotation: Annotation + Copy,
        KeyName: Clone + Eq + Hash + Debug,
    > + Clone
    + Debug
{
    /// The name that programs use for the scheme.
    const NAME: &'static str;
    /// The kind of numbers that the scheme's messages and ranges hold.
    const NUMBERS: Numbers;
    /// The type of demands on parameters that the compiler chooses.
    type Wanted: Clone + Debug + Default;
    /// The type of the range in which the values of an input must lie.
    type Range: Clone + PartialEq + Debug;
    /// The type of the compiler's prediction for an output.
    type Prediction: Clone + Debug;

    /// The type of the bootstrap of values, or `Infallible` for a scheme that has none.
    type Bootstrapping: Clone + Debug + Send + Sync + 'static;
    /// The functions of the scheme's bootstrap, or `None` for a scheme that has none.
    const BOOTSTRAPS: Option<Bootstraps<Self>> = None;

    /// Converts values to a message. Returns `None` if they are of another kind of numbers than the scheme's.
    fn message(values: Values) -> Option<Self::Message>;

    fn values(message: Self::Message) -> Values;

    /// Makes a range from its ends. Returns `None` for ends of another kind of numbers than the scheme's. In a scheme
    /// of integers it also returns `None` if the first end is above the last.
    fn declared(ends: Ends) -> Option<Self::Range>;

    fn ends(range: &Self::Range) -> Ends;

    /// Returns the range of an input in a file of format version 1, which has a sample in place of the range. The range
    /// holds all values of at most `margin` times the sample's largest absolute value, which is not rounded to a power
    /// of two.
    fn sampled(sample: &Self::Message, margin: f64) -> Self::Range;

    /// Returns a range within this one whose bound is a power of two or 0, so that it reveals no slot of the sample
    /// from which this one came. The range must be one that [`Compiles::sampled`] returned.
    fn narrowed(range: &Self::Range) -> Self::Range;

    /// Evaluates the program without encryption, from its inputs in order to its outputs.
    ///
    /// # Errors
    /// Fails for inputs that do not fit the program, outputs that are no messages, and a program that breaks the macro
    /// level's rules or has an operation without a meaning in the scheme.
    fn evaluate(
        program: &MacroProgram,
        inputs: &[Self::Message],
    ) -> Result<Vec<Self::Message>, EvaluateError>;

    /// Reads parameters from the bytes of their file.
    ///
    /// # Errors
    /// Fails for a file that is damaged, malformed, of another version or of another scheme. Fails for parameters that
    /// are insecure or secure only by a table that is not accepted, unless `accepted` allows them.
    fn read_params(bytes: &[u8], accepted: Accepted) -> Result<Arc<Self::Params>, FileError>;

    /// Converts the constants of a program's own instructions to the form that the scheme takes. Procedures stay as
    /// they are.
    ///
    /// # Errors
    /// Fails for a constant or an operation that the scheme does not have, with its line.
    fn constants(program: MacroProgram) -> Result<MacroProgram, ErrorOf<Self>>;

    /// Returns the accuracy that outputs must have, or `None` for a scheme of exact numbers.
    fn accuracy(_: &Self::Wanted) -> Option<Accuracy> {
        None
    }

    /// Returns the same demands with another accuracy. A scheme of exact numbers returns them unchanged.
    fn with_accuracy(wanted: &Self::Wanted, _: Accuracy) -> Self::Wanted {
        wanted.clone()
    }

    /// Simplifies a program by rules that know its values and constants. By default the program stays as traced.
    fn simplified(program: MacroProgram, _: Passes) -> MacroProgram {
        program
    }

    /// Returns the range of every input: the declared one, else that of its sample, else the bound that the options
    /// give to all inputs.
    ///
    /// # Errors
    /// Fails for options that make no sense for these inputs.
    fn ranges(
        options: &Options<Self>,
        inputs: &[MacroInput],
    ) -> Result<Vec<Self::Range>, ErrorOf<Self>>;

    /// Fits a program to parameters, chosen or given and checked. Returns the parameters, the program with levels and
    /// annotations for them, and the predictions.
    ///
    /// # Errors
    /// Fails for a program that the given parameters do not hold, or for demands that no parameters meet. Fails for a
    /// sample that breaks a bound that the program declares, and if the watch of the options stops the work.
    fn fit(
        program: &MacroProgram,
        options: &Options<Self>,
        ranges: &[Self::Range],
    ) -> Result<Fitted<Self>, ErrorOf<Self>>;

    /// Returns the evaluation keys that a program with levels needs, each once.
    ///
    /// # Errors
    /// Fails for a rotation by a number of slots that is out of range, and for an operation whose keys are not known.
    fn keys(
        managed: &MacroProgram,
        params: &Self::Params,
        bootstrapping: Option<&Self::Bootstrapping>,
    ) -> Result<Vec<Self::KeyName>, ErrorOf<Self>>;

    /// Returns level and annotation of an encrypted value that no instruction reads, such as an unused input. The level
    /// is `level`, or above it if the scheme needs that: in CKKS for a value of the range, in BGV for a fresh
    /// encryption. In BFV it is always the highest.
    ///
    /// # Errors
    /// Fails like [`Compiles::fit`].
    fn resting(
        params: &Self::Params,
        level: Level,
        range: Option<&Self::Range>,
    ) -> Result<At<Self::Annotation>, ErrorOf<Self>>;

    /// Returns the limbs of an encoded plaintext at a level: for each limb the number of its modulus in the parameters'
    /// table of moduli, and its form.
    fn plaintext(_: &Self::Params, at: &At<Self::Annotation>) -> Vec<(ModulusId, Form)> {
        let primes = at.level.moduli();
        primes.map(|i| (ModulusId(i as u16), Form::Eval)).collect()
    }

    /// Returns the Galois elements of the automorphisms that a `ROTATE`, `HROTATE`, `CONJ`, `TWOREAL` or `MORPH`
    /// computes, one for each result. Returns none for other instructions, and for one that leaves values as they are.
    ///
    /// # Errors
    /// Fails for a rotation by a number of slots that is out of range, and for an operation whose automorphisms are not
    /// known.
    fn automorphisms(_: &Self::Params, _: &MacroInstr) -> Result<Vec<Galois>, ErrorOf<Self>> {
        Ok(Vec::new())
    }

    /// Returns the code of an instruction that computes: any but `INPUT`, `ENCODE`, `LOAD`, `LIFT`, `OUTPUT`,
    /// `BOOTSTRAP`, `CALL` and `REPEAT`.
    ///
    /// # Errors
    /// Fails for operands or constants that the scheme cannot take.
    fn code(params: &Self::Params, instr: &Lowerable<'_>) -> Result<Code<Self>, ErrorOf<Self>>;
}

/// The error type of compiling for a scheme.
pub type ErrorOf<S> = CompileError<<S as Scheme>::Error>;

/// A program with levels for given parameters, and the predictions for its outputs.
pub struct Fitted<S: Compiles> {
    pub params: Arc<S::Params>,
    pub managed: MacroProgram,
    /// The lowest level at which the program's outputs may end.
    pub output_level: Level,
    /// The prediction for each output.
    pub predicted: Vec<S::Prediction>,
    /// The bootstrap that the program's `BOOTSTRAP` instructions call. `None` means that the program has no such
    /// instruction.
    pub bootstrapping: Option<S::Bootstrapping>,
}

/// An instruction to lower, from a program with levels, with the types of that program's values.
#[derive(Clone, Copy, Debug)]
pub struct Lowerable<'a> {
    /// The types of the values of the instruction's program or procedure.
    pub types: &'a [MacroType],
    pub instr: &'a MacroInstr,
    /// Whether the instruction is a product or a `MORPH` together with its key switch.
    pub switched: bool,
    /// Whether key-switching keys take half of their polynomials from seeds.
    pub seeded: bool,
}

impl<'a> Lowerable<'a> {
    pub fn op(&self) -> MacroOp {
        self.instr.op
    }

    pub fn imm(&self) -> &'a MacroImm {
        &self.instr.imm
    }

    /// Returns the type of an operand, by its number, or `None` if there is no such operand.
    fn operand(&self, number: usize) -> Option<MacroType> {
        let value = self.instr.src.get(number)?;
        self.types.get(value.0 as usize).copied()
    }

    /// Returns the number of polynomials of a ciphertext operand, or `None` for a plaintext or a missing operand.
    pub fn size(&self, number: usize) -> Option<u32> {
        self.operand(number)?.polys()
    }

    /// Returns the Galois element g of a ciphertext operand that an automorphism put under the
    /// secret s(x^g). Returns `None` if the operand is under the program's own secret s.
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

    /// Returns level and note (scale or factor) of an operand, or `None` if it has none or is missing.
    pub fn at(&self, number: usize) -> Option<LevelNote> {
        self.operand(number)?.at()
    }

    /// Returns the line of the user's program that the instruction comes from.
    pub fn line(&self) -> Line {
        Line(self.instr.loc.clone())
    }

    /// Checks that the instruction has as many operands as its operation takes.
    ///
    /// # Errors
    /// [`Lowerable::misshapen`] if the number of operands is wrong.
    pub(crate) fn check_count<E>(&self) -> Result<(), CompileError<E>> {
        match self.op().info().operands.allows(self.instr.src.len()) {
            true => Ok(()),
            false => Err(self.misshapen()),
        }
    }

    /// Returns the error for an instruction that an earlier pass should have refused or replaced.
    pub fn misshapen<E>(&self) -> CompileError<E> {
        CompileError::Misshapen {
            at: self.line(),
            op: self.op().mnemonic(),
        }
    }
}

/// The code that an instruction is lowered to.
#[derive(Clone, Debug)]
pub enum Code<S: Scheme> {
    /// The instruction computes nothing: its result is its operand's limbs at the result's level.
    Kept,
    /// The instruction computes nothing: its result is an evaluation key that is a ciphertext.
    Key(S::KeyName),
    /// The instruction is one call of an operation's procedure. The call takes the operands, then these keys, and the
    /// values of its immediate parameters.
    Call {
        operation: S::Operation,
        keys: Vec<S::KeyName>,
        immediates: Vec<u64>,
    },
}

/// Returns level and annotation of a value from its type.
pub(crate) fn place<S: Compiles>(
    types: &[MacroType],
    value: MacroValue,
) -> Option<At<S::Annotation>> {
    let LevelNote { level, note } = types.get(value.0 as usize)?.at()?;
    let annotation = S::Annotation::of_note(note)?;
    Some(At { level, annotation })
}
