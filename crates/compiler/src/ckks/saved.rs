//! Compiled programs in files: macro text under one line that says how it was compiled.
//!
//! The line is a comment of the macro text, so the file is a program too, for whoever wants to compile it otherwise.
//! What it holds is JSON: the parameters as a parameter file in hexadecimal, and every option.

use num_complex::Complex64;
use ringmill_isa::macros::{MacroProgram, text};
use ringmill_isa::{Level, ParseError};
use ringmill_limits::Watch;
use ringmill_schemes::ckks::file::{self, FileError, InsecureParams};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Compiled, Options, ParamsChoice};
use crate::ckks::range::InputRange;
use crate::options::Passes;

/// How the line begins.
const MARK: &str = ";ringmill compiled ";
/// The form of the line; another is refused.
const FORM: u32 = 1;

/// Why a saved program was refused.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SavedError {
    #[error("the first line, which says how the program was compiled, is altered: {0}")]
    Line(String),
    #[error(
        "the program was saved in form {got}, expected {FORM}; load it with the version that saved it, or name options to compile it anew"
    )]
    Form { got: u32 },
    #[error("its parameters: {0}")]
    Params(#[from] FileError),
    #[error(transparent)]
    Text(#[from] ParseError),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    form: u32,
    params: String,
    options: Kept,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    returned: Option<Returned>,
}

/// What the traced function returned, beside its values: for a front end that gives back the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Returned {
    One,
    Tuple,
    Dict,
}

/// [`Options`] as they are written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    seeded_keys: bool,
    output_level: Level,
    input_bound: Exact,
    ranges: Vec<Option<KeptRange>>,
    sample: Option<Vec<Vec<Slot>>>,
    margin: Exact,
    passes: KeptPasses,
}

/// One number for a radius, two for the ends.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
enum KeptRange {
    Disc(Exact),
    Real([Exact; 2]),
}

impl From<InputRange> for KeptRange {
    fn from(range: InputRange) -> Self {
        match range {
            InputRange::Disc { radius } => Self::Disc(Exact(radius)),
            InputRange::Real { lowest, highest } => Self::Real([Exact(lowest), Exact(highest)]),
        }
    }
}

