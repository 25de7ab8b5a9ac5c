// SPDX-License-Identifier: Apache-2.0
//! The errors of compiling a program. Each message says what the user can change.

use std::fmt;

use ringmill_isa::Level;
use ringmill_isa::macros::Refused;
use ringmill_isa::source::SourceLoc;
use ringmill_limits::human;
use ringmill_schemes::ckks::CkksError;
use ringmill_schemes::rlwe::RlweError;
use thiserror::Error;

use crate::accuracy::Accuracy;
use crate::assumption::Broken;
use crate::cures::Cures;
pub use crate::line::At;
use crate::sequence::Sequence;

/// The ways to declare smaller inputs that an error message suggests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Narrower {
    /// Whether the inputs' ranges come from a sample.
    pub by_sample: bool,
    /// Whether an input may be complex.
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

/// The reason why a program could not be compiled. `E` is the error type of its scheme.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CompileError<E = CkksError> {
    /// The program has more products in sequence than the parameters have primes to rescale by.
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

    /// The program's vectors are longer than the slots of the parameters.
    #[error(
        "the program works on vectors of {slots} slots and ring degree 2^{log_n} has {available}; use a larger ring degree or shorter vectors"
    )]
    TooManySlots {
        slots: u32,
        log_n: u32,
        available: u32,
    },

    /// The primes do not fit the scale: rescales would move it too far from the default scale.
    #[error(
        "the scale cannot be kept near 2^{log_scale:.1} down to level {level} with these primes; \
         choose rescaling primes close to the default scale"
    )]
    ScaleDrift { level: Level, log_scale: f64 },

    /// No parameters of the security table have enough levels for the program.
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
        /// The most levels that secure parameters can have at ring degree 2^`log_n` and a scale of
        /// `scale_bits` bits.
        most: u32,
        scale_bits: u32,
        needed_bits: u32,
        log_n: u32,
        allowed_bits: u32,
        /// The most primes that parameters can have, if this limit leaves fewer levels than the security table does.
        most_primes: Option<usize>,
        cures: Cures,
    },

    /// The evaluation keys of the program are larger than the user allows, whatever secure
    /// parameters are chosen.
    #[error(
        "the evaluation keys of this program take at least {}, and keys allows {}; allow more, multiply less often in sequence, or \
         rotate by fewer steps",
        human(*least),
        human(*wanted)
    )]
    KeysTooLarge { wanted: u64, least: u64 },

    /// The accuracy that the user wants needs a larger scale than primes of at most 60 bits, or those of the target,
    /// allow.
    #[error(
        "{at}{wanted} cannot be reached: {}, and the largest scale that fits, 2^{scale_bits}, gives output {output:?} {}; {}{}",
        grown(*growth),
        reached(*reachable),
        match reachable.count() { 0 => String::new(), _ => format!("ask for {reachable}, or ") },
        match by_plain {
            true => "use smaller coefficients".to_owned(),
            false => format!("{narrower}, or scale the data down"),
        },
    )]
    TooPrecise {
        at: At,
        output: String,
        wanted: Accuracy,
        scale_bits: u32,
        /// The accuracy of the output at the largest scale that fits.
        reachable: Accuracy,
        /// The bounds on an output's error before and after the instruction at which the output's
        /// largest error grows most, or `None` if it never grows.
        growth: Option<(f64, f64)>,
        /// Whether the largest error grows most at a product by a constant or a plaintext.
        by_plain: bool,
        narrower: Narrower,
    },

    /// The user wants more integer bits than the first primes of any parameters hold.
    #[error(
        "{wanted} integer bits are asked for, and parameters hold at most {most}; ask for fewer"
    )]
    IntegerBits { wanted: u32, most: u32 },

    /// Values are larger than any parameters hold, even with primes to spare.
    #[error(
        "{at}{}, and no parameters hold absolute values of 2^{most:.0} or more here; {narrower}{}",
        large(*magnitude, *error),
        if error > magnitude { " or multiply less often in sequence" } else { " or scale the data down" },
    )]
    TooLarge {
        at: At,
        magnitude: f64,
        /// A bound on the values' error.
        error: f64,
        /// log2 of the limit below which absolute values must stay at this place of the program,
        /// under any parameters.
        most: f64,
        narrower: Narrower,
    },

    /// A value may exceed the capacity of its level, and would wrap around without notice.
    #[error(
        "{at}{}, and at this level and scale only absolute values below {capacity:.4e} survive; {narrower}, scale the data \
         down, use parameters with a larger first prime or a smaller scale, or let the compiler choose them",
        large(*magnitude, *error),
    )]
    Overflow {
        at: At,
        magnitude: f64,
        /// A bound on the value's error.
        error: f64,
        capacity: f64,
        narrower: Narrower,
    },

    /// The error of an output may exceed 1 and every value of the output, so the output has no right digit.
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

    /// The ranges, the sample or the bound of the options make no sense for an input.
    #[error("{}{why}", if name.is_empty() { String::new() } else { format!("input {name}: ") })]
    Range { name: String, why: String },

    /// The sample has a value outside of the bound that the program's author declares for it
    /// (`rm.bounded`).
    #[error(transparent)]
    Bounded(Box<Broken>),

    /// A constant does not fit the level at which it is used.
    #[error("{at}the constant {value} cannot be used here: {why}")]
    BadConstant { at: At, value: f64, why: E },

    /// An integer constant is equal to no double, and the scheme computes on real numbers.
    #[error(
        "{at}the integer {value} cannot be used here: the scheme computes on real numbers, of 53 bits each, and none is equal \
         to it; round it, or use a scheme of integers"
    )]
    InexactInteger { at: At, value: i128 },

    /// The program has an operation of whole numbers, and the scheme computes on approximate
    /// numbers.
    #[error(
        "{at}{op} is of whole numbers: an approximate one is never zero for sure; use a scheme of integers"
    )]
    OfIntegers { at: At, op: &'static str },

    /// The program has an operation that its scheme does not have.
    #[error("{at}{op} is no operation of the scheme {scheme}; use a scheme that has it")]
    OfOtherSchemes {
        at: At,
        op: &'static str,
        scheme: &'static str,
    },

    /// A constant is no integer, and the scheme computes on whole numbers.
    #[error(
        "{at}the constant {value} cannot be used here: the scheme computes on whole numbers, and as a double one is below 2^53; \
         round it, or use a scheme of real numbers"
    )]
    NotWhole { at: At, value: f64 },

    /// Values may be larger than any plaintext modulus holds, or than the given one.
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

    /// An output may be larger than 127 bits, beyond which the compiler knows no range, or depends on a quotient, which
    /// has no range.
    #[error(
        "output {output:?} may have more than 127 bits; declare narrower ranges of the inputs, or multiply less often"
    )]
    Unbounded { output: String },

    /// A value that is tested for zero may be larger than 127 bits, beyond which the compiler knows no range, or
    /// depends on a quotient.
    #[error(
        "{at}what is tested for zero here may have more than 127 bits; declare narrower ranges of the inputs, or multiply less \
         often"
    )]
    UnboundedTest { at: At },

    /// The program divides by a number that is 1, the plaintext modulus or none of its divisors, or its scheme has no
    /// division.
    #[error(
        "{at}a quotient by {by} is none here: it needs BGV and a plaintext modulus that {by} divides and is below, given by the \
         parameters; use a power of an odd prime and one of its lower powers"
    )]
    NoQuotient { at: At, by: i128 },

    /// The program is to bootstrap, but one of its operations, its values or the options rules that out.
    #[error("{at}{what} is not for programs that bootstrap; {cure}")]
    NotBootstrapped {
        at: At,
        what: &'static str,
        cure: &'static str,
    },

    /// The predicted noise of the program exceeds what the parameters hold.
    #[error(
        "{at}{}the noise of this program is {} bits too much: at ring degree 2^{log_n} the primes have at most {allowed_bits} bits; \
         {cures}",
        match sequence {
            Some(Sequence { holds, needs }) => format!(
                "levels run out here: the program multiplies {needs} times in sequence, and parameters hold {holds}: "
            ),
            None => String::new(),
        },
        // Noise that exceeds the modulus early on grows to numbers without meaning.
        if bits > allowed_bits { format!("more than {allowed_bits}") } else { bits.to_string() }
    )]
    TooNoisy {
        at: At,
        bits: u32,
        log_n: u32,
        allowed_bits: u32,
        /// The numbers of products in sequence, if the program has too many of them.
        sequence: Option<Sequence>,
        cures: Cures,
    },

    /// An output depends on no encrypted input, so that everybody could read its ciphertext.
    #[error(
        "{at}output {output:?} is the same whatever is encrypted (as x - x and x * 0 are), so that its ciphertext would be \
         transparent: everybody could read it; compute it in the clear"
    )]
    Transparent { at: At, output: String },

    /// The target machine does not accept the parameters or the program.
    #[error(transparent)]
    Target(#[from] Box<crate::target::TargetError>),

    /// The program already has relinearisations or levels: it is not a traced one.
    #[error(
        "the program is not as traced (it relinearises or has levels already); compile the traced program"
    )]
    NotTraced,

    /// The program is too long if its calls and repeats are written out.
    #[error(transparent)]
    WrittenOut(#[from] crate::inline::InlineError),

    /// The parameters are of another scheme than the program.
    #[error(
        "the program is for the scheme {scheme} and the parameters are for {expected}; use parameters of the program's scheme"
    )]
    OtherScheme {
        scheme: ringmill_isa::macros::SchemeName,
        expected: &'static str,
    },

    /// An instruction has operands that an earlier pass should have refused or replaced.
    #[error(
        "{at}{op} has operands that cannot be lowered; this is a fault of the compiler, please report it"
    )]
    Misshapen { at: At, op: &'static str },

    /// A pass of the compiler met an operation that it does not know.
    #[error("{0}; this is a fault of the compiler, please report it")]
    Refused(#[from] Refused),

    /// The program has no output, so it computes nothing.
    #[error("the program {name:?} has no output; return at least one encrypted value from it")]
    NoOutput { name: String },

    /// The program breaks the rules of the macro or mid level.
    #[error(transparent)]
    Verify(#[from] ringmill_isa::VerifyError),

    /// A procedure is called with operands that it does not take.
    #[error(
        "a procedure cannot be called here ({0}); this is a fault of the compiler, please report it"
    )]
    Call(#[from] ringmill_device::call::CallError),

    /// The work was stopped, or lacks memory.
    #[error("{0}")]
    Halt(#[from] ringmill_limits::Halt),

    /// The sample does not fit the program.
    #[error("the sample inputs do not fit: {0}")]
    Sample(#[from] crate::reference::EvaluateError),

    /// The scheme refuses the parameters or an operation.
    #[error(transparent)]
    Scheme(E),
}

/// Returns a text on how large values may be, or how large their errors are if these exceed the
/// values.
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

/// Returns the digits or the bits of an output at the largest scale that fits, as text.
fn reached(reachable: Accuracy) -> String {
    match reachable {
        Accuracy::Bits(0) => "no bit after the binary point".to_owned(),
        Accuracy::Bits(bits) => format!("{bits}"),
        Accuracy::Digits(0) => "no digit".to_owned(),
        Accuracy::Digits(digits) => format!("{digits}"),
    }
}

/// Returns a text on the instruction at which the largest error grows most. `growth` has the bounds on the error before
/// and after that instruction, or is `None` if the error never grows.
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
    /// Returns the line of the user's program that the error is about, or `None` if the error is about no line or its
    /// line is not known.
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
            | Self::KeysTooLarge { .. }
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
