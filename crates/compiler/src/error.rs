//! What can go wrong in compiling, said so that the user knows what to change.

use std::fmt;

use ringmill_isa::Level;
use ringmill_isa::source::SourceLoc;
use ringmill_schemes::ckks::CkksError;
use ringmill_schemes::rlwe::RlweError;
use thiserror::Error;

/// A source position as the front of a message; nothing where the program carries none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct At(pub Option<SourceLoc>);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(loc) => write!(f, "{loc}: "),
            None => Ok(()),
        }
    }
}

/// Why a program could not be compiled, `E` being what its scheme refuses.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CompileError<E = CkksError> {
    /// The program multiplies in sequence more often than the parameters have primes to rescale by.
    #[error(
        "{at}this product is too deep: the program needs {needed} levels and the parameters have {available}; \
         use parameters with more primes, let the compiler choose them, or multiply in a shallower order \
         (a balanced tree; polynomials by `polynomial`)"
    )]
    TooDeep { at: At, needed: u32, available: u32 },

    /// Vectors longer than the parameters' slots.
    #[error(
        "the program works on vectors of {slots} slots and ring degree 2^{log_n} has {available}; use a larger ring degree or shorter vectors"
    )]
    TooManySlots {
        slots: u32,
        log_n: u32,
        available: u32,
    },

    /// Primes and scale do not fit together.
    #[error(
        "the scale cannot be kept near 2^{log_scale:.1} down to level {level} with these primes; \
         choose rescaling primes close to the default scale"
    )]
    ScaleDrift { level: Level, log_scale: f64 },

    /// No parameters of the table hold the program.
    #[error(
        "no parameters at this security level hold {levels} levels of {scale_bits} bits with a first prime of {first_bits} bits \
         (log2 of Q P is {needed_bits} bits; ring degree 2^{log_n} allows {allowed_bits}); ask for less precision or a smaller \
         integer part, make the program shallower, or choose a lower security level by name"
    )]
    NoParameters {
        levels: u32,
        scale_bits: u32,
        first_bits: u32,
        needed_bits: u32,
        log_n: u32,
        allowed_bits: u32,
    },

    /// The asked precision cannot be had beside the asked integer part in primes of at most 60 bits.
    #[error(
        "{precision_bits} bits of precision cannot be reached for this program: beside {integer_bits} integer bits the scale \
         is at most 2^{scale_bits}, which gives {reachable_bits} bits; ask for less precision or a smaller integer part"
    )]
    TooPrecise {
        precision_bits: u32,
        integer_bits: u32,
        scale_bits: u32,
        reachable_bits: u32,
    },

    /// An integer part that no first prime holds, even with primes to spare.
    #[error(
        "{at}values here may be as large as {magnitude:.4e}, which takes {integer_bits} integer bits, and parameters hold at \
         most {max}; declare narrower ranges of the inputs or scale the data down"
    )]
    TooLarge {
        at: At,
        magnitude: f64,
        integer_bits: u32,
        max: u32,
    },

    /// A value that may outgrow its level, and would wrap around in silence.
    #[error(
        "{at}values here may be as large as {magnitude:.4e}, and at this level and scale only absolute values below \
         {capacity:.4e} survive; declare narrower ranges of the inputs, scale the data down, use parameters with a larger \
         first prime or a smaller scale, or let the compiler choose them"
    )]
    Overflow {
        at: At,
        magnitude: f64,
        capacity: f64,
    },

    /// An output of which nothing could be read.
    #[error(
        "output {output:?} may be wrong by {error:.4e}, and no value of it is larger than {magnitude:.4e}: nothing could be \
         read from it; use parameters with a larger scale and special primes no smaller than the digits, declare wider \
         ranges if the values are larger, or let the compiler choose the parameters"
    )]
    Meaningless {
        output: String,
        error: f64,
        magnitude: f64,
    },

    /// Ranges, a sample or a bound that make no sense.
    #[error("{}{why}", if name.is_empty() { String::new() } else { format!("input {name}: ") })]
    Range { name: String, why: String },

    /// A constant that does not fit its level.
    #[error("{at}the constant {value} cannot be used here: {why}")]
    BadConstant { at: At, value: f64, why: E },

    /// An integer that only a longer number holds.
    #[error(
        "{at}the integer {value} cannot be used here: the scheme computes on real numbers, of 53 bits each, and none is equal \
         to it; round it, or use a scheme of integers"
    )]
    InexactInteger { at: At, value: i128 },

    /// What approximate numbers do not have.
    #[error(
        "{at}{op} is of whole numbers: an approximate one is never zero for sure; use a scheme of integers"
    )]
    OfIntegers { at: At, op: &'static str },

    /// A constant that is no integer.
    #[error(
        "{at}the constant {value} cannot be used here: the scheme computes on whole numbers, and as a double one is below 2^53; \
         round it, or use a scheme of real numbers"
    )]
    NotWhole { at: At, value: f64 },

    /// Values that no plaintext modulus holds, or not the given one.
    #[error(
        "{what} may lie anywhere in {range}, which a plaintext modulus of {bits} bits does not hold; declare narrower ranges of \
         the inputs, or use parameters with a larger plaintext modulus, of at most 60 bits"
    )]
    PlainRange {
        what: String,
        range: String,
        bits: u32,
    },

    /// An output of which nothing is known.
    #[error(
        "output {output:?} may have more than 127 bits; declare narrower ranges of the inputs, or multiply less often"
    )]
    Unbounded { output: String },

    /// A test for zero of what nothing is known of.
    #[error(
        "{at}what is tested for zero here may have more than 127 bits; declare narrower ranges of the inputs, or multiply less \
         often"
    )]
    UnboundedTest { at: At },

    /// A quotient that the plaintext modulus does not have.
    #[error(
        "{at}a quotient by {by} is none here: it needs BGV and a plaintext modulus that {by} divides and is below, given by the \
         parameters; use a power of an odd prime and one of its lower powers"
    )]
    NoQuotient { at: At, by: i128 },

    /// What programs with calls that stay do not have.
    #[error("{at}{what} is not for programs that bootstrap; {cure}")]
    NotBootstrapped {
        at: At,
        what: &'static str,
        cure: &'static str,
    },

    /// Noise that would drown messages.
    #[error(
        "{at}the noise of this program is {} bits too much: at ring degree 2^{log_n} the primes have at most {allowed_bits} bits; \
         make the program shallower, declare narrower ranges of the inputs, use larger parameters, or let the compiler choose \
         them",
        // Noise that drowns messages early on grows beyond measure.
        if bits > allowed_bits { format!("more than {allowed_bits}") } else { bits.to_string() }
    )]
    TooNoisy {
        at: At,
        bits: u32,
        log_n: u32,
        allowed_bits: u32,
    },

    /// An output that hangs on no encrypted input.
    #[error(
        "{at}output {output:?} is the same whatever is encrypted (as x - x and x * 0 are), so that its ciphertext would be \
         transparent: everybody could read it; compute it in the clear"
    )]
    Transparent { at: At, output: String },

    /// Parameters that the machine which the program is made for does not take.
    #[error(transparent)]
    Target(#[from] Box<crate::target::TargetError>),

    /// A program that has been through the compiler's passes already.
    #[error(
        "the program is not as traced (it relinearises or has levels already); compile the traced program"
    )]
    NotTraced,

    /// A program whose calls and repeats come to too much.
    #[error(transparent)]
    WrittenOut(#[from] crate::inline::InlineError),

    /// A program of a scheme that these parameters are not of.
    #[error(
        "the program is for the scheme {scheme} and the parameters are for {expected}; use parameters of the program's scheme"
    )]
    OtherScheme {
        scheme: ringmill_isa::macros::SchemeName,
        expected: &'static str,
    },

    /// An instruction that an earlier pass should have refused or replaced.
    #[error(
        "{at}{op} has operands that cannot be lowered; this is a fault of the compiler, please report it"
    )]
    Misshapen { at: At, op: &'static str },

    /// A program without an output computes nothing.
    #[error("the program {name:?} has no output; return at least one encrypted value from it")]
    NoOutput { name: String },

    /// A program that breaks the rules of the macro or mid level.
    #[error(transparent)]
    Verify(#[from] ringmill_isa::VerifyError),

    /// Operands that a procedure does not take.
    #[error(
        "a procedure cannot be called here ({0}); this is a fault of the compiler, please report it"
    )]
    Call(#[from] ringmill_schemes::call::CallError),

    /// Work that was stopped, or that memory does not suffice for.
    #[error("{0}")]
    Halt(#[from] ringmill_limits::Halt),

    /// A sample that does not fit the program.
    #[error("the sample inputs do not fit: {0}")]
    Sample(#[from] crate::ckks::reference::EvaluateError),

    /// Predictions by a sample that are those of another program.
    #[error(
        "{got} predictions stand in the place of a sample, and the program has outputs to the number of {expected}; compile \
         it from its source"
    )]
    Predictions { expected: usize, got: usize },

    /// Parameters or operations that the scheme refuses.
    #[error(transparent)]
    Scheme(E),
}

