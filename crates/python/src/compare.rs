// SPDX-License-Identifier: Apache-2.0
//! Compares a compiled program on several simulated machines, and on the CPU if there are inputs, for Python.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::prelude::*;
use ringmill_compiler::Compiled;
use ringmill_device::error::Kind;
use ringmill_device::progress::Progress;
use ringmill_device::{Device, DeviceError as Refused};
use ringmill_limits::{Halt, Watch};
use ringmill_runtime::html::table_of;
use ringmill_runtime::report::RunReport;
use ringmill_runtime::report::compared::{Comparison, Row, Which, basis};
use ringmill_runtime::shown::{Asked, Simulated, TracedError, repeated, run_on, simulate_on};
use ringmill_runtime::{Ciphers, EvaluationKeys, Messages, Served, Server};
use ringmill_sim::{CaseError, Devices, Sweep};

use crate::data::Ciphertext;
use crate::errors::{DeviceError, raise};
use crate::keys::Given;
use crate::scheme::failed;

/// A comparison of machines, for Python: its rows as JSON texts, and the whole table as text and as HTML.
pub type Table = (Vec<String>, String, String);

/// The options of a comparison of one program on several machines.
pub struct Wanted {
    pub machines: Vec<String>,
    /// Fields of machine descriptions by their dotted names, each with the values that it takes in turn in the
    /// comparison.
    pub set: Vec<(String, Vec<String>)>,
    pub spill: bool,
    pub send_keys: bool,
    pub threads: Option<usize>,
    pub inputs: Option<Inputs>,
}

/// The inputs and evaluation keys with which the CPU runs the program in a comparison.
pub struct Inputs {
    pub ciphertexts: HashMap<String, Ciphertext>,
    pub plains: Given,
    pub keys: Arc<EvaluationKeys>,
}

/// A server with the inputs of a run, for the CPU's row of a comparison.
pub struct Bound<S: Served> {
    pub server: Arc<Server<S>>,
    pub ciphers: Ciphers<S>,
    pub plains: Messages<S>,
}

/// Returns the table of a comparison. It has a row for the CPU if there are inputs, and a row for each machine with
/// each combination of field values.
///
/// # Errors
/// Raises `DeviceError` for an unknown machine or field, and if every machine refuses the program. Raises a Python
/// exception if the user stops the work, or if a machine's RTL differs from its model. Raises a Python exception if the
/// run on the CPU fails.
pub fn compared<S: Served>(
    compiled: &Compiled<S>,
    wanted: &Wanted,
    bound: Option<&Bound<S>>,
    progress: &dyn Progress,
    watch: &Watch,
) -> PyResult<Table> {
    let form = |name: &String| CaseError::Form { got: name.clone() };
    let sweep = |(name, values): &(String, Vec<String>)| {
        Sweep::new(name, values.iter().map(String::as_str)).ok_or_else(|| form(name))
    };
    let sweeps = wanted.set.iter().map(sweep).collect::<Result<Vec<_>, _>>();
    let cases = sweeps.and_then(|sweeps| Devices::standard().cases(&wanted.machines, &sweeps));
    let cases = cases.map_err(|e| raise::<DeviceError, _>(Refused::from(e)))?;
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    if let Some(bound) = bound {
        let name = wanted
            .threads
            .map_or_else(|| "cpu".to_owned(), |n| format!("cpu:{n}"));
        let device = ringmill_sim::open(&name).map_err(raise::<DeviceError, _>)?;
        let Bound {
            server,
            ciphers,
            plains,
        } = bound;
        let done = repeated(&*device, server, ciphers, plains, progress, watch);
        let done = done.map_err(failed::<S>)?;
        let (row, note) = Row::of_cpu(&done.report, done.runs);
        rows.push(row);
        notes.push(note);
    }
    for case in &cases {
        let which = Which {
            case: case.label(),
            machine: case.machine.clone(),
            set: case.set.iter().cloned().collect(),
        };
        let report = match &case.opened {
            Ok(machine) => one(&*machine.device, compiled, wanted, bound, progress, watch),
            Err(refused) => Err(Fault::Refused(refused.to_string())),
        };
        rows.push(match report {
            Ok(report) => Row::of(which, &report),
            Err(Fault::Refused(why)) => Row::refused(which, why),
            Err(Fault::Raised(error)) => return Err(error),
        });
    }
    if let Some(why) = rows.iter().find_map(|row| row.refused.clone())
        && rows.iter().filter(|row| row.refused.is_some()).count() == cases.len()
    {
        return Err(DeviceError::new_err(why));
    }
    notes.push(
        "all machines run the program as it was compiled; compile(target=NAME) chooses primes for one machine"
            .to_owned(),
    );
    notes.extend(basis(&rows));
    let comparison = Comparison::new(&compiled.source.name, rows, notes);
    let json = comparison.rows().iter().map(serde_json::to_string);
    let json = json
        .collect::<Result<_, _>>()
        .map_err(raise::<DeviceError, _>)?;
    Ok((json, comparison.to_string(), table_of(&comparison)))
}

/// The reason why a machine's row of a comparison has no figures.
enum Fault {
    /// The machine cannot run the program. The text is the reason.
    Refused(String),
    /// A Python exception that ends the whole comparison.
    Raised(PyErr),
}

impl Fault {
    fn of<S: Served>(error: TracedError<S::Error>) -> Self {
        let differs = matches!(
            &error,
            TracedError::Run(ringmill_runtime::RuntimeError::Device(Refused::Own(own)))
                if own.kind() == Kind::Differs
        );
        match error {
            TracedError::Run(error) if differs || Halt::of(&error).is_some() => {
                Self::Raised(failed::<S>(error))
            }
            error => Self::Refused(error.to_string()),
        }
    }
}

fn one<S: Served>(
    device: &dyn Device,
    compiled: &Compiled<S>,
    wanted: &Wanted,
    bound: Option<&Bound<S>>,
    progress: &dyn Progress,
    watch: &Watch,
) -> Result<RunReport, Fault> {
    let asked = Simulated {
        spill: wanted.spill,
        resident_keys: !wanted.send_keys,
        trace: None,
        timeline: false,
    };
    let timed = simulate_on(device, compiled, &asked, progress, watch);
    let timed = timed.map_err(Fault::of::<S>)?;
    let Some(bound) = bound.filter(|_| timed.leaves_a_part()) else {
        return Ok(timed);
    };
    // A part that a machine leaves to the host is measured on data, so such a case needs the inputs.
    let asked = Asked {
        spill: wanted.spill,
        trace: None,
        saving: None,
        resume: None,
        expanded_bytes: None,
        timeline: false,
    };
    let Bound {
        server,
        ciphers,
        plains,
    } = bound;
    let done = run_on(device, server, ciphers, plains, asked, progress, watch);
    Ok(done.map_err(Fault::of::<S>)?.report)
}
