// SPDX-License-Identifier: Apache-2.0
//! Saves compiled programs in files: macro text below one line that says how the program was compiled.
//!
//! The line is a comment of the macro text, so the file is also a program that may be compiled with other options. The
//! line is JSON. It has the parameters as a parameter file in hexadecimal, and the options except the sample, the
//! target, the demands on keys and the watch. In place of the sample it has the ranges that the sample declares, whose
//! ends are 0 or powers of two. It has the sample itself only if the caller asks for that. It also has the lengths of
//! the function's arrays and the container of its results.
#![deny(clippy::arithmetic_side_effects)]

use ringmill_isa::macros::{MacroProgram, text};
use ringmill_isa::{Level, ParseError};
use ringmill_limits::Watch;
use ringmill_schemes::file::{Accepted, FileError, write_params_of};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::arrays::{Arrays, Lengths, Returned};
use crate::compile::{Compiled, compile};
use crate::kept::{Exact, KeptBootstrapping, KeptRange, KeptSlot};
use crate::scheme::options::KeyWishes;
use crate::scheme::options::{Options, ParamsChoice, Passes};
use crate::scheme::{Compiles, ErrorOf};

/// The text with which the first line of a saved compiled program begins.
const MARK: &str = ";ringmill compiled ";
/// The format version of saved programs, which their first line names. Since version 2 a saved program has no sample
/// unless the caller asks for it.
const FORM: u32 = 2;
/// Format version 1 of saved programs, in which every sample was saved. All other old versions are refused.
const WITH_ALL_SAMPLES: u32 = 1;

/// The reason why a saved program was refused.
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
#[serde(deny_unknown_fields)]
struct Line {
    form: u32,
    params: String,
    options: Kept,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    returned: Option<Returned>,
    /// The number of slots that each array fills. The file lacks the field if all arrays fill all
    /// slots.
    #[serde(default, skip_serializing_if = "Lengths::are_slots")]
    lengths: Lengths,
}

/// The options of a compilation ([`Options`]) in the form that the file has.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    seeded_keys: bool,
    output_level: Level,
    input_bound: Exact,
    ranges: Vec<Option<KeptRange>>,
    sample: Option<Vec<Vec<KeptSlot>>>,
    /// The precision that earlier versions of Ringmill predicted from a sample. It is read and not used.
    #[serde(default, skip_serializing, rename = "sampled")]
    _sampled: Option<Vec<i16>>,
    margin: Exact,
    passes: KeptPasses,
    /// Whether the saved program was compiled to have `LOAD`, `MORPH` and `KSW`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    explicit: bool,
    /// The fields from which the bootstrap is made again, for a program that bootstraps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bootstrapping: Option<KeptBootstrapping>,
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

/// Returns the text of the traced program that was compiled, below a line that says how it was compiled, without the
/// sample.
pub fn print<S: Compiles>(compiled: &Compiled<S>, options: &Options<S>, arrays: &Arrays) -> String {
    written(compiled, &without_sample(compiled, options), arrays)
}

/// Returns the text of the traced program that was compiled, below a line that says how it was compiled, including
/// every slot of the sample. Returns `None` if the options have no sample.
pub fn print_with_sample<S: Compiles>(
    compiled: &Compiled<S>,
    options: &Options<S>,
    arrays: &Arrays,
) -> Option<String> {
    options.sample.as_ref()?;
    Some(written(compiled, options, arrays))
}

