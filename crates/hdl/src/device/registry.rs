// SPDX-License-Identifier: Apache-2.0
//! The RTL that there is: a row for each kind of machine that has some.

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

/// The RTL of a kind of machine.
#[derive(Clone, Copy, Debug)]
pub struct Design {
    /// The kind, as descriptions name it.
    pub kind: &'static str,
    pub runs: Runs,
    /// Where a description by itself says what to build. The top of the others wants the primes of a program besides: they run
    /// as devices, and are none of `ringmill rtl`'s designs.
    pub folder: Option<Folder>,
}

/// How much of a program the RTL of a kind runs.
#[derive(Clone, Copy, Debug)]
pub enum Runs {
    /// All of it, as a device.
    Whole {
        /// Whether there is RTL of this machine, or which field of its description stands against it.
        built: fn(&dyn Machine) -> Result<(), MachineError>,
        open: OpenDevice,
    },
    /// Turns of a co-processor on a card.
    Turns(OpenEngine),
}

/// Opens the RTL of a machine as the device of a name.
pub type OpenDevice = fn(String, &dyn Machine) -> Result<Box<dyn Device>, DeviceError>;

/// Opens the RTL of a co-processor.
pub type OpenEngine = fn(&Hdl, &dyn Coprocessor) -> Result<Box<dyn Engine>, DeviceError>;

/// A folder of `rtl/`, for descriptions that say what to build.
#[derive(Clone, Copy, Debug)]
pub struct Folder {
    pub name: &'static str,
    pub describe: fn(&str) -> Result<Described, MachineError>,
}

/// What a description says to build.
pub struct Described {
    /// The name of the description.
    pub name: String,
    pub top: Top,
    /// Of a polynomial multiplier, which has tables and runs in lockstep by itself.
    pub multiplier: Option<polymul::Description>,
}

/// Rows of RTL.
#[derive(Clone, Debug)]
pub struct Designs {
    rows: Vec<Design>,
}

impl Designs {
    /// All RTL that Ringmill has.
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

    /// This RTL and that of one more kind, in place of one of the same kind.
    #[must_use]
    pub fn with(mut self, design: Design) -> Self {
        match self.rows.iter_mut().find(|row| row.kind == design.kind) {
            Some(row) => *row = design,
            None => self.rows.push(design),
        }
        self
    }

    /// The RTL of a kind of machine, where there is some.
    pub fn of(&self, kind: &str) -> Option<&Design> {
        self.rows.iter().find(|row| row.kind == kind)
    }

    /// Whether there is RTL of all of a machine.
    ///
    /// # Errors
    /// Why there is none of this machine, where there is of others of its kind; `None` where there is of no other.
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

    /// What opens the RTL of a machine that runs programs whole.
    pub fn device_of(&self, machine: &dyn Machine) -> Option<OpenDevice> {
        match self.of(machine.kind())?.runs {
            Runs::Whole { open, .. } => Some(open),
            Runs::Turns(_) => None,
        }
    }

    /// What opens the RTL of a co-processor.
    pub fn engine_of(&self, unit: &dyn Coprocessor) -> Option<OpenEngine> {
        match self.of(unit.kind())?.runs {
            Runs::Turns(open) => Some(open),
            Runs::Whole { .. } => None,
        }
    }

    /// Names of the machines that there is RTL of.
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

/// A machine as the one that a row is for.
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
