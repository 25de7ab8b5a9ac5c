// SPDX-License-Identifier: Apache-2.0
//! Reads the vectors of a program's inputs from .npy, .csv and .json files, and other files of bounded size. Also draws
//! random real inputs.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use num_complex::Complex64;
use ringmill_device::whole_file::{self, ReadError};
use ringmill_isa::macros::MacroProgram;
use ringmill_limits::Watch;
use ringmill_math::Prng;

use crate::args::Fill;
use crate::error::CliError;

/// The most bytes of text that one number of a file takes: digits, blanks around it, an exponent.
const NUMBER_TEXT: u64 = 256;
/// The most bytes of text in a file of numbers that belong to no number, such as a heading.
const BESIDE: u64 = 1 << 16;
/// The most bytes of a .npy file's header. The header of an array of numbers takes a few hundred.
const NPY_HEADER: u64 = 1 << 10;

/// Parses options of the form `NAME=FILE`. Each name may be given once.
///
/// # Errors
/// Returns [`CliError::Usage`] for an option of another form, and for a name that is given twice.
pub fn parse_options(
    flag: &str,
    options: &[String],
) -> Result<BTreeMap<String, PathBuf>, CliError> {
    let mut files = BTreeMap::new();
    for option in options {
        let (name, file) = option
            .split_once('=')
            .filter(|(name, file)| !name.is_empty() && !file.is_empty())
            .ok_or_else(|| {
                CliError::Usage(format!(
                    "{flag} takes NAME=FILE, as in {flag} x=data.csv, not `{option}`"
                ))
            })?;
        if files.insert(name.to_owned(), PathBuf::from(file)).is_some() {
            return Err(CliError::Usage(format!(
                "{flag} names input `{name}` twice"
            )));
        }
    }
    Ok(files)
}

/// Refuses the options `NAME=FILE` that are `left` once every input of the program has taken its own. Their names
/// belong to no input.
///
/// # Errors
/// Returns [`CliError::Usage`] with one of these names.
pub fn all_known(left: &BTreeMap<String, PathBuf>, program: &MacroProgram) -> Result<(), CliError> {
    let Some(name) = left.keys().next() else {
        return Ok(());
    };
    let known: Vec<&str> = program.inputs.iter().map(|i| i.name.as_str()).collect();
    Err(CliError::Usage(format!(
        "the program has no input `{name}`; its inputs are {}",
        known.join(", ")
    )))
}

/// The number of slots of an input, and the number of values that its file must have.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub slots: usize,
    /// The number of values that an input's file must have, from the first slot on. It is the number of slots, or the
    /// length of the array that the program declares. Zeros follow an array.
    pub values: usize,
}

impl Room {
    /// Makes the room for a program's slots, and for the length of the input's declared array if it has one.
    pub fn new(slots: u32, length: Option<u32>) -> Self {
        Self {
            slots: slots as usize,
            values: length.unwrap_or(slots) as usize,
        }
    }

    /// Returns as text how many values an input's file must have, and whether they fill the slots or the program's
    /// array.
    fn told(self) -> String {
        if self.values == self.slots {
            format!("the program's {} slots", self.slots)
        } else {
            format!("the program's array of {}", self.values)
        }
    }

    /// Returns the values, followed by zeros up to the number of slots.
    pub fn padded<T: Clone + Default>(self, mut values: Vec<T>) -> Vec<T> {
        values.resize(self.slots, T::default());
        values
    }
}

/// Reads the numbers of an input's file in order, and adds zeros up to the number of slots. Arrays of several
/// dimensions are read row after row. The file must have `room.values` numbers, all of them finite. Fewer numbers are
/// refused unless `fill` says what follows them.
///
/// # Errors
/// Fails if the file cannot be opened or parsed, or if its numbers are refused.
pub fn read(path: &Path, room: Room, fill: Option<Fill>) -> Result<Vec<Complex64>, CliError> {
    let slots = room.slots;
    let fault = |reason: String| CliError::Input {
        path: path.to_owned(),
        reason,
    };
    let read = match open(path)? {
        Content::Npy(file) => npy(file, slots),
        Content::Csv(file) => numbers(file, slots).and_then(|text| read_csv(&text, slots)),
        Content::Json(file) => numbers(file, slots).and_then(|text| read_json(&text)),
    };
    let mut values = read.map_err(fault)?;
    check_count(&values, room).map_err(fault)?;
    if let Some(slot) = values
        .iter()
        .position(|z| !z.re.is_finite() || !z.im.is_finite())
    {
        return Err(fault(format!(
            "value {slot} is NaN or infinite; only finite numbers can be encrypted"
        )));
    }
    fill_up(&mut values, room, fill).map_err(fault)?;
    Ok(room.padded(values))
}