/// Returns the options without the sample. The ranges that the compiler took from the sample replace it.
fn without_sample<S: Compiles>(compiled: &Compiled<S>, options: &Options<S>) -> Options<S> {
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

fn written<S: Compiles>(compiled: &Compiled<S>, options: &Options<S>, arrays: &Arrays) -> String {
    // Every field by name, so that a new one cannot be forgotten.
    let Options {
        params: _,       // the file has the parameters themselves
        target: _,       // the parameters fit its limits already
        seeded_keys: _,  // the target may have changed it
        keys: _,         // they only decide which parameters are chosen
        explicit: _,     // the target may have changed it
        output_level: _, // the choice of parameters may have raised it
        input_bound,
        ranges,
        sample,
        margin,
        passes,
        bootstrapping,
        watch: _, // it belongs to the compilation that is done
    } = options;
    let &Passes {
        fold,
        cse,
        dce,
        lazy_relin,
        hoist,
    } = passes;
    let keep = |range: &Option<S::Range>| range.as_ref().map(|range| S::ends(range).into());
    let slots = |message: &S::Message| KeptSlot::all(S::values(message.clone()));
    let sample = sample.as_deref();
    let kept = bootstrapping.as_ref().zip(S::BOOTSTRAPS);
    let params = write_params_of(S::TAG, &*compiled.params);
    let line = Line {
        form: FORM,
        params: params.iter().map(|b| format!("{b:02x}")).collect(),
        options: Kept {
            seeded_keys: compiled.seeded,
            output_level: compiled.output_level,
            input_bound: Exact(*input_bound),
            ranges: ranges.iter().map(keep).collect(),
            sample: sample.map(|messages| messages.iter().map(slots).collect()),
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
            bootstrapping: kept.map(|(with, how)| (how.keep)(with)),
        },
        returned: arrays.returned,
        lengths: arrays.lengths.clone(),
    };
    // Strings, numbers and lists of them: writing them to a string cannot fail.
    let json = serde_json::to_string(&line).unwrap_or_default();
    format!("{MARK}{json}\n{}", text::print(&compiled.source))
}

/// The options that a saved program was compiled with, including its parameters.
#[derive(Clone, Debug)]
pub struct Recipe<S: Compiles> {
    options: Options<S>,
    /// The ranges of the inputs with which the program is saved again. Only a file in format version 1 that has a
    /// sample has them.
    kept_ranges: Option<Vec<Option<S::Range>>>,
}

impl<S: Compiles> Recipe<S> {
    /// Compiles a saved program again. Returns the compiled program, and the options to save it with.
    ///
    /// A file in format version 1 may have a sample, from which the ranges of inputs follow. The sample is dropped when
    /// the program is compiled, and the program takes the same inputs as before. If it is saved again, each range that
    /// follows from the sample shrinks to the largest power of two within it, since the parameters may hold no more.
    /// Declared ranges stay.
    ///
    /// # Errors
    /// Fails like [`compile`], for a program that does not fit the options.
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

/// Reads a program that [`print`] wrote, and how it was compiled. Returns `None` for other macro text.
///
/// # Errors
/// [`SavedError`] for an altered line, another format version, text that is no program, a bootstrap that cannot be made
/// again, and refused parameters. Parameters are refused if they are malformed, insecure, of another version, or secure
/// only by a table that is not accepted. [`Recipe::compile`] checks whether the program fits the options.
pub fn parse<S: Compiles>(
    text: &str,
    accepted: impl Into<Accepted>,
) -> Result<Option<(MacroProgram, Recipe<S>)>, SavedError> {
    match recipe(text, accepted)? {
        Some(recipe) => Ok(Some((text::parse(text)?, recipe))),
        None => Ok(None),
    }
}

/// Returns whether macro text has a line that says how it was compiled.
pub fn is_saved(text: &str) -> bool {
    text.starts_with(MARK)
}

/// Reads how a program was compiled from text that [`print`] wrote. Returns `None` for other macro text.
///
/// # Errors
/// Fails like [`parse`], for the first line alone.
pub fn recipe<S: Compiles>(
    text: &str,
    accepted: impl Into<Accepted>,
) -> Result<Option<Recipe<S>>, SavedError> {
    let Some(line) = line(text)? else {
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
    } = Kept {
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
    let bootstrapping = bootstrapping.map(|kept| match S::BOOTSTRAPS {
        Some(how) => (how.made_again)(kept, &params),
        None => Err(format!("programs of {} do not bootstrap", S::NAME)),
    });
    let bootstrapping = bootstrapping
        .transpose()
        .map_err(SavedError::Bootstrapping)?;
    let sample = sample.map(|messages| {
        let messages = messages.into_iter();
        messages.map(message::<S>).collect::<Result<Vec<_>, _>>()
    });
    let sample = sample.transpose()?;
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
        keys: KeyWishes::default(),
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

/// Declares the ranges of inputs that a saved program in format version 1 leaves to its sample, each from the sample's
/// values and the margin. Returns the ranges with which the program is saved again.
fn by_sample<S: Compiles>(
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
            let made = S::sampled(message, margin);
            *kept = Some(S::narrowed(&made));
            *range = Some(made);
        }
    }
    kept
}

/// Returns the declared ranges of a saved program's inputs, without those that follow from a sample in the file.
/// Returns an empty list for text that [`print`] did not write.
///
/// # Errors
/// [`SavedError::Line`] for an altered line, [`SavedError::Form`] for another format version.
pub fn declared_ranges<S: Compiles>(text: &str) -> Result<Vec<Option<S::Range>>, SavedError> {
    match line(text)? {
        Some(line) => ranges::<S>(line.options.ranges),
        None => Ok(Vec::new()),
    }
}

fn ranges<S: Compiles>(kept: Vec<Option<KeptRange>>) -> Result<Vec<Option<S::Range>>, SavedError> {
    let altered = |what: &str| SavedError::Line(what.to_owned());
    let one = |kept: Option<KeptRange>| {
        let Some(kept) = kept else { return Ok(None) };
        let other = || altered("a range is of other numbers than the scheme's");
        let ends = kept.ends(S::NUMBERS).ok_or_else(other)?;
        let range = S::declared(ends).ok_or_else(|| altered("a range ends before it begins"))?;
        Ok(Some(range))
    };
    kept.into_iter().map(one).collect()
}

fn message<S: Compiles>(slots: Vec<KeptSlot>) -> Result<S::Message, SavedError> {
    let message = KeptSlot::values(slots, S::NUMBERS).and_then(S::message);
    message.ok_or_else(|| {
        SavedError::Line("a sample is of other numbers than the scheme's".to_owned())
    })
}

/// Returns the line that says how a program was compiled, without its mark.
fn marked(text: &str) -> Option<&str> {
    let behind = text.strip_prefix(MARK)?;
    Some(behind.lines().next().unwrap_or_default())
}

fn line(text: &str) -> Result<Option<Line>, SavedError> {
    let Some(line) = marked(text) else {
        return Ok(None);
    };
    let altered = |fault: serde_json::Error| SavedError::Line(fault.to_string());
    // The format version is read first, since the fields of another version are unknown.
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

/// Returns the arrays of the function whose program [`print`] wrote. For other macro text the container is unknown, and
/// all slots count as values.
///
/// # Errors
/// [`SavedError::Line`] for an altered line, and for lengths that the program's inputs and outputs cannot have.
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

/// Returns whether a program that [`print`] wrote bootstraps. Returns false for other macro text and for an altered
/// line.
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
