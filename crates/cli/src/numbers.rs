// SPDX-License-Identifier: Apache-2.0
//! Handles the numbers of a scheme on the command line by their kind: ranges, files, random inputs and JSON.
//!
//! Whole numbers are exact and have no natural size. Real and complex numbers are approximate, and at most 1 by
//! default.

use std::path::Path;

use num_complex::Complex64;
use ringmill_compiler::saved::declared_ranges;
use ringmill_compiler::{Accuracy, Compiles, Ends, Numbers, Values};
use ringmill_math::Prng;
use ringmill_runtime::{Figures, Predicted, Served, Wishes};
use serde_json::{Map, Value, json};

use crate::args::{Fill, ProgramArgs};
use crate::error::CliError;
use crate::inputs::{self, Room};

/// The bound below which a double represents each whole number exactly, 2^53. Bounds of ranges are doubles.
const BOUND: f64 = 9_007_199_254_740_992.0;

/// Refuses options for precision, which whole numbers do not have.
fn no_precision(args: &ProgramArgs) -> Result<(), CliError> {
    let wishes = [
        ("--digits", args.digits.is_some()),
        ("--precision", args.precision.is_some()),
        ("--integer-bits", args.integer_bits.is_some()),
    ];
    match wishes.iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(CliError::Usage(format!(
            "{flag} is about approximate results, and whole numbers are computed on exactly; leave it out"
        ))),
        None => Ok(()),
    }
}

/// Returns the user's demands on parameters that the compiler chooses, from the command line.
///
/// # Errors
/// Fails for options that do not apply to the scheme.
pub fn wanted<S: Served>(args: &ProgramArgs) -> Result<S::Wanted, CliError> {
    match S::NUMBERS {
        Numbers::Whole => no_precision(args)?,
        Numbers::Complex => {}
    }
    let (table, level) = args.security.wanted()?;
    Ok(S::wanted(&Wishes {
        accuracy: Accuracy::asked(args.precision, args.digits),
        integer_bits: args.integer_bits,
        table,
        level,
        bootstrapping: true,
    }))
}

/// Returns those fields of a parameter set's JSON that not all ring schemes have.
pub fn describe<S: Served>(params: &S::Params) -> Map<String, Value> {
    let Figures {
        default_scale,
        plain_modulus,
    } = S::figures(params);
    let scale = default_scale.map(|scale| ("scale_log2".to_owned(), json!(scale.log2())));
    let modulus = plain_modulus.map(|t| ("plain_modulus".to_owned(), json!(t)));
    scale.into_iter().chain(modulus).collect()
}

fn ends(low: &str, high: &str, numbers: Numbers) -> Option<Ends> {
    match numbers {
        Numbers::Whole => Some(Ends::Whole(
            low.trim().parse().ok()?,
            high.trim().parse().ok()?,
        )),
        Numbers::Complex => {
            let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
            let (low, high) = (number(low)?, number(high)?);
            (low <= high).then_some(Ends::Real(low, high))
        }
    }
}

/// Returns the input range from `low` to `high`, both as text. Returns `None` if they are no numbers of the scheme, or
/// if `low` is the larger one.
pub fn range<S: Compiles>(low: &str, high: &str) -> Option<S::Range> {
    S::declared(ends(low, high, S::NUMBERS)?)
}

/// Returns the range of an input whose type sets its ends, or `None` if the scheme has no such type.
pub fn typed_range<S: Compiles>(low: i128, high: i128) -> Option<S::Range> {
    S::declared(Ends::Whole(low, high))
}

fn bounds(bound: f64, numbers: Numbers) -> Result<Ends, CliError> {
    match numbers {
        Numbers::Complex => Ok(Ends::Disc(bound)),
        Numbers::Whole if bound.fract() != 0.0 || !(0.0..BOUND).contains(&bound) => {
            Err(CliError::Usage(format!(
                "--input-bound is a whole number below 2^53 for a program of whole numbers, not {bound}; --range takes larger ones"
            )))
        }
        Numbers::Whole => Ok(Ends::Whole(-(bound as i128), bound as i128)),
    }
}