impl From<CkksError> for CompileError {
    fn from(e: CkksError) -> Self {
        Self::Scheme(e)
    }
}

impl From<RlweError> for CompileError {
    fn from(e: RlweError) -> Self {
        Self::Scheme(e.into())
    }
}

impl<E> CompileError<E> {
    /// The line of the user's program that the error is about, where it is about one.
    pub fn loc(&self) -> Option<&SourceLoc> {
        match self {
            Self::TooDeep { at, .. }
            | Self::BadConstant { at, .. }
            | Self::InexactInteger { at, .. }
            | Self::OfIntegers { at, .. }
            | Self::UnboundedTest { at }
            | Self::NotWhole { at, .. }
            | Self::Overflow { at, .. }
            | Self::TooLarge { at, .. }
            | Self::TooNoisy { at, .. }
            | Self::NoQuotient { at, .. }
            | Self::NotBootstrapped { at, .. }
            | Self::Misshapen { at, .. }
            | Self::Transparent { at, .. } => at.0.as_ref(),
            Self::Target(error) => error.at.0.as_ref(),
            Self::Verify(error) => error.place.loc.as_ref(),
            Self::WrittenOut(error) => error.loc(),
            Self::TooManySlots { .. }
            | Self::ScaleDrift { .. }
            | Self::NoParameters { .. }
            | Self::TooPrecise { .. }
            | Self::Meaningless { .. }
            | Self::PlainRange { .. }
            | Self::Unbounded { .. }
            | Self::Range { .. }
            | Self::NotTraced
            | Self::OtherScheme { .. }
            | Self::NoOutput { .. }
            | Self::Call(_)
            | Self::Halt(_)
            | Self::Sample(_)
            | Self::Predictions { .. }
            | Self::Scheme(_) => None,
        }
    }
}
