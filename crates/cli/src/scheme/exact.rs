//! What the schemes of exact integers share in the command: whole numbers in and out, budgets, and equality to the last
//! digit.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use ringmill_compiler::Compiles;
use ringmill_compiler::exact::IntegerRange;
use ringmill_compiler::exact::reference::{evaluate, evaluate_modulo};
use ringmill_compiler::saved::declared_ranges;
use ringmill_devices::report::RunReport;
use ringmill_devices::runtime::{Client, RuntimeError};
use ringmill_math::Prng;
use ringmill_schemes::exact::ExactParams;
use ringmill_schemes::file::FileError;
use ringmill_schemes::rlwe::{SecurityLevel, SecurityTable};
use serde_json::{Map, Value, json};

use super::{Ciphers, Messages, Served};
use crate::args::{Fill, ProgramArgs};
use crate::error::CliError;
use crate::inputs;
use crate::inputs::Room;

/// What outputs are that differ.
const WRONG: &str = "not what the computation in the clear gives, or noisier than predicted";
/// Bits by which a measured budget, which is in whole bits, may be rounded down.
const ROUNDED: f64 = 2.0;
/// Bounds are doubles, which hold each whole number below this.
const BOUND: f64 = 9_007_199_254_740_992.0;

fn no_named_params(scheme: &str, name: &str) -> CliError {
    CliError::Usage(format!(
        "there is no set of {scheme} parameters named `{name}`, and no such file; name a parameter file, or let `auto` \
         choose"
    ))
}