/// Reads the whole numbers of an input's file as [`read`] does. No number goes through a floating-point number.
///
/// # Errors
/// Fails as [`read`] does, and for a number that is not whole or does not fit 64 bits with sign.
pub fn read_whole(path: &Path, room: Room, fill: Option<Fill>) -> Result<Vec<i64>, CliError> {
    let slots = room.slots;
    let fault = |reason: String| CliError::Input {
        path: path.to_owned(),
        reason,
    };
    let read = match open(path)? {
        Content::Npy(file) => bounded_bytes(file, most_bytes(NPY_HEADER, 16, slots))
            .and_then(|bytes| read_whole_npy(&bytes, slots)),
        Content::Csv(file) => numbers(file, slots).and_then(|text| {
            read_fields(&text, slots, "a whole number of 64 bits", |field| {
                field.parse().ok()
            })
        }),
        Content::Json(file) => numbers(file, slots).and_then(|text| {
            serde_json::from_str(&text)
                .map_err(|e| format!("expected a list of whole numbers of 64 bits: {e}"))
        }),
    };
    let mut values = read.map_err(fault)?;
    check_count(&values, room).map_err(fault)?;
    fill_up(&mut values, room, fill).map_err(fault)?;
    Ok(room.padded(values))
}

/// The open content of a file of numbers, in the format that the file's name tells.
enum Content {
    Npy(File),
    Csv(File),
    Json(File),
}

fn open(path: &Path) -> Result<Content, CliError> {
    let file = File::open(path).map_err(|source| CliError::File {
        path: path.to_owned(),
        source,
    })?;
    match path.extension().and_then(|e| e.to_str()) {
        Some("npy") => Ok(Content::Npy(file)),
        Some("csv") => Ok(Content::Csv(file)),
        Some("json") => Ok(Content::Json(file)),
        _ => Err(CliError::Input {
            path: path.to_owned(),
            reason: "expected a file named .npy, .csv or .json".to_owned(),
        }),
    }
}

fn check_count<T>(values: &[T], room: Room) -> Result<(), String> {
    if values.len() > room.values {
        let (got, told) = (values.len(), room.told());
        return Err(format!("{got} values do not fit {told}"));
    }
    Ok(())
}

fn fill_up<T: Copy + Default>(
    values: &mut Vec<T>,
    room: Room,
    fill: Option<Fill>,
) -> Result<(), String> {
    let count = values.len();
    let wanted = room.values;
    match fill {
        _ if count == wanted => {}
        Some(Fill::Zeros) => values.resize(wanted, T::default()),
        Some(Fill::Repeat) if count > 0 && wanted.is_multiple_of(count) => {
            *values = values.repeat(wanted.checked_div(count).unwrap_or(0));
        }
        Some(Fill::Repeat) => {
            return Err(format!(
                "--fill repeat needs a number of values that divides {wanted}, and the file has {count}"
            ));
        }
        None => {
            let told = room.told();
            return Err(format!(
                "{count} values are fewer than {told}; give as many, or --fill zeros or --fill repeat"
            ));
        }
    }
    Ok(())
}

/// Reads a whole file. Twice its size must be within the memory limit, since it is also parsed. An error over the limit
/// says by `what` what the memory is for.
///
/// # Errors
/// Fails if the file cannot be read, if it exceeds the memory limit, or if the work is stopped.
pub fn read_within(path: &Path, what: &str, watch: &Watch) -> Result<Vec<u8>, CliError> {
    whole_file::read(path, what, watch).map_err(|error| match error {
        ReadError::Halt(halt) => CliError::Halt(halt),
        ReadError::Io(source) => CliError::File {
            path: path.to_owned(),
            source,
        },
    })
}

