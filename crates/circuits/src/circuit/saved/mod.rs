// SPDX-License-Identifier: Apache-2.0
//! Saves compiled circuits as text, and reads them. A file holds the parameters, the failure rate, and the program or
//! netlist that was compiled. A reader lowers the program or netlist again, which gives the same circuit.
//!
//! The text is one JSON object (docs/files.md). Every byte of it is hostile until it has been checked: each operand must
//! be the result of an earlier operation, types must fit, and nothing is allocated by a number that the text names.
#![deny(clippy::arithmetic_side_effects)]

mod declared;
mod operation;

use std::collections::HashSet;
use std::sync::Arc;

use ringmill_limits::Watch;
use ringmill_schemes::file::{FileError, InsecureParams};
use serde::{Deserialize, Serialize};

pub use declared::{Declared, DeclaredType, Returned};
use operation::Operation;

use super::choose::Source;
use super::error::CircuitError;
use super::netlist::Netlist;
use super::netlist::saved::NetlistText;
use super::program::{Program, ProgramBuilder, Value};
use crate::tfhe::{Params, file};

/// The value of the text's first field, which tells saved circuits from other JSON.
const MARK: &str = "circuit";
/// The version of the format that is written and read.
const FORM: u32 = 1;
/// The largest number of operations of a program, and of signals of a netlist, that a file may hold.
pub const MOST_OPERATIONS: usize = 1 << 20;

/// A compiled circuit as a file holds it. The compilation of `source` for `params` and `failure` gives the circuit
/// ([`Source::compile`]).
#[derive(Clone, Debug)]
pub struct SavedCircuit {
    pub name: String,
    pub params: Arc<Params>,
    /// log2 of the largest probability with which one bootstrap may fail.
    pub failure: f64,
    pub source: SavedSource,
}

/// The program or netlist of a saved circuit.
#[derive(Clone, Debug)]
pub enum SavedSource {
    Program(SavedProgram),
    Netlist(Arc<Netlist>),
}

impl SavedCircuit {
    /// Returns what [`Source::compile`] takes.
    pub fn source(&self) -> Source<'_> {
        match &self.source {
            SavedSource::Program(saved) => Source::Program(&saved.program),
            SavedSource::Netlist(netlist) => Source::Netlist(netlist),
        }
    }
}

/// A program, with the arguments that its inputs belong to and the results that its outputs belong to.
#[derive(Clone, Debug)]
pub struct SavedProgram {
    program: Arc<Program>,
    arguments: Vec<Declared>,
    results: Vec<Declared>,
    returned: Returned,
}

impl SavedProgram {
    /// Pairs a program with its arguments and results.
    ///
    /// # Errors
    /// [`FileError::Refused`] if the inputs and outputs of the program have other names, types or numbers. Also if a
    /// name is there twice, if there is no result, or if several results are returned as one.
    pub fn new(
        program: Arc<Program>,
        arguments: Vec<Declared>,
        results: Vec<Declared>,
        returned: Returned,
    ) -> Result<Self, FileError> {
        distinct("argument", arguments.iter().map(|of| of.name.as_str()))?;
        distinct("result", results.iter().map(|of| of.name.as_str()))?;
        let inputs = program.inputs().map(|(name, of)| (name.to_owned(), of));
        if !inputs.eq(arguments.iter().flat_map(Declared::ports)) {
            let what = "the inputs of the program are not the integers of its arguments";
            return Err(FileError::Refused(what.to_owned()));
        }
        let outputs = program.outputs().iter();
        let outputs = outputs.map(|(name, value)| (name.as_str(), program.kind(*value)));
        if !outputs.eq(results.iter().flat_map(Declared::elements)) {
            let what = "the outputs of the program are not the integers of its results";
            return Err(FileError::Refused(what.to_owned()));
        }
        match (returned, results.len()) {
            (_, 0) => Err(FileError::Refused("there is no result".to_owned())),
            (Returned::One, 2..) => {
                let what = format!("{} results are returned as one", results.len());
                Err(FileError::Refused(what))
            }
            _ => Ok(Self {
                program,
                arguments,
                results,
                returned,
            }),
        }
    }

    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    pub fn arguments(&self) -> &[Declared] {
        &self.arguments
    }

    pub fn results(&self) -> &[Declared] {
        &self.results
    }

    pub fn returned(&self) -> Returned {
        self.returned
    }
}

/// Refuses a name that is there twice.
pub(super) fn distinct<'a>(
    what: &str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), FileError> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            let what = format!("{what} `{name}` is there twice");
            return Err(FileError::Refused(what));
        }
    }
    Ok(())
}

