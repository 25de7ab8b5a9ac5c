// SPDX-License-Identifier: Apache-2.0
//! The registry of RTL: one row for each kind of machine that has RTL.

use crate::{Hdl, Top};
use ringmill_machines::basext::{self, BasextMachine};
use ringmill_machines::coprocessor::{Coprocessor, Engine};
use ringmill_machines::polymul::{self, PolymulMachine};
use ringmill_machines::ring::{self, RingMachine};
use ringmill_machines::torus::{self, TorusMachine};
use ringmill_machines::vector::{self, VectorMachine};
use ringmill_machines::{Machine, MachineError, Opened, Registry};

use super::basext::Basext;
use super::polymul::Polymul;
use super::ring::RingRtl;
use super::torus::TorusRtl;
use super::vector::VectorRtl;
use super::{Rtl, Whole};
use ringmill_device::Device;
use ringmill_device::DeviceError;

/// The RTL of one kind of machine.
#[derive(Clone, Copy, Debug)]
pub struct Design {
    /// The kind's name in the field `kind` of descriptions.
    pub kind: &'static str,
    pub runs: Runs,
    /// The folder of `rtl/` with the kind's RTL, if the RTL's parameters follow from a description alone. It is `None`
    /// for a kind whose parameters also depend on a program's moduli: that kind runs as a device, and `ringmill rtl`
    /// does not know it.
    pub folder: Option<Folder>,
}

/// How the RTL of a kind of machine runs programs: as a device for whole programs, or as a
/// co-processor for jobs of a program. Each case has the functions that open the RTL.
#[derive(Clone, Copy, Debug)]
pub enum Runs {
    /// The RTL runs the whole program, as a device.
    Whole {
        /// Checks that the RTL can build this machine. The error names the field of its description that prevents it.
        built: fn(&dyn Machine) -> Result<(), MachineError>,
        open: OpenDevice,
    },
    /// The RTL is a co-processor of a card, and runs jobs of a program in turn with the card's
    /// other parts.
    Turns(OpenEngine),
}

/// A function that opens the RTL of a machine as a device. The text is the device's name.
pub type OpenDevice = fn(String, &dyn Machine) -> Result<Box<dyn Device>, DeviceError>;

/// A function that opens the RTL of a co-processor in simulation, as an engine of an offload
/// device.
pub type OpenEngine = fn(&Hdl, &dyn Coprocessor) -> Result<Box<dyn Engine>, DeviceError>;

/// A folder of `rtl/` whose top module and parameters follow from a machine's description. `describe` returns them for
/// the text of a description.
#[derive(Clone, Copy, Debug)]
pub struct Folder {
    pub name: &'static str,
    pub describe: fn(&str) -> Result<Described, MachineError>,
}

/// The RTL module, with its parameters, that a machine's description determines.
pub struct Described {
    /// The field `name` of the machine's description.
    pub name: String,
    pub top: Top,
    /// The machine's description if it is a polynomial multiplier, which has tables to load and a
    /// lockstep test. It is `None` for other kinds.
    pub multiplier: Option<polymul::Description>,
}

/// The registry of RTL, by kind of machine.
#[derive(Clone, Debug)]
pub struct Designs {
    rows: Vec<Design>,
}

impl Designs {
    /// Returns the registry of all RTL of Ringmill.
    pub fn standard() -> Self {
        let rows = vec![
            Design {
                kind: ring::KIND,
                runs: Runs::Whole {
                    built: |m| ring::built::check(whole::<RingMachine>(m)?.description()),
                    open: |name, m| device(name, RingRtl::new(whole::<RingMachine>(m)?.clone())?),
                },
                folder: None,
            },
            Design {
                kind: polymul::KIND,
                runs: Runs::Turns(|hdl, unit| {
                    let shape = turns::<PolymulMachine>(unit)?.shape();
                    Ok(Box::new(Polymul::new(hdl, shape)?))
                }),
                folder: Some(Folder {
                    name: "polymul",
                    describe: |text| {
                        let description = polymul::Description::parse(text)?;
                        Ok(Described {
                            name: description.name.clone(),
                            top: crate::polymul::top(description.shape()?),
                            multiplier: Some(description),
                        })
                    },
                }),
            },
            Design {
                kind: basext::KIND,
                runs: Runs::Turns(|hdl, unit| {
                    let machine = turns::<BasextMachine>(unit)?;
                    Ok(Box::new(Basext::new(hdl, machine.unit(), machine.rate())?))
                }),
                folder: Some(Folder {
                    name: "basext",
                    describe: |text| {
                        let description = basext::Description::read(text)?;
                        description.fit()?;
                        Ok(Described {
                            top: crate::basext::top_of(description.unit()?.into()),
                            name: description.name,
                            multiplier: None,
                        })
                    },
                }),
            },
            Design {
                kind: torus::KIND,
                runs: Runs::Whole {
                    built: |m| whole::<TorusMachine>(m).map(|_| ()),
                    open: |name, m| device(name, TorusRtl::new(whole::<TorusMachine>(m)?.clone())?),
                },
                folder: Some(Folder {
                    name: "torus",
                    describe: |text| {
                        let description = torus::Description::read(text)?;
                        Ok(Described {
                            top: crate::torus::top(description.shape()?),
                            name: description.name,
                            multiplier: None,
                        })
                    },
                }),
            },
            Design {
                kind: vector::KIND,
                runs: Runs::Whole {
                    built: |m| vector::built::check(whole::<VectorMachine>(m)?.description()),
                    open: |name, m| {
                        device(name, VectorRtl::new(whole::<VectorMachine>(m)?.clone())?)
                    },
                },
                folder: None,
            },
        ];
        Self { rows }
    }

