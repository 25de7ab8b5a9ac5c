// SPDX-License-Identifier: Apache-2.0
//! Opens devices by name. This module is the one place that knows all devices.

use ringmill_isa::{Engine, Target};
use ringmill_machines::{Opened, Registry};

use ringmill_cpu::{Cpu, MAX_THREADS, OpenError as CpuError};
use ringmill_device::{Device, DeviceError};
#[cfg(feature = "rtl")]
use ringmill_hdl::device::Designs;

use crate::error::{OpenError, shorten};
use crate::offload::Offload;
#[cfg(feature = "rtl")]
use crate::rtl;
use crate::sim::{self, Sim};

/// The list of devices that can be opened by name: the CPU, simulated machines, and their RTL.
#[derive(Clone, Debug)]
pub struct Devices {
    machines: Registry,
    #[cfg(feature = "rtl")]
    designs: Designs,
}

impl Devices {
    /// Returns the list of all devices that Ringmill ships.
    pub fn standard() -> Self {
        Self::of(Registry::standard())
    }

    /// Returns a list of devices with the CPU, the machines of this registry, and the RTL that Ringmill ships.
    pub fn of(machines: Registry) -> Self {
        Self {
            machines,
            #[cfg(feature = "rtl")]
            designs: Designs::standard(),
        }
    }

    /// Returns the list of devices with these RTL designs in place of those that it had.
    #[cfg(feature = "rtl")]
    #[must_use]
    pub fn with_designs(self, designs: Designs) -> Self {
        Self { designs, ..self }
    }

    pub fn machines(&self) -> &Registry {
        &self.machines
    }

    /// Returns the names of the known machines that have RTL.
    #[cfg(feature = "rtl")]
    pub fn with_rtl(&self) -> Vec<&'static str> {
        self.designs.names(&self.machines)
    }

    /// Returns an empty list of machines with RTL, since this build has no feature `rtl`.
    #[cfg(not(feature = "rtl"))]
    pub fn with_rtl(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns the names of all devices: the CPU with all cores, each machine as a simulation, and each machine that
    /// has RTL as RTL.
    pub fn names(&self) -> Vec<String> {
        let simulated = self.machines.names().map(|name| format!("sim:{name}"));
        let rtl = self.with_rtl();
        let rtl = rtl.iter().map(|name| format!("rtl:{name}"));
        let cpu = std::iter::once("cpu".to_owned());
        cpu.chain(simulated).chain(rtl).collect()
    }

    /// Returns the names that [`Self::open`] accepts, as a user would type them.
    pub fn known(&self) -> Vec<String> {
        let mut known = self.names();
        known.insert(1, "cpu:N (N threads)".to_owned());
        let files = match cfg!(feature = "rtl") {
            true => "sim:FILE.toml, rtl:FILE.toml (a machine description)".to_owned(),
            false => "sim:FILE.toml (a machine description)".to_owned(),
        };
        known.push(files);
        known
    }

    /// Returns the limits that a machine sets to a program's parameters. The machine is given by name or by description
    /// file, with or without the `sim:` or `rtl:` of its device.
    ///
    /// # Errors
    /// [`OpenError::MachineFile`] for a file that cannot be read. [`ringmill_machines::MachineError`] for an unknown
    /// machine and for a file that describes none.
    pub fn target(&self, machine: &str) -> Result<Target, DeviceError> {
        let device = ["sim:", "rtl:"]
            .iter()
            .find_map(|kind| machine.strip_prefix(kind));
        let text = sim::description(&self.machines, device.unwrap_or(machine))?;
        Ok(self.machines.load(&text)?.target())
    }

    /// Returns the TFHE parameters of a bootstrapping engine, named as in [`Self::target`].
    ///
    /// # Errors
    /// The errors of [`Self::target`]; [`OpenError::NoBootstraps`] for a machine that runs no bootstraps.
    pub fn engine(&self, machine: &str) -> Result<Engine, DeviceError> {
        let engine = self.target(machine)?.engine;
        let none = || OpenError::NoBootstraps {
            machine: machine.to_owned(),
        };
        engine.ok_or_else(|| none().into())
    }

    /// Opens a device by name, as [`open`] does.
    ///
    /// # Errors
    /// The errors of [`open`].
    pub fn open(&self, name: &str) -> Result<Box<dyn Device>, DeviceError> {
        match name.split_once(':') {
            None if name == "cpu" => Ok(Box::new(Cpu::all_cores()?)),
            Some(("cpu", threads)) => match threads.parse() {
                Ok(threads) => Ok(Box::new(Cpu::new(threads)?)),
                Err(_) => Err(CpuError::ThreadCount {
                    got: shorten(name),
                    max: MAX_THREADS,
                }
                .into()),
            },
            Some(("sim", machine)) if self.is_machine(machine) => {
                let text = sim::description(&self.machines, machine)?;
                simulated(name.to_owned(), self.machines.opened(&text)?)
            }
            #[cfg(feature = "rtl")]
            Some(("rtl", machine)) if self.is_machine(machine) => {
                let text = sim::description(&self.machines, machine)?;
                let machine = self.machines.opened(&text)?;
                rtl::open(&self.machines, &self.designs, name, machine)
            }
            _ => Err(OpenError::UnknownDevice {
                got: shorten(name),
                known: self.known(),
            }
            .into()),
        }
    }

    /// Returns whether the name is that of a known machine, or of a file that may describe one.
    fn is_machine(&self, name: &str) -> bool {
        name.ends_with(".toml") || self.machines.names().any(|known| known == name)
    }
}

