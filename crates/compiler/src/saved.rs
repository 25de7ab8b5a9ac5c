//! Compiled programs in files: macro text under one line that says how it was compiled.
//!
//! The line is a comment of the macro text, so the file is a program too, for whoever wants to compile it otherwise.
//! What it holds is JSON: the parameters as a parameter file in hexadecimal, and every option but the sample. In the sample's
//! place are the ranges that it declares, whose ends are powers of two.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use std::sync::Arc;

use ringmill_isa::macros::{MacroProgram, text};
use ringmill_isa::{Level, ParseError};
use ringmill_limits::Watch;
use ringmill_schemes::file::{Accepted, FileError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::arrays::{Arrays, Lengths, Returned};
use crate::compile::{Compiled, compile};
use crate::options::{Options, ParamsChoice, Passes};
use crate::scheme::{Bootstraps, Compiles, ErrorOf};

/// A scheme whose compiled programs are written to files.
pub trait Saves: Compiles {
    /// A range as it is written.
    type KeptRange: Serialize + DeserializeOwned;
    /// A slot of a sample as it is written.
    type KeptSlot: Serialize + DeserializeOwned;

    fn keep_range(range: &Self::Range) -> Self::KeptRange;

    /// `None` for one that is none.
    fn range_of(kept: Self::KeptRange) -> Option<Self::Range>;

    fn keep_message(message: &Self::Message) -> Vec<Self::KeptSlot>;

    fn message_of(kept: Vec<Self::KeptSlot>) -> Self::Message;

    /// The range of an input by its sample as versions had it that wrote form 1: not rounded to a power of two.
    fn range_by(sample: &Self::Message, margin: f64) -> Self::Range;

    /// The widest range within one by a sample that tells no slot.
    fn narrowed(range: &Self::Range) -> Self::Range;

    /// The parameter file's bytes.
    fn write_params(params: &Self::Params) -> Vec<u8>;

    /// # Errors
    /// A file that is damaged, of another scheme, by a security table that is not accepted, or of insecure parameters.
    fn read_params(bytes: &[u8], accepted: Accepted) -> Result<Arc<Self::Params>, FileError>;
}

/// How the line begins.
const MARK: &str = ";ringmill compiled ";
/// The form of the line.
const FORM: u32 = 2;
/// The form of versions that kept every sample. Others are refused.
const WITH_ALL_SAMPLES: u32 = 1;

/// Why a saved program was refused.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SavedError {
    #[error("the first line, which says how the program was compiled, is altered: {0}")]
    Line(String),
    #[error(
        "the program was saved in form {got}, expected {FORM} or {WITH_ALL_SAMPLES}; load it with the version that saved it, or name options to compile it anew"
    )]
    Form { got: u32 },
    #[error("its parameters: {0}")]
    Params(#[from] FileError),
    #[error("how it bootstraps: {0}; compile it again from its source")]
    Bootstrapping(String),
    #[error(transparent)]
    Text(#[from] ParseError),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
struct Line<S: Saves> {
    form: u32,
    params: String,
    options: Kept<S>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    returned: Option<Returned>,
    /// Of programs with arrays that are shorter than the slots.
    #[serde(default, skip_serializing_if = "Lengths::are_slots")]
    lengths: Lengths,
}

/// [`Options`] as they are written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
struct Kept<S: Saves> {
    seeded_keys: bool,
    output_level: Level,
    input_bound: Exact,
    ranges: Vec<Option<S::KeptRange>>,
    sample: Option<Vec<Vec<S::KeptSlot>>>,
    /// What former versions predicted by a sample: read, and in no use.
    #[serde(default, skip_serializing, rename = "sampled")]
    _sampled: Option<Vec<i16>>,
    margin: Exact,
    passes: KeptPasses,
    /// Of programs that say what moves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    explicit: bool,
    /// Of programs that bootstrap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bootstrapping: Option<KeptBootstrapping>,
}

/// What bootstrapping is made from, beside the parameters.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptBootstrapping {
    /// Of the encapsulated secret.
    pub weight: u32,
    /// Of each linear map.
    pub stages: usize,
    /// log2 of the chance of failure.
    pub log2_chance: Exact,
    /// Whether keys come with seeds.
    pub seeded: bool,
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
pub struct Exact(pub f64);

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

/// The text of a program and how it was compiled, without the sample.
pub fn print<S: Saves>(compiled: &Compiled<S>, options: &Options<S>, arrays: &Arrays) -> String {
    written(compiled, &without_sample(compiled, options), arrays)
}

/// The same with the sample, every slot of it; `None` where there is none.
pub fn print_with_sample<S: Saves>(
    compiled: &Compiled<S>,
    options: &Options<S>,
    arrays: &Arrays,
) -> Option<String> {
    options.sample.as_ref()?;
    Some(written(compiled, options, arrays))
}

/// The options with the ranges that the sample declares in its place.
fn without_sample<S: Saves>(compiled: &Compiled<S>, options: &Options<S>) -> Options<S> {
    if options.sample.is_none() {
        return options.clone();
    }
    let inputs = compiled.inputs.iter();
    Options {
        sample: None,
        ranges: inputs.map(|input| Some(input.range.clone())).collect(),
        ..options.clone()
    }
}

fn written<S: Saves>(compiled: &Compiled<S>, options: &Options<S>, arrays: &Arrays) -> String {
    // Every field by name, so that a new one cannot be forgotten.
    let Options {
        params: _,       // those that were chosen are kept, whatever chose them
        target: _,       // they keep its limits
        seeded_keys: _,  // the target had a say in it
        explicit: _,     // and in it
        output_level: _, // what chose the parameters may have put the outputs above it
        input_bound,
        ranges,
        sample,
        margin,
        passes,
        bootstrapping,
        watch: _, // of the work that made it
    } = options;
    let &Passes {
        fold,
        cse,
        dce,
        lazy_relin,
        hoist,
    } = passes;
    let keep = |range: &Option<S::Range>| range.as_ref().map(S::keep_range);
    let sample = sample.as_deref();
    let params = S::write_params(&compiled.params);
    let line = Line::<S> {
        form: FORM,
        params: params.iter().map(|b| format!("{b:02x}")).collect(),
        options: Kept {
            seeded_keys: compiled.seeded,
            output_level: compiled.output_level,
            input_bound: Exact(*input_bound),
            ranges: ranges.iter().map(keep).collect(),
            sample: sample.map(|messages| messages.iter().map(S::keep_message).collect()),
            _sampled: None,
            margin: Exact(*margin),
            passes: KeptPasses {
                fold,
                cse,
                dce,
                lazy_relin,
                hoist,
            },
            explicit: options.explicit(),
            bootstrapping: bootstrapping.as_ref().map(Bootstraps::<S>::keep),
        },
        returned: arrays.returned,
        lengths: arrays.lengths.clone(),
    };
    // Strings, numbers and lists of them: writing them to a string cannot fail.
    let json = serde_json::to_string(&line).unwrap_or_default();
    format!("{MARK}{json}\n{}", text::print(&compiled.source))
}

/// How a saved program was compiled, its parameters among that.
#[derive(Clone, Debug)]
pub struct Recipe<S: Saves> {
    options: Options<S>,
    /// Of a file of form 1 with a sample: the ranges of the inputs as they are kept from now on.
    kept_ranges: Option<Vec<Option<S::Range>>>,
}

impl<S: Saves> Recipe<S> {
    /// The program as it was compiled, and the options that it is saved with.
    ///
    /// A file of form 1 may have a sample, which is dropped when the program is compiled. The program takes the inputs that it
    /// took. Saved anew, it takes those within the largest power of two: its parameters may hold no more.
    ///
    /// # Errors
    /// As [`compile`]: a program that does not fit the options.
    pub fn compile(
        self,
        source: MacroProgram,
        watch: &Watch,
    ) -> Result<(Compiled<S>, Options<S>), ErrorOf<S>> {
        let options = Options {
            watch: watch.clone(),
            ..self.options
        };
        let compiled = compile(source, &options)?;
        let options = match self.kept_ranges {
            None => options,
            Some(ranges) => Options {
                ranges,
                ..without_sample(&compiled, &options)
            },
        };
        Ok((compiled, options))
    }
}

/// A program that [`print`] wrote and how it was compiled; `None` for other macro text, which says nothing of it.
///
/// # Errors
/// [`SavedError`]: an altered line, parameters that are malformed, insecure, by a table that is not accepted or of another
/// version, text that is no program. Whether the program fits the options is for [`Recipe::compile`] to say.
pub fn parse<S: Saves>(
    text: &str,
    accepted: impl Into<Accepted>,
) -> Result<Option<(MacroProgram, Recipe<S>)>, SavedError> {
    match recipe(text, accepted)? {
        Some(recipe) => Ok(Some((text::parse(text)?, recipe))),
        None => Ok(None),
    }
}

/// Whether macro text says how it was compiled.
pub fn is_saved(text: &str) -> bool {
    text.starts_with(MARK)
}

/// How a program was compiled, of text that [`print`] wrote.
///
/// # Errors
/// As [`parse`], for the line alone.
pub fn recipe<S: Saves>(
    text: &str,
    accepted: impl Into<Accepted>,
) -> Result<Option<Recipe<S>>, SavedError> {
    let Some(line) = line::<S>(text)? else {
        return Ok(None);
    };
    let params = hexadecimal(&line.params)
        .ok_or_else(|| SavedError::Line("the parameters are not hexadecimal".into()))?;
    let mut ranges = ranges::<S>(line.options.ranges)?;
    let Kept {
        seeded_keys,
        output_level,
        input_bound,
        ranges: _,
        sample,
        _sampled: _,
        margin,
        passes,
        explicit,
        bootstrapping,
    } = Kept::<S> {
        ranges: Vec::new(),
        ..line.options
    };
    let KeptPasses {
        fold,
        cse,
        dce,
        lazy_relin,
        hoist,
    } = passes;
    let params = S::read_params(&params, accepted.into())?;
    let bootstrapping = bootstrapping.map(|kept| Bootstraps::<S>::made_again(kept, &params));
    let bootstrapping = bootstrapping
        .transpose()
        .map_err(SavedError::Bootstrapping)?;
    let sample: Option<Vec<_>> =
        sample.map(|messages| messages.into_iter().map(S::message_of).collect());
    let kept_ranges = match &sample {
        Some(sample) if line.form == WITH_ALL_SAMPLES => {
            Some(by_sample::<S>(&mut ranges, sample, margin.0))
        }
        Some(_) | None => None,
    };
    let options = Options {
        target: None,
        params: ParamsChoice::Given(params),
        seeded_keys,
        explicit,
        output_level,
        input_bound: input_bound.0,
        ranges,
        sample,
        margin: margin.0,
        passes: Passes {
            fold,
            cse,
            dce,
            lazy_relin,
            hoist,
        },
        bootstrapping,
        watch: Watch::default(),
    };
    Ok(Some(Recipe {
        options,
        kept_ranges,
    }))
}

/// Declares the ranges that a file of form 1 left to its sample; gives those that are kept in their place.
fn by_sample<S: Saves>(
    ranges: &mut Vec<Option<S::Range>>,
    sample: &[S::Message],
    margin: f64,
) -> Vec<Option<S::Range>> {
    if ranges.len() < sample.len() {
        ranges.resize(sample.len(), None);
    }
    let mut kept = ranges.clone();
    for ((range, kept), message) in ranges.iter_mut().zip(&mut kept).zip(sample) {
        if range.is_none() {
            let made = S::range_by(message, margin);
            *kept = Some(S::narrowed(&made));
            *range = Some(made);
        }
    }
    kept
}

/// The ranges that inputs were declared to have, of text that [`print`] wrote; empty for other text.
///
/// # Errors
/// As [`parse`], for the line alone.
pub fn declared_ranges<S: Saves>(text: &str) -> Result<Vec<Option<S::Range>>, SavedError> {
    match line::<S>(text)? {
        Some(line) => ranges::<S>(line.options.ranges),
        None => Ok(Vec::new()),
    }
}

fn ranges<S: Saves>(kept: Vec<Option<S::KeptRange>>) -> Result<Vec<Option<S::Range>>, SavedError> {
    let altered = || SavedError::Line("a range ends before it begins".into());
    let one = |kept: Option<S::KeptRange>| {
        let range = kept.map(|kept| S::range_of(kept).ok_or_else(altered));
        range.transpose()
    };
    kept.into_iter().map(one).collect()
}

/// The line that says how a program was compiled, without its mark.
fn marked(text: &str) -> Option<&str> {
    let behind = text.strip_prefix(MARK)?;
    Some(behind.lines().next().unwrap_or_default())
}

fn line<S: Saves>(text: &str) -> Result<Option<Line<S>>, SavedError> {
    let Some(line) = marked(text) else {
        return Ok(None);
    };
    let altered = |fault: serde_json::Error| SavedError::Line(fault.to_string());
    // The form first: the fields of another are not known.
    #[derive(Deserialize)]
    struct Form {
        form: u32,
    }
    let Form { form } = serde_json::from_str(line).map_err(altered)?;
    if ![FORM, WITH_ALL_SAMPLES].contains(&form) {
        return Err(SavedError::Form { got: form });
    }
    serde_json::from_str(line).map(Some).map_err(altered)
}

/// The arrays of the function whose program [`print`] wrote; of other macro text nothing is known.
///
/// # Errors
/// [`SavedError::Line`] for lengths that the program's inputs and outputs cannot have.
pub fn arrays(text: &str, program: &MacroProgram) -> Result<Arrays, SavedError> {
    #[derive(Deserialize)]
    struct Only {
        #[serde(default)]
        returned: Option<Returned>,
        #[serde(default)]
        lengths: Lengths,
    }
    let Some(line) = marked(text) else {
        return Ok(Arrays::default());
    };
    let Only { returned, lengths } =
        serde_json::from_str(line).map_err(|fault| SavedError::Line(fault.to_string()))?;
    lengths.check(program).map_err(SavedError::Line)?;
    Ok(Arrays { returned, lengths })
}

/// Whether a program that [`print`] wrote bootstraps.
pub fn bootstraps(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Only {
        options: OfOptions,
    }
    #[derive(Deserialize)]
    struct OfOptions {
        bootstrapping: Option<KeptBootstrapping>,
    }
    let read = marked(text).and_then(|line| serde_json::from_str::<Only>(line).ok());
    read.is_some_and(|read| read.options.bootstrapping.is_some())
}

fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| {
        let [high, low] = pair.map(|digit| char::from(digit).to_digit(16));
        u8::try_from(high?.checked_mul(16)?.checked_add(low?)?).ok()
    };
    pairs
        .0
        .iter()
        .map(byte)
        .collect::<Option<_>>()
        .filter(|_| pairs.1.is_empty())
}