/// Reads a text file of at most `limit` bytes.
///
/// # Errors
/// Fails if the file cannot be read, is longer than `limit`, or is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> Result<String, CliError> {
    let file = File::open(path).map_err(|source| CliError::File {
        path: path.to_owned(),
        source,
    })?;
    bounded(file, limit).map_err(|reason| CliError::Input {
        path: path.to_owned(),
        reason,
    })
}

/// Reads a file of at most `limit` bytes.
///
/// # Errors
/// Fails if the file cannot be read or is longer than `limit`.
pub fn read_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, CliError> {
    let file = File::open(path).map_err(|source| CliError::File {
        path: path.to_owned(),
        source,
    })?;
    bounded_bytes(file, limit).map_err(|reason| CliError::Input {
        path: path.to_owned(),
        reason,
    })
}

fn bounded(file: File, limit: u64) -> Result<String, String> {
    String::from_utf8(bounded_bytes(file, limit)?).map_err(|e| format!("the file is no text: {e}"))
}

fn bounded_bytes(file: File, limit: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    // Grows fallibly, and no further than the limit.
    let read = file
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|e| e.to_string())? as u64;
    if read > limit {
        Err(format!("the file is longer than {limit} bytes"))
    } else {
        Ok(bytes)
    }
}

/// Returns the most bytes of a file with `slots` numbers of `each` bytes, and `beside` bytes of other text.
fn most_bytes(beside: u64, each: u64, slots: usize) -> u64 {
    each.saturating_mul(slots as u64).saturating_add(beside)
}

/// Reads the text of a file of at most `slots` numbers. A longer file is an error.
fn numbers(file: File, slots: usize) -> Result<String, String> {
    bounded(file, most_bytes(BESIDE, NUMBER_TEXT, slots))
}

/// Reads the array of a .npy file of at most `slots` numbers of 16 bytes.
fn npy(file: File, slots: usize) -> Result<Vec<Complex64>, String> {
    read_npy(
        &bounded_bytes(file, most_bytes(NPY_HEADER, 16, slots))?,
        slots,
    )
}

/// Refuses a .npy header that is longer than that of any file of numbers, before a reader allocates the claimed length.
fn check_npy_header(bytes: &[u8]) -> Result<(), String> {
    let length = match bytes {
        [0x93, b'N', b'U', b'M', b'P', b'Y', 1, _, a, b, ..] => {
            u64::from(u16::from_le_bytes([*a, *b]))
        }
        [0x93, b'N', b'U', b'M', b'P', b'Y', 2 | 3, _, a, b, c, d, ..] => {
            u64::from(u32::from_le_bytes([*a, *b, *c, *d]))
        }
        _ => return Err("expected a .npy file of format version 1, 2 or 3".to_owned()),
    };
    if length > NPY_HEADER {
        return Err(format!(
            "its header claims {length} bytes; that of an array of numbers has at most {NPY_HEADER}"
        ));
    }
    Ok(())
}

/// Opens the array of a .npy file, at most `slots` numbers, row after row. Returns it with its type of numbers.
fn open_npy(bytes: &[u8], slots: usize) -> Result<(npyz::NpyFile<&[u8]>, npyz::TypeStr), String> {
    check_npy_header(bytes)?;
    let array = npyz::NpyFile::new(bytes).map_err(|e| e.to_string())?;
    let count = array
        .shape()
        .iter()
        .try_fold(1u64, |product, &n| product.checked_mul(n));
    if count.is_none_or(|count| count > slots as u64) {
        return Err(format!(
            "an array of shape {:?} does not fit the program's {slots} slots",
            array.shape()
        ));
    }
    if array.order() == npyz::Order::Fortran && array.shape().len() > 1 {
        return Err("the array is in Fortran order; save numpy.ascontiguousarray of it".to_owned());
    }
    let npyz::DType::Plain(kind) = array.dtype() else {
        return Err("expected an array of numbers, not of records".to_owned());
    };
    Ok((array, kind))
}