/// Makes a device of this name from a simulated machine.
///
/// # Errors
/// An error if the threads of the host or of the CPU's kernels cannot be started.
pub(crate) fn simulated(name: String, machine: Opened) -> Result<Box<dyn Device>, DeviceError> {
    match machine {
        Opened::Card(card) => Ok(Box::new(Offload::modelled(name, *card)?)),
        Opened::Whole(machine) => Ok(Box::new(Sim::new(name, machine)?)),
    }
}

/// Returns the names that [`open`] accepts, as a user would type them.
pub fn known_devices() -> Vec<String> {
    Devices::standard().known()
}

/// Returns the limits that a machine sets to a program's parameters, as [`Devices::target`] does.
///
/// # Errors
/// The errors of [`Devices::target`].
pub fn target(machine: &str) -> Result<Target, DeviceError> {
    Devices::standard().target(machine)
}

/// Returns the TFHE parameters of a bootstrapping engine, as [`Devices::engine`] does.
///
/// # Errors
/// The errors of [`target`]; [`OpenError::NoBootstraps`] for a machine that runs no bootstraps.
pub fn engine(machine: &str) -> Result<Engine, DeviceError> {
    Devices::standard().engine(machine)
}

/// Opens a device by name: `cpu` (all cores), `cpu:2`, `sim:ring`, `rtl:polymul`, `sim:path/to/machine.toml`.
///
/// ```
/// assert_eq!(ringmill_sim::open("cpu:2")?.name(), "cpu:2");
/// let error = ringmill_sim::open("abacus").err().map(|e| e.to_string());
/// assert!(error.is_some_and(|text| text.contains("sim:ring")));
/// # Ok::<(), ringmill_device::DeviceError>(())
/// ```
///
/// # Errors
/// - [`OpenError::UnknownDevice`], which lists the known names.
/// - [`ringmill_cpu::OpenError`] for a number of threads that is not possible.
/// - [`OpenError::MachineFile`] and [`ringmill_machines::MachineError`] for a file that cannot be read or describes no
///   machine.
/// - With the feature `rtl`, the errors of a machine without RTL, and of missing tools.
pub fn open(name: &str) -> Result<Box<dyn Device>, DeviceError> {
    Devices::standard().open(name)
}
