// SPDX-License-Identifier: Apache-2.0
//! What can go wrong in compiling, said so that the user knows what to change.

use std::fmt;

use ringmill_isa::Level;
use ringmill_isa::macros::Refused;
use ringmill_isa::source::SourceLoc;
use ringmill_schemes::ckks::CkksError;
use ringmill_schemes::rlwe::RlweError;
use thiserror::Error;

use crate::assumption::Broken;
use crate::cures::Cures;
pub use crate::line::At;
use crate::sequence::Sequence;

/// How to say that inputs are smaller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Narrower {
    /// Ranges rest on a sample.
    pub by_sample: bool,
    /// Some input may be complex.
    pub complex: bool,
}

impl fmt::Display for Narrower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("declare narrower ranges of the inputs")?;
        if self.by_sample {
            f.write_str(" or a smaller margin over the sample")?;
        }
        if self.complex {
            f.write_str(" (two ends, as in (-1, 1), for values that are never complex)")?;
        }
        Ok(())
    }
}

/// Why a program could not be compiled, `E` being what its scheme refuses.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CompileError<E = CkksError> {
    /// The program multiplies in sequence more often than the parameters have primes to rescale by.
    #[error(
        "{at}this product is too deep: the program needs {needed} levels and the parameters have {available}; {cures} \
         (a balanced tree; polynomials by `polynomial`), or use parameters with more primes"
    )]
    TooDeep {
        at: At,
        needed: u32,
        available: u32,
        cures: Cures,
    },

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
        "{at}levels run out here: the program needs {levels} levels, and parameters of ring degree 2^{log_n} have at most {most} \
         with a scale of 2^{scale_bits}, since {}; {cures}",
        match most_primes {
            Some(primes) => format!("they have at most {primes} primes"),
            None => format!(
                "log2 of Q P would be {needed_bits} bits, and this security level allows {allowed_bits}"
            ),
        }
    )]
    NoParameters {
        at: At,
        levels: u32,
        /// Levels that there are.
        most: u32,
        scale_bits: u32,
        needed_bits: u32,
        log_n: u32,
        allowed_bits: u32,
        /// The most primes that parameters have, where the program needs more.
        most_primes: Option<usize>,
        cures: Cures,
    },

    /// The asked precision cannot be had with primes of at most 60 bits.
    #[error(
        "{at}{precision_bits} bits of precision cannot be reached: {}, and the largest scale that fits, 2^{scale_bits}, gives \
         output {output:?} {}; {}{}",
        grown(*growth),
        match reachable_bits { 0 => "none after the binary point".to_owned(), some => some.to_string() },
        match reachable_bits { 0 => String::new(), some => format!("ask for a precision of {some}, or ") },
        match by_plain {
            true => "use smaller coefficients".to_owned(),
            false => format!("{narrower}, or scale the data down"),
        },
    )]
    TooPrecise {
        at: At,
        output: String,
        precision_bits: u32,
        scale_bits: u32,
        /// What the output has at that scale.
        reachable_bits: u32,
        /// The error that grows most on its way to the output, before and after it does.
        growth: Option<(f64, f64)>,
        /// Whether what multiplies it is known in the clear.
        by_plain: bool,
        narrower: Narrower,
    },

    /// More integer bits asked for than any first prime holds.
    #[error(
        "{wanted} integer bits are asked for, and parameters hold at most {most}; ask for fewer"
    )]
    IntegerBits { wanted: u32, most: u32 },

    /// Values that no parameters hold, even with primes to spare.
    #[error(
        "{at}{}, and no parameters hold absolute values of 2^{most:.0} or more here; {narrower}{}",
        large(*magnitude, *error),
        if error > magnitude { " or multiply less often in sequence" } else { " or scale the data down" },
    )]
    TooLarge {
        at: At,
        magnitude: f64,
        /// Bound on the values' error.
        error: f64,
        /// log2 of what values must stay below.
        most: f64,
        narrower: Narrower,
    },

    /// A value that may outgrow its level, and would wrap around in silence.
    #[error(
        "{at}{}, and at this level and scale only absolute values below {capacity:.4e} survive; {narrower}, scale the data \
         down, use parameters with a larger first prime or a smaller scale, or let the compiler choose them",
        large(*magnitude, *error),
    )]
    Overflow {
        at: At,
        magnitude: f64,
        /// Bound on the value's error.
        error: f64,
        capacity: f64,
        narrower: Narrower,
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

    /// A word about a value that the sample does not bear out.
    #[error(transparent)]
    Bounded(Box<Broken>),

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

    /// An operation that the scheme does not have.
    #[error("{at}{op} is no operation of the scheme {scheme}; use a scheme that has it")]
    OfOtherSchemes {
        at: At,
        op: &'static str,
        scheme: &'static str,
    },

    /// A constant that is no integer.
    #[error(
        "{at}the constant {value} cannot be used here: the scheme computes on whole numbers, and as a double one is below 2^53; \
         round it, or use a scheme of real numbers"
    )]
    NotWhole { at: At, value: f64 },

    /// Values that no plaintext modulus holds, or not the given one.
    #[error(
        "{what} may lie anywhere in {range}, which a plaintext modulus of {bits} bits does not hold; declare narrower ranges of \
         the inputs{}",
        if *bits < 60 { ", or use parameters with a larger plaintext modulus, of at most 60 bits" } else { "" },
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
        "{at}{}the noise of this program is {} bits too much: at ring degree 2^{log_n} the primes have at most {allowed_bits} bits; \
         {cures}",
        match sequence {
            Some(Sequence { holds, needs }) => format!(
                "levels run out here: the program multiplies {needs} times in sequence, and parameters hold {holds}: "
            ),
            None => String::new(),
        },
        // Noise that drowns messages early on grows beyond measure.
        if bits > allowed_bits { format!("more than {allowed_bits}") } else { bits.to_string() }
    )]
    TooNoisy {
        at: At,
        bits: u32,
        log_n: u32,
        allowed_bits: u32,
        /// Products in sequence, where these are too many.
        sequence: Option<Sequence>,
        cures: Cures,
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

    /// An operation that a pass has no meaning for.
    #[error("{0}; this is a fault of the compiler, please report it")]
    Refused(#[from] Refused),

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
    Call(#[from] ringmill_device::call::CallError),

    /// Work that was stopped, or that memory does not suffice for.
    #[error("{0}")]
    Halt(#[from] ringmill_limits::Halt),

    /// A sample that does not fit the program.
    #[error("the sample inputs do not fit: {0}")]
    Sample(#[from] crate::reference::EvaluateError),

    /// Parameters or operations that the scheme refuses.
    #[error(transparent)]
    Scheme(E),
}

/// How large values may be, and their errors where those are larger.
fn large(magnitude: f64, error: f64) -> String {
    let size = |x: f64| match x.is_finite() {
        true => format!("as large as {x:.4e} (2^{:.1})", x.log2()),
        false => "larger than any double (2^1024)".to_owned(),
    };
    match error > magnitude {
        true => format!(
            "values here are at most {magnitude:.4e}, but their errors may be {}",
            size(error)
        ),
        false => format!("values here may be {}", size(magnitude)),
    }
}

/// What becomes of the error that grows most.
fn grown(growth: Option<(f64, f64)>) -> String {
    match growth {
        None => "encryption adds a larger error".to_owned(),
        Some((before, after)) => {
            let [before, after] = [before, after].map(f64::log2);
            format!("an error of up to 2^{before:.1} grows to 2^{after:.1} here")
        }
    }
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
            | Self::OfOtherSchemes { at, .. }
            | Self::UnboundedTest { at }
            | Self::NotWhole { at, .. }
            | Self::Overflow { at, .. }
            | Self::TooLarge { at, .. }
            | Self::TooNoisy { at, .. }
            | Self::NoParameters { at, .. }
            | Self::TooPrecise { at, .. }
            | Self::NoQuotient { at, .. }
            | Self::NotBootstrapped { at, .. }
            | Self::Misshapen { at, .. }
            | Self::Transparent { at, .. } => at.0.as_ref(),
            Self::Bounded(broken) => broken.assumption.loc.as_ref(),
            Self::Target(error) => error.at.0.as_ref(),
            Self::Refused(error) => error.loc.as_ref(),
            Self::Verify(error) => error.place.loc.as_ref(),
            Self::WrittenOut(error) => error.loc(),
            Self::TooManySlots { .. }
            | Self::ScaleDrift { .. }
            | Self::IntegerBits { .. }
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
            | Self::Scheme(_) => None,
        }
    }
}