/// Returns the input range whose absolute values are at most `bound`.
///
/// # Errors
/// Returns [`CliError::Usage`] for a bound that the scheme's numbers do not have.
pub fn bounded<S: Compiles>(bound: f64) -> Result<S::Range, CliError> {
    let range = S::declared(bounds(bound, S::NUMBERS)?);
    range
        .ok_or_else(|| CliError::Usage(format!("--input-bound {bound} is no bound of {}", S::NAME)))
}

/// Prints a line that names the inputs with a default range, because their size was not given. With JSON it prints
/// nothing.
///
/// # Errors
/// Returns [`CliError::Usage`] for whole numbers, which have no default range.
pub fn unsaid(names: &[&str], numbers: Numbers, json: bool) -> Result<(), CliError> {
    let all = names.join(", ");
    match numbers {
        Numbers::Whole => Err(CliError::Usage(format!(
            "nothing says where the whole numbers of {all} lie; give --range {}=LOW:HIGH, --sample or --input-bound",
            names.first().unwrap_or(&"NAME")
        ))),
        Numbers::Complex if json => Ok(()),
        Numbers::Complex => {
            eprintln!(
                "note: absolute values of {all} are taken to be at most 1; --range, --sample or --input-bound says otherwise"
            );
            Ok(())
        }
    }
}

/// Returns the declared ranges of a saved program's inputs, for a program on whole numbers. They come from `line`, the
/// comment line of the saved program that says how it was compiled. The result is empty for a program on real or
/// complex numbers, whose inputs' sizes the command line gives.
///
/// # Errors
/// Returns [`CliError::Usage`] for an altered line.
pub fn kept_ranges<S: Compiles>(line: &str) -> Result<Vec<Option<S::Range>>, CliError> {
    match S::NUMBERS {
        Numbers::Whole => declared_ranges::<S>(line).map_err(|e| CliError::Usage(e.to_string())),
        // The command line gives the size of such inputs.
        Numbers::Complex => Ok(Vec::new()),
    }
}

/// Reads an input's values from a file in order, and adds zeros up to the number of slots. The file must have
/// `room.values` values. Fewer values are refused unless `fill` says what follows them.
///
/// # Errors
/// Fails if the file is refused, or if its values are not of the scheme's kind.
pub fn read<S: Compiles>(
    path: &Path,
    room: Room,
    fill: Option<Fill>,
) -> Result<S::Message, CliError> {
    let values = match S::NUMBERS {
        Numbers::Whole => Values::Whole(inputs::read_whole(path, room, fill)?),
        Numbers::Complex => Values::Complex(inputs::read(path, room, fill)?),
    };
    S::message(values).ok_or_else(|| CliError::Input {
        path: path.to_owned(),
        reason: format!("its values are none of {}", S::NAME),
    })
}

/// Returns random values of an input, uniform in its range. They are whole or real, even if the scheme computes on
/// complex numbers. Without a range their absolute values are at most `bound` (1 if it is absent), and those of real
/// values at most 1 in any case. They are the same for the same seed and number `input` of the input.
///
/// # Errors
/// Fails if the scheme does not compute on such values.
pub fn random<S: Compiles>(
    seed: u64,
    input: u64,
    room: Room,
    range: Option<&S::Range>,
    bound: Option<f64>,
) -> Result<S::Message, CliError> {
    let ends = range.map(S::ends);
    let values = match S::NUMBERS {
        Numbers::Whole => Values::Whole(random_whole(seed, input, room, ends, bound)),
        Numbers::Complex => Values::Complex(random_complex(seed, input, room, ends, bound)),
    };
    S::message(values)
        .ok_or_else(|| CliError::Internal(format!("random values are none of {}", S::NAME)))
}