/// Refuses wishes for precision.
fn no_precision(args: &ProgramArgs) -> Result<(), CliError> {
    let wishes = [
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

fn range(low: &str, high: &str) -> Option<IntegerRange> {
    IntegerRange::new(low.trim().parse().ok()?, high.trim().parse().ok()?)
}

fn bounded(bound: f64) -> Result<IntegerRange, CliError> {
    if bound.fract() != 0.0 || !(0.0..BOUND).contains(&bound) {
        return Err(CliError::Usage(format!(
            "--input-bound is a whole number below 2^53 for a program of whole numbers, not {bound}; --range takes larger ones"
        )));
    }
    Ok(IntegerRange::up_to(bound as u64))
}

/// Whole numbers have no natural size: each input must have a range.
fn unsaid(names: &[&str]) -> Result<(), CliError> {
    Err(CliError::Usage(format!(
        "nothing says where the whole numbers of {} lie; give --range {}=LOW:HIGH, --sample or --input-bound",
        names.join(", "),
        names.first().unwrap_or(&"NAME")
    )))
}

/// Those the program was compiled for: whole numbers have no others by nature.
fn kept_ranges<S: Served<Range = IntegerRange>>(
    line: &str,
) -> Result<Vec<Option<IntegerRange>>, CliError> {
    declared_ranges::<S>(line).map_err(|e| CliError::Usage(e.to_string()))
}

fn read(path: &Path, room: Room, fill: Option<Fill>) -> Result<Vec<i64>, CliError> {
    inputs::read_whole(path, room, fill)
}

fn random(
    seed: u64,
    input: u64,
    room: Room,
    range: Option<&IntegerRange>,
    bound: Option<f64>,
) -> Vec<i64> {
    let bound = IntegerRange::up_to(bound.unwrap_or(1.0) as u64);
    let range = range.unwrap_or(&bound);
    // Ranges that no message holds are refused when the program is compiled.
    let low = range.low().clamp(i64::MIN.into(), i64::MAX.into());
    let count = (range.high().clamp(low, i64::MAX.into()) - low + 1).unsigned_abs();
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&input.to_le_bytes());
    let mut prng = Prng::from_seed_for_reproducible_tests_only(bytes);
    let one = |_| {
        // The high half of a product: as uniform as 64 bits make it.
        let offset = (u128::from(prng.next_u64()) * count) >> 64;
        (low + offset as i128) as i64
    };
    room.padded((0..room.values).map(one).collect())
}

fn is_zero(message: &[i64]) -> bool {
    message.iter().all(|&x| x == 0)
}

fn bytes(message: &[i64]) -> Vec<u8> {
    message.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn predicted(budget: f64, range: IntegerRange) -> Map<String, Value> {
    Map::from_iter([
        ("predicted_budget".to_owned(), json!(budget)),
        ("range".to_owned(), json!(range.to_string())),
    ])
}

/// Outputs that differ from the computation in the clear anywhere, or have less budget than predicted. `budget` measures
/// that of an output.
fn judge<S: Served<Message = Vec<i64>, Params: ExactParams>>(
    client: &Client<S>,
    inputs: &BTreeMap<String, Vec<i64>>,
    clear: &BTreeMap<String, Vec<i64>>,
    report: &mut RunReport,
    budget: impl Fn(&str) -> Result<Option<u32>, RuntimeError<S::Error>>,
) -> Result<Vec<String>, CliError> {
    let source = &client.compiled().source;
    let mut vectors = Vec::with_capacity(source.inputs.len());
    for input in &source.inputs {
        let Some(values) = inputs.get(&input.name) else {
            return Err(CliError::Internal(format!(
                "input `{}` is lost",
                input.name
            )));
        };
        vectors.push(values.iter().map(|&x| x.into()).collect());
    }
    let compiled = client.compiled();
    let expected = match compiled.bootstrapping {
        None => evaluate(source, &vectors)?,
        Some(_) => evaluate_modulo(source, &vectors, compiled.params.plain_modulus().value())?,
    };
    let mut wrong = Vec::new();
    for (name, expected) in source.outputs.iter().zip(&expected) {
        let found = clear.get(name).into_iter().flatten();
        if !found.map(|&x| i128::from(x)).eq(expected.iter().copied()) {
            wrong.push(format!("{name} on {}", report.device));
        }
    }
    for row in &mut report.noise {
        row.measured_bits = budget(&row.output)?;
        let less = |bits| f64::from(bits) + ROUNDED < row.predicted_bits;
        if row.measured_bits.is_some_and(less) {
            wrong.push(format!("the budget of {} on {}", row.output, report.device));
        }
    }
    Ok(wrong)
}

/// Schemes of integers, each by its module.
macro_rules! served {
    ($($module:ident::$scheme:ident),*) => {$(
        impl Served for ringmill_schemes::$module::$scheme {
            const WRONG: &'static str = WRONG;

            fn write_ciphertext(cipher: &Self::Ciphertext) -> Vec<u8> {
                ringmill_schemes::$module::file::write_ciphertext(cipher)
            }

            fn read_ciphertext(bytes: &[u8], params: &Self::Params) -> Result<Self::Ciphertext, FileError> {
                ringmill_schemes::$module::file::read_ciphertext(bytes, params)
            }

            fn named_params(
                name: &str,
                _: SecurityTable,
                _: SecurityLevel,
            ) -> Result<Arc<Self::Params>, CliError> {
                Err(no_named_params(Self::NAME, name))
            }

            fn wanted(args: &ProgramArgs) -> Result<Self::Wanted, CliError> {
                no_precision(args)?;
                let mut wanted = Self::Wanted::default();
                (wanted.table, wanted.level) = args.security.wanted()?;
                Ok(wanted)
            }

            fn describe(params: &Self::Params) -> Map<String, Value> {
                let t = json!(params.plain_modulus().value());
                Map::from_iter([("plain_modulus".to_owned(), t)])
            }

            fn range(low: &str, high: &str) -> Option<IntegerRange> {
                range(low, high)
            }

            fn typed_range(low: i128, high: i128) -> Option<IntegerRange> {
                IntegerRange::new(low, high)
            }

            fn bounded(bound: f64) -> Result<IntegerRange, CliError> {
                bounded(bound)
            }

            fn unsaid(names: &[&str], _: bool) -> Result<(), CliError> {
                unsaid(names)
            }

            fn kept_ranges(line: &str) -> Result<Vec<Option<IntegerRange>>, CliError> {
                kept_ranges::<Self>(line)
            }

            fn read(path: &Path, room: Room, fill: Option<Fill>) -> Result<Vec<i64>, CliError> {
                read(path, room, fill)
            }

            fn random(
                seed: u64,
                input: u64,
                room: Room,
                range: Option<&IntegerRange>,
                bound: Option<f64>,
            ) -> Vec<i64> {
                random(seed, input, room, range, bound)
            }

            fn is_zero(message: &Vec<i64>) -> bool {
                is_zero(message)
            }

            fn bytes(message: &Vec<i64>) -> Vec<u8> {
                bytes(message)
            }

            fn shown(message: &Vec<i64>, first: usize) -> Value {
                json!(message.get(..first).unwrap_or(message))
            }

            fn predicted(prediction: &Self::Prediction) -> Map<String, Value> {
                predicted(prediction.budget, prediction.range)
            }

            fn judge(
                client: &Client<Self>,
                inputs: &Messages<Self>,
                (ciphers, clear): (&Ciphers<Self>, &Messages<Self>),
                report: &mut RunReport,
            ) -> Result<Vec<String>, CliError> {
                judge(client, inputs, clear, report, |name| {
                    let cipher = ciphers.get(name);
                    cipher.map(|c| client.noise_budget(c)).transpose()
                })
            }
        }
    )*};
}

served!(bfv::Bfv, bgv::Bgv);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_whole_numbers_reach_both_ends_and_no_further() {
        for (low, high) in [
            (0, 1),
            (-3, 4),
            (i128::from(i64::MIN), i128::from(i64::MAX)),
        ] {
            let range = IntegerRange::new(low, high).unwrap();
            let values = random(7, 0, Room::new(200, None), Some(&range), None);
            assert_eq!(
                values,
                random(7, 0, Room::new(200, None), Some(&range), Some(5.0))
            );
            assert_ne!(
                values,
                random(7, 1, Room::new(200, None), Some(&range), None)
            );
            assert!(values.iter().all(|&x| range.contains(x.into())));
            if high < 10 {
                assert!(values.iter().any(|&x| i128::from(x) == low));
                assert!(values.iter().any(|&x| i128::from(x) == high));
            }
        }
        assert!(
            random(7, 0, Room::new(50, None), None, None)
                .iter()
                .all(|x| x.abs() <= 1)
        );
    }

    #[test]
    fn ranges_and_bounds_are_whole() {
        assert_eq!(range(" -5", "7"), IntegerRange::new(-5, 7));
        for (low, high) in [("7", "-5"), ("0", "1.0"), ("", "1"), ("0", "inf")] {
            assert_eq!(range(low, high), None, "{low}:{high}");
        }
        assert_eq!(bounded(9.0).ok(), IntegerRange::new(-9, 9));
        for bound in [0.5, BOUND, f64::NAN, -1.0] {
            assert!(bounded(bound).is_err(), "{bound}");
        }
        assert!(unsaid(&["x", "y"]).is_err_and(|e| e.to_string().contains("--range x=LOW:HIGH")));
    }
}