fn read_whole_npy(bytes: &[u8], slots: usize) -> Result<Vec<i64>, String> {
    let (array, kind) = open_npy(bytes, slots)?;
    fn whole<T>(array: npyz::NpyFile<&[u8]>) -> Result<Vec<i64>, String>
    where
        T: npyz::Deserialize + Copy + TryInto<i64> + std::fmt::Display,
    {
        let values = array.into_vec::<T>().map_err(|e| e.to_string())?;
        let one = |(slot, &x): (usize, &T)| {
            let beyond = |_| format!("value {slot} is {x}, beyond {}", i64::MAX);
            x.try_into().map_err(beyond)
        };
        values.iter().enumerate().map(one).collect()
    }
    match (kind.type_char(), kind.size_field()) {
        (npyz::TypeChar::Int, 8) => whole::<i64>(array),
        (npyz::TypeChar::Int, 4) => whole::<i32>(array),
        (npyz::TypeChar::Int, 2) => whole::<i16>(array),
        (npyz::TypeChar::Int, 1) => whole::<i8>(array),
        (npyz::TypeChar::Uint, 8) => whole::<u64>(array),
        (npyz::TypeChar::Uint, 4) => whole::<u32>(array),
        (npyz::TypeChar::Uint, 2) => whole::<u16>(array),
        (npyz::TypeChar::Uint, 1) => whole::<u8>(array),
        _ => Err(format!(
            "expected an array of whole numbers, int8 to int64 or uint8 to uint64, and got {kind}; round it yourself"
        )),
    }
}

fn read_npy(bytes: &[u8], slots: usize) -> Result<Vec<Complex64>, String> {
    let (array, kind) = open_npy(bytes, slots)?;
    fn real<T: npyz::Deserialize + Copy>(
        array: npyz::NpyFile<impl Read>,
        widen: impl Fn(T) -> f64,
    ) -> Result<Vec<Complex64>, String> {
        let values = array.into_vec::<T>().map_err(|e| e.to_string())?;
        Ok(values.into_iter().map(|x| widen(x).into()).collect())
    }
    match (kind.type_char(), kind.size_field()) {
        (npyz::TypeChar::Float, 8) => real::<f64>(array, |x| x),
        (npyz::TypeChar::Float, 4) => real::<f32>(array, f64::from),
        (npyz::TypeChar::Int, 8) => real::<i64>(array, |x| x as f64),
        (npyz::TypeChar::Int, 4) => real::<i32>(array, f64::from),
        (npyz::TypeChar::Complex, 16) => array.into_vec::<Complex64>().map_err(|e| e.to_string()),
        _ => Err(format!(
            "expected an array of float64, float32, int64, int32 or complex128, and got {kind}"
        )),
    }
}

fn read_csv(text: &str, slots: usize) -> Result<Vec<Complex64>, String> {
    read_fields(text, slots, "a number", |field| {
        field.parse::<f64>().ok().map(Complex64::from)
    })
}

/// Reads the fields of a .csv file, each by the function `parse`. `what` says in errors what a field should be.
fn read_fields<T>(
    text: &str,
    slots: usize,
    what: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut values = Vec::new();
    for (row, record) in reader.records().enumerate() {
        for (column, field) in record.map_err(|e| e.to_string())?.iter().enumerate() {
            let value = parse(field).ok_or_else(|| {
                format!(
                    "row {}, column {}: `{field}` is not {what}",
                    row.saturating_add(1),
                    column.saturating_add(1)
                )
            })?;
            values.push(value);
            if values.len() > slots {
                return Err(format!("more values than the program's {slots} slots"));
            }
        }
    }
    Ok(values)
}

fn read_json(text: &str) -> Result<Vec<Complex64>, String> {
    let values: Vec<f64> =
        serde_json::from_str(text).map_err(|e| format!("expected a list of numbers: {e}"))?;
    Ok(values.into_iter().map(Complex64::from).collect())
}

/// Returns `room.values` random real numbers, uniform in an interval, and then zeros up to the number of slots. They
/// are the same for the same seed and number `input` of the input. They serve to test programs, never as keys.
pub fn random(seed: u64, input: u64, room: Room, (low, high): (f64, f64)) -> Vec<Complex64> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&input.to_le_bytes());
    let mut prng = Prng::from_seed_for_reproducible_tests_only(bytes);
    let one = |_| {
        let x = prng.next_u64() as i64 as f64 / -(i64::MIN as f64);
        let x = if (low, high) == (-1.0, 1.0) {
            x
        } else {
            low + (high - low) * (x + 1.0) / 2.0
        };
        x.clamp(low, high).into()
    };
    room.padded((0..room.values).map(one).collect())
}