fn random_complex(
    seed: u64,
    input: u64,
    room: Room,
    ends: Option<Ends>,
    bound: Option<f64>,
) -> Vec<Complex64> {
    let bound = bound.unwrap_or(1.0).min(1.0);
    let ends = match ends {
        Some(Ends::Real(low, high)) => (low, high),
        Some(Ends::Disc(radius)) => (-radius, radius),
        Some(Ends::Whole(low, high)) => (low as f64, high as f64),
        None => (-bound, bound),
    };
    inputs::random(seed, input, room, ends)
}

fn random_whole(
    seed: u64,
    input: u64,
    room: Room,
    ends: Option<Ends>,
    bound: Option<f64>,
) -> Vec<i64> {
    let (low, high) = match ends {
        Some(Ends::Whole(low, high)) => (low, high),
        Some(Ends::Real(low, high)) => (low.ceil() as i128, high.floor() as i128),
        Some(Ends::Disc(radius)) => (-(radius as i128), radius as i128),
        None => {
            let bound = i128::from(bound.unwrap_or(1.0) as u64);
            (-bound, bound)
        }
    };
    // The compiler refuses ranges that no message can hold.
    let low = low.clamp(i64::MIN.into(), i64::MAX.into());
    let count = (high.clamp(low, i64::MAX.into()) - low + 1).unsigned_abs();
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&input.to_le_bytes());
    let mut prng = Prng::from_seed_for_reproducible_tests_only(bytes);
    let one = |_| {
        // The high half of a product is as uniform as 64 bits allow.
        let offset = (u128::from(prng.next_u64()) * count) >> 64;
        (low + offset as i128) as i64
    };
    room.padded((0..room.values).map(one).collect())
}

/// Returns whether all values of an input are zero, so that they give no bound on its size.
pub fn is_zero(values: &Values) -> bool {
    match values {
        Values::Whole(values) => values.iter().all(|&x| x == 0),
        Values::Complex(values) => values.iter().all(|z| z.norm() == 0.0),
    }
}

/// Returns the bytes of a message's values, for the digest that identifies a run.
pub fn bytes(values: &Values) -> Vec<u8> {
    match values {
        Values::Whole(values) => values.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Values::Complex(values) => {
            let parts = values.iter().flat_map(|z| [z.re, z.im]);
            parts.flat_map(f64::to_le_bytes).collect()
        }
    }
}

/// Returns the first values of a decrypted output as JSON. If some imaginary part of them is above 10^-8 and above 10^-4
/// of their largest absolute value, they are pairs of real and imaginary part. Otherwise only the real parts are given.
pub fn shown(values: &Values, first: usize) -> Value {
    match values {
        Values::Whole(values) => json!(values.get(..first).unwrap_or(values)),
        Values::Complex(values) => {
            let values = values.get(..first).unwrap_or(values);
            let largest = values.iter().map(|z| z.norm()).fold(0.0, f64::max);
            let mut parts = values.iter().map(|z| z.im.abs());
            if parts.all(|im| im <= 1e-4 * largest.max(1e-4)) {
                values.iter().map(|z| z.re).collect()
            } else {
                values.iter().map(|z| json!([z.re, z.im])).collect()
            }
        }
    }
}

/// Returns the compiler's prediction for an output as JSON.
pub fn predicted(predicted: Predicted) -> Map<String, Value> {
    match predicted {
        Predicted::Precision {
            bits,
            like_sample,
            digits,
            conditional,
        } => {
            let like =
                like_sample.map(|bits| ("predicted_bits_like_sample".to_owned(), json!(bits)));
            let all = ("predicted_bits".to_owned(), json!(bits));
            let conditional = conditional.then(|| ("conditional".to_owned(), json!(true)));
            let digits = ("predicted_digits".to_owned(), json!(digits));
            [all, digits]
                .into_iter()
                .chain(like)
                .chain(conditional)
                .collect()
        }
        Predicted::Budget { bits, range } => Map::from_iter([
            ("predicted_budget".to_owned(), json!(bits)),
            ("range".to_owned(), json!(range)),
        ]),
    }
}
