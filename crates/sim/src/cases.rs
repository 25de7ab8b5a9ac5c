// SPDX-License-Identifier: Apache-2.0
//! Makes variants of machines to compare: each field of a description takes several values, and every combination is a
//! case.

use ringmill_device::error::Kind;
use ringmill_device::{Device, DeviceError};
use ringmill_isa::Target;
use ringmill_machines::variant::{self, VariantError};
use ringmill_machines::{MachineError, Opened};
use thiserror::Error;

use crate::error::shorten;
use crate::open::{Devices, simulated};
use crate::sim;

/// The most cases that one comparison of machines may have.
const MOST: usize = 1000;

/// A field of machine descriptions, and the values that the comparison gives it in turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sweep {
    /// The machine whose description has the field, or `None` for every machine.
    pub machine: Option<String>,
    /// The dotted name of the field, as [`variant::with`] takes it.
    pub field: String,
    pub values: Vec<String>,
}

impl Sweep {
    /// Reads a sweep from `FIELD=VALUE,VALUE,...` or `MACHINE:FIELD=VALUE,VALUE,...`.
    ///
    /// # Errors
    /// [`CaseError::Form`] for a text of any other form.
    pub fn parse(text: &str) -> Result<Self, CaseError> {
        let form = || CaseError::Form { got: shorten(text) };
        let (name, values) = text.split_once('=').ok_or_else(form)?;
        Self::new(name, values.split(',')).ok_or_else(form)
    }

    /// Makes a sweep from a name, `FIELD` or `MACHINE:FIELD`, and the field's values. Returns `None` if a part of the
    /// name or a value is empty, or if there are no values.
    pub fn new<'a>(name: &str, values: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let (machine, field) = match name.rsplit_once(':') {
            Some((machine, field)) => (Some(machine.to_owned()), field),
            None => (None, name),
        };
        let values: Vec<String> = values.into_iter().map(|v| v.trim().to_owned()).collect();
        let empty = |text: &str| text.trim().is_empty();
        let lacks = empty(field)
            || machine.as_deref().is_some_and(empty)
            || values.is_empty()
            || values.iter().any(|value| empty(value));
        (!lacks).then(|| Self {
            machine,
            field: field.trim().to_owned(),
            values,
        })
    }
}

/// The error of a comparison that makes no cases. A sweep has the wrong form, machines are missing, or machines or
/// fields do not exist or occur twice. Or a value has the wrong type, a swept description is no TOML, or the cases are
/// too many.
#[derive(Debug, Error)]
pub enum CaseError {
    #[error("set {got:?}: expected FIELD=VALUE,VALUE,... or MACHINE:FIELD=VALUE,VALUE,...")]
    Form { got: String },
    #[error("no machine is named; name one or more")]
    NoMachine,
    #[error("machine `{machine}` is named twice; name it once")]
    MachineTwice { machine: String },
    #[error(
        "set {machine}:{field}: machine `{machine}` is not among those compared, {}; compare it, or leave this out",
        known.join(", ")
    )]
    UnknownMachine {
        machine: String,
        field: String,
        known: Vec<String>,
    },
    #[error(
        "set {field}: this field of machine `{machine}` is set twice; give all its values at once"
    )]
    FieldTwice { machine: String, field: String },
    #[error(
        "set {field}: machine `{machine}` has no such field; its fields are {}; to set this of other machines alone, name \
         each as MACHINE:{field}=...",
        known.join(", ")
    )]
    UnknownField {
        machine: String,
        field: String,
        known: Vec<String>,
    },
    #[error(
        "set {field}: {got:?} is no value of this field of machine `{machine}`; expected {expected}"
    )]
    Value {
        machine: String,
        field: String,
        got: String,
        expected: &'static str,
    },
    /// The text of a machine's description is no TOML, so it has no fields to change.
    #[error("machine `{machine}`: {source}")]
    Description {
        machine: String,
        source: VariantError,
    },
    #[error(
        "the machines and values make {} cases, and at most {MOST} are compared at once; give fewer values",
        got.map_or_else(|| "too many".to_owned(), |got| got.to_string())
    )]
    TooMany { got: Option<usize> },
    /// A machine does not exist, or its file cannot be read.
    #[error(transparent)]
    Machine(DeviceError),
}

impl From<CaseError> for DeviceError {
    fn from(error: CaseError) -> Self {
        match error {
            CaseError::Machine(error) => error,
            error => Self::own(Kind::Opening, error),
        }
    }
}

/// A case of a comparison: a machine whose description has new values in some fields.
pub struct Case {
    /// The machine's name or description file, as the caller gave it.
    pub machine: String,
    /// The changed fields of the description, with their values.
    pub set: Vec<(String, String)>,
    /// The machine that the changed description describes, or the error for which it could not be opened: mostly that
    /// the description's parser refuses it.
    pub opened: Result<Simulated, DeviceError>,
}

/// A simulated machine as a device, and the limits that it sets to a program's parameters.
pub struct Simulated {
    pub target: Target,
    pub device: Box<dyn Device>,
}