/// The first fields of the text, which every version of the format has.
#[derive(Deserialize)]
struct Head {
    ringmill: String,
    form: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    ringmill: String,
    form: u32,
    name: String,
    /// A parameter file in hexadecimal.
    params: String,
    failure: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program: Option<ProgramText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    netlist: Option<NetlistText>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramText {
    arguments: Vec<Declared>,
    results: Vec<ResultText>,
    returned: Returned,
    operations: Vec<Operation>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultText {
    name: String,
    #[serde(rename = "type")]
    of: DeclaredType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    length: Option<u32>,
    /// For each integer of the result, the number of the operation that gives it.
    values: Vec<u32>,
}

/// Writes a compiled circuit.
///
/// # Errors
/// [`FileError::Field`] for more than [`MOST_OPERATIONS`] operations or signals.
pub fn write(saved: &SavedCircuit) -> Result<Vec<u8>, FileError> {
    let (program, netlist) = match &saved.source {
        SavedSource::Program(of) => (Some(program_text(of)), None),
        SavedSource::Netlist(of) => (None, Some(NetlistText::of(of))),
    };
    let operations = program.as_ref().map_or(0, |of| of.operations.len());
    let signals = netlist.as_ref().map_or(0, NetlistText::signals);
    admit(operations.max(signals))?;
    let params = file::write_params(&saved.params);
    let text = Text {
        ringmill: MARK.to_owned(),
        form: FORM,
        name: saved.name.clone(),
        params: params.iter().map(|byte| format!("{byte:02x}")).collect(),
        failure: saved.failure.to_string(),
        program,
        netlist,
    };
    // Strings, numbers and lists of them: writing them cannot fail.
    let mut bytes = serde_json::to_vec(&text).unwrap_or_default();
    bytes.push(b'\n');
    Ok(bytes)
}

fn admit(operations: usize) -> Result<(), FileError> {
    if operations <= MOST_OPERATIONS {
        return Ok(());
    }
    Err(FileError::Field {
        what: "the number of operations of a saved circuit",
        expected: format!("at most {MOST_OPERATIONS}"),
        got: operations.to_string(),
    })
}

fn program_text(saved: &SavedProgram) -> ProgramText {
    let mut outputs = saved.program.outputs().iter();
    let results = saved.results.iter().map(|of| ResultText {
        name: of.name.clone(),
        of: of.of,
        length: of.length,
        values: (outputs.by_ref().take(of.count()))
            .map(|(_, value)| value.0)
            .collect(),
    });
    let instrs = saved.program.instrs().iter();
    ProgramText {
        arguments: saved.arguments.clone(),
        results: results.collect(),
        returned: saved.returned,
        operations: instrs.map(Operation::of).collect(),
    }
}

/// Reads a compiled circuit from text that [`write()`] wrote. Its parameters must have 128 bits of security and failures
/// below 2^-40, unless `insecure` allows parameters for tests. [`Source::compile`] checks whether the circuit can be
/// lowered for them.
///
/// # Errors
/// [`FileError::Refused`] and [`FileError::Field`] for other text: unknown or missing fields, an operation or an operand
/// that does not exist, types that do not fit, too many operations. The errors of [`file::read_params`].
/// [`FileError::Halt`].
pub fn read(
    bytes: &[u8],
    insecure: InsecureParams,
    watch: &Watch,
) -> Result<SavedCircuit, FileError> {
    let head: Head = serde_json::from_slice(bytes).map_err(no_circuit)?;
    if head.ringmill != MARK {
        let got = head.ringmill;
        return Err(FileError::Refused(format!(
            "it is `{got}`, expected `{MARK}`"
        )));
    }
    if head.form != FORM {
        return Err(FileError::Refused(format!(
            "the circuit was saved in form {}, expected {FORM}; load it with the version that saved it",
            head.form
        )));
    }
    watch.check()?;
    let text: Text = serde_json::from_slice(bytes).map_err(no_circuit)?;
    watch.check()?;
    let params = hexadecimal(&text.params)
        .ok_or_else(|| FileError::Refused("the parameters are not hexadecimal".to_owned()))?;
    let failure: Option<f64> = text.failure.parse().ok();
    let failure = failure.filter(|failure| failure.is_finite());
    let source = match (text.program, text.netlist) {
        (Some(program), None) => SavedSource::Program(program_of(program, watch)?),
        (None, Some(netlist)) => {
            admit(netlist.signals())?;
            SavedSource::Netlist(Arc::new(netlist.netlist(watch)?))
        }
        (Some(_), Some(_)) | (None, None) => {
            let what = "a circuit has either a program or a netlist";
            return Err(FileError::Refused(what.to_owned()));
        }
    };
    Ok(SavedCircuit {
        name: text.name,
        params: file::read_params(&params, insecure)?,
        failure: failure.ok_or_else(|| {
            let got = text.failure;
            FileError::Refused(format!("failure is `{got}`, expected a finite number"))
        })?,
        source,
    })
}

fn no_circuit(error: serde_json::Error) -> FileError {
    FileError::Refused(format!(
        "it is no saved circuit, as CompiledCircuit.save writes them: {error}"
    ))
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |&[high, low]: &[u8; 2]| u8::try_from(digit(high)? << 4 | digit(low)?).ok();
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

fn program_of(text: ProgramText, watch: &Watch) -> Result<SavedProgram, FileError> {
    admit(text.operations.len())?;
    let mut names = text.arguments.iter().flat_map(Declared::ports);
    let mut builder = ProgramBuilder::new();
    for (number, operation) in text.operations.into_iter().enumerate() {
        watch.check()?;
        let added = operation.add(number, &mut builder, &mut names);
        added.map_err(|error| at(&format!("operation {number}"), error))?;
    }
    let mut results = Vec::with_capacity(text.results.len());
    for result in text.results {
        for &value in &result.values {
            let added = builder.output(&result.name, Value(value));
            added.map_err(|error| at(&format!("result `{}`", result.name), error))?;
        }
        results.push(Declared {
            name: result.name,
            of: result.of,
            length: result.length,
        });
    }
    drop(names);
    let program = Arc::new(builder.finish());
    SavedProgram::new(program, text.arguments, results, text.returned)
}

/// Returns the error of a file whose circuit is refused, with the place of the fault in front of its text.
pub(super) fn at(place: &str, error: CircuitError) -> FileError {
    match error {
        CircuitError::Halt(halt) => FileError::Halt(halt),
        error => FileError::Refused(format!("{place}: {error}")),
    }
}