impl From<KeptRange> for InputRange {
    fn from(range: KeptRange) -> Self {
        match range {
            KeptRange::Disc(Exact(radius)) => Self::Disc { radius },
            KeptRange::Real([Exact(lowest), Exact(highest)]) => Self::Real { lowest, highest },
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptPasses {
    fold: bool,
    cse: bool,
    dce: bool,
    lazy_relin: bool,
    hoist: bool,
}

/// A double as the shortest text that reads back to the same bits: infinities too, which JSON numbers lack.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
struct Exact(f64);

impl From<Exact> for String {
    fn from(value: Exact) -> Self {
        format!("{:?}", value.0)
    }
}

impl TryFrom<String> for Exact {
    type Error = std::num::ParseFloatError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

/// A slot of a sample: most are real.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
enum Slot {
    Real(Exact),
    Complex([Exact; 2]),
}

impl From<Complex64> for Slot {
    fn from(z: Complex64) -> Self {
        if z.im.to_bits() == 0 {
            Self::Real(Exact(z.re))
        } else {
            Self::Complex([Exact(z.re), Exact(z.im)])
        }
    }
}

impl From<Slot> for Complex64 {
    fn from(slot: Slot) -> Self {
        match slot {
            Slot::Real(Exact(re)) => Self::new(re, 0.0),
            Slot::Complex([Exact(re), Exact(im)]) => Self::new(re, im),
        }
    }
}

fn convert<A: Copy + Into<B>, B>(vectors: &[Vec<A>]) -> Vec<Vec<B>> {
    let convert = |vector: &Vec<A>| vector.iter().map(|&x| x.into()).collect();
    vectors.iter().map(convert).collect()
}

/// The text of a program and how it was compiled.
pub fn print(compiled: &Compiled, options: &Options, returned: Option<Returned>) -> String {
    // Every field by name, so that a new one cannot be forgotten.
    let Options {
        params: _, // those that were chosen are kept, whatever chose them
        target: _, // they keep its limits
        seeded_keys,
        output_level: _, // what chose the parameters may have put the outputs above it
        input_bound,
        ranges,
        sample,
        margin,
        passes,
        watch: _, // of the work that made it
    } = options;
    let &Passes {
        fold,
        cse,
        dce,
        lazy_relin,
        hoist,
    } = passes;
    let params = file::write_params(&compiled.params);
    let line = Line {
        form: FORM,
        params: params.iter().map(|b| format!("{b:02x}")).collect(),
        options: Kept {
            seeded_keys: *seeded_keys,
            output_level: compiled.output_level,
            input_bound: Exact(*input_bound),
            ranges: ranges.iter().map(|r| r.map(KeptRange::from)).collect(),
            sample: sample.as_deref().map(convert),
            margin: Exact(*margin),
            passes: KeptPasses {
                fold,
                cse,
                dce,
                lazy_relin,
                hoist,
            },
        },
        returned,
    };
    // Strings, numbers and lists of them: writing them to a string cannot fail.
    let json = serde_json::to_string(&line).unwrap_or_default();
    format!("{MARK}{json}\n{}", text::print(&compiled.source))
}

/// A program that [`print`] wrote and the options it was compiled with, its parameters among them; `None` for other
/// macro text, which says nothing of either.
///
/// # Errors
/// [`SavedError`]: an altered line, parameters that are malformed, insecure or of another version, text that is no
/// program. Whether the program fits the options is for [`crate::compile`] to say.
pub fn parse(
    text: &str,
    insecure: InsecureParams,
) -> Result<Option<(MacroProgram, Options)>, SavedError> {
    let Some(marked) = text.strip_prefix(MARK) else {
        return Ok(None);
    };
    let line = marked.lines().next().unwrap_or_default();
    let altered = |fault: serde_json::Error| SavedError::Line(fault.to_string());
    // The form first: the fields of another are not known.
    #[derive(Deserialize)]
    struct Form {
        form: u32,
    }
    let Form { form } = serde_json::from_str(line).map_err(altered)?;
    if form != FORM {
        return Err(SavedError::Form { got: form });
    }
    let Line {
        form: _,
        params,
        options,
        returned: _,
    } = serde_json::from_str(line).map_err(altered)?;
    let params = hexadecimal(&params)
        .ok_or_else(|| SavedError::Line("the parameters are not hexadecimal".into()))?;
    let Kept {
        seeded_keys,
        output_level,
        input_bound,
        ranges,
        sample,
        margin,
        passes,
    } = options;
    let KeptPasses {
        fold,
        cse,
        dce,
        lazy_relin,
        hoist,
    } = passes;
    let options = Options {
        target: None,
        params: ParamsChoice::Given(file::read_params(&params, insecure)?),
        seeded_keys,
        output_level,
        input_bound: input_bound.0,
        ranges: ranges
            .into_iter()
            .map(|r| r.map(InputRange::from))
            .collect(),
        sample: sample.as_deref().map(convert),
        margin: margin.0,
        passes: Passes {
            fold,
            cse,
            dce,
            lazy_relin,
            hoist,
        },
        watch: Watch::default(),
    };
    Ok(Some((text::parse(text)?, options)))
}

/// What the function returned whose program [`print`] wrote, where that is known.
pub fn returned(text: &str) -> Option<Returned> {
    #[derive(Deserialize)]
    struct Only {
        returned: Option<Returned>,
    }
    let line = text.strip_prefix(MARK)?.lines().next()?;
    serde_json::from_str::<Only>(line).ok()?.returned
}

fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| {
        let [high, low] = pair.map(|digit| char::from(digit).to_digit(16));
        u8::try_from(16 * high? + low?).ok()
    };
    pairs
        .0
        .iter()
        .map(byte)
        .collect::<Option<_>>()
        .filter(|_| pairs.1.is_empty())
}