impl Case {
    /// Returns the machine and its changed fields as text, such as `ring rpaus=4`.
    pub fn label(&self) -> String {
        let set = self
            .set
            .iter()
            .map(|(field, value)| format!(" {field}={value}"));
        std::iter::once(self.machine.clone()).chain(set).collect()
    }
}

impl Devices {
    /// Returns the cases of some machines, given by names or description files. The cases of a machine are the product
    /// of its fields' values, in the order given. The last field's values vary fastest. A description that its parser
    /// refuses is a case, too, with that error.
    ///
    /// # Errors
    /// [`CaseError`] for no machine, for a machine that does not exist, and for a machine or a field that occurs twice.
    /// Also for a sweep of a machine that is not among `machines`, and for a field that a machine's description does
    /// not have. Also for a value of another type than the field's, for a sweep of a description that is no TOML, and
    /// for more than a thousand cases.
    pub fn cases(&self, machines: &[String], sweeps: &[Sweep]) -> Result<Vec<Case>, CaseError> {
        if machines.is_empty() {
            return Err(CaseError::NoMachine);
        }
        for sweep in sweeps {
            if let Some(machine) = sweep.machine.as_ref().filter(|&m| !machines.contains(m)) {
                return Err(CaseError::UnknownMachine {
                    machine: machine.clone(),
                    field: sweep.field.clone(),
                    known: machines.to_vec(),
                });
            }
        }
        let mut cases = Vec::new();
        for (at, machine) in machines.iter().enumerate() {
            if machines.iter().take(at).any(|before| before == machine) {
                return Err(CaseError::MachineTwice {
                    machine: machine.clone(),
                });
            }
            let text = sim::description(self.machines(), machine).map_err(CaseError::Machine)?;
            let own = sweeps
                .iter()
                .filter(|s| s.machine.as_ref().is_none_or(|m| m == machine));
            let own: Vec<&Sweep> = own.collect();
            check(machine, &text, &own)?;
            let combined = product(&own)?;
            let count = cases.len().checked_add(combined.len());
            if count.is_none_or(|count| count > MOST) {
                return Err(CaseError::TooMany { got: count });
            }
            for set in combined {
                cases.push(Case {
                    opened: self.variant(machine, &text, &set),
                    machine: machine.clone(),
                    set,
                });
            }
        }
        Ok(cases)
    }

    fn variant(
        &self,
        machine: &str,
        text: &str,
        set: &[(String, String)],
    ) -> Result<Simulated, DeviceError> {
        let values = set.iter().map(|(f, v)| (f.as_str(), v.as_str()));
        let made = match set {
            [] => text.to_owned(),
            _ => variant::with(text, values).map_err(|e| MachineError::Syntax(e.to_string()))?,
        };
        let opened = self.machines().opened(&made)?;
        let target = match &opened {
            Opened::Whole(machine) => machine.target(),
            Opened::Card(card) => ringmill_machines::Machine::target(card.as_ref()),
        };
        Ok(Simulated {
            target,
            device: simulated(format!("sim:{machine}"), opened)?,
        })
    }
}

/// Checks that each swept field occurs in one sweep only, that the machine's description has it, and that the sweep's
/// values have the field's type.
fn check(machine: &str, text: &str, sweeps: &[&Sweep]) -> Result<(), CaseError> {
    for (at, sweep) in sweeps.iter().enumerate() {
        if sweeps
            .iter()
            .take(at)
            .any(|before| before.field == sweep.field)
        {
            return Err(CaseError::FieldTwice {
                machine: machine.to_owned(),
                field: sweep.field.clone(),
            });
        }
        for value in &sweep.values {
            let made = variant::with(text, [(sweep.field.as_str(), value.as_str())]);
            made.map_err(|fault| unlike(machine, fault))?;
        }
    }
    Ok(())
}

/// Returns the error for a sweep of a field that the machine's description does not have, or has with another type.
fn unlike(machine: &str, fault: VariantError) -> CaseError {
    let machine = machine.to_owned();
    match fault {
        VariantError::Unknown { field, known } => CaseError::UnknownField {
            machine,
            field,
            known,
        },
        VariantError::Value {
            field,
            got,
            expected,
        } => CaseError::Value {
            machine,
            field,
            got,
            expected,
        },
        source @ VariantError::Syntax(_) => CaseError::Description { machine, source },
    }
}

/// Returns all combinations of the sweeps' values. Each combination has the name and the value of every swept field.
fn product(sweeps: &[&Sweep]) -> Result<Vec<Vec<(String, String)>>, CaseError> {
    let mut all: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for sweep in sweeps {
        let count = all.len().checked_mul(sweep.values.len());
        if count.is_none_or(|count| count > MOST) {
            return Err(CaseError::TooMany { got: count });
        }
        let longer = |set: &Vec<(String, String)>| {
            let with = |value: &String| {
                let mut set = set.clone();
                set.push((sweep.field.clone(), value.clone()));
                set
            };
            sweep.values.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    Ok(all)
}