    /// Returns the registry with `design` added. If the registry has RTL for the same kind of machine, `design`
    /// replaces it.
    #[must_use]
    pub fn with(mut self, design: Design) -> Self {
        match self.rows.iter_mut().find(|row| row.kind == design.kind) {
            Some(row) => *row = design,
            None => self.rows.push(design),
        }
        self
    }

    /// Returns the RTL of a kind of machine, or `None` if the kind has none.
    pub fn of(&self, kind: &str) -> Option<&Design> {
        self.rows.iter().find(|row| row.kind == kind)
    }

    /// Checks that a machine's RTL can run whole programs, or that every unit of a card has RTL.
    ///
    /// # Errors
    /// The error is the reason for which this machine has no RTL, if its kind has RTL that runs whole programs. It is
    /// `None` if the kind has no such RTL, or if a unit of a card has no RTL as a co-processor.
    pub fn check(&self, machine: &Opened) -> Result<(), Option<MachineError>> {
        match machine {
            Opened::Whole(machine) => match self.of(machine.kind()).map(|row| row.runs) {
                Some(Runs::Whole { built, .. }) => Ok(built(machine.as_ref())?),
                Some(Runs::Turns(_)) | None => Err(None),
            },
            Opened::Card(card) => {
                let mut units = card.units().iter();
                match units.all(|unit| self.engine_of(unit.as_ref()).is_some()) {
                    true => Ok(()),
                    false => Err(None),
                }
            }
        }
    }

    /// Returns the function that opens the RTL of a machine that runs whole programs, or `None` if its kind has none.
    pub fn device_of(&self, machine: &dyn Machine) -> Option<OpenDevice> {
        match self.of(machine.kind())?.runs {
            Runs::Whole { open, .. } => Some(open),
            Runs::Turns(_) => None,
        }
    }

    /// Returns the function that opens the RTL of a co-processor, or `None` if its kind has none.
    pub fn engine_of(&self, unit: &dyn Coprocessor) -> Option<OpenEngine> {
        match self.of(unit.kind())?.runs {
            Runs::Turns(open) => Some(open),
            Runs::Whole { .. } => None,
        }
    }

    /// Returns the names of the built-in machines that have RTL.
    pub fn names(&self, machines: &Registry) -> Vec<&'static str> {
        let shipped = machines.kinds().iter().flat_map(|kind| kind.shipped);
        let built = |text: &str| {
            let opened = machines.opened(text);
            opened.is_ok_and(|machine| self.check(&machine).is_ok())
        };
        let shipped = shipped.filter(|(_, text)| built(text));
        shipped.map(|&(name, _)| name).collect()
    }
}

fn device(name: String, whole: impl Whole + 'static) -> Result<Box<dyn Device>, DeviceError> {
    Ok(Box::new(Rtl { name, whole }))
}

/// Returns the machine as a value of the Rust type `M`, or an error if the machine is of another
/// kind.
fn whole<M: Machine>(machine: &dyn Machine) -> Result<&M, MachineError> {
    machine.as_a().ok_or_else(|| other(machine.kind()))
}

fn turns<C: Coprocessor>(unit: &dyn Coprocessor) -> Result<&C, MachineError> {
    unit.as_a().ok_or_else(|| other(unit.kind()))
}

fn other(kind: &str) -> MachineError {
    MachineError::Field {
        field: "kind",
        got: kind.to_owned(),
        expected: "a machine that this RTL is of".to_owned(),
    }
}
