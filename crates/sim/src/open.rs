// SPDX-License-Identifier: Apache-2.0
//! Devices by name: the one place that knows them all.

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

/// The devices that there are: the CPU, machines and their RTL.
#[derive(Clone, Debug)]
pub struct Devices {
    machines: Registry,
    #[cfg(feature = "rtl")]
    designs: Designs,
}

impl Devices {
    /// All that Ringmill has.
    pub fn standard() -> Self {
        Self::of(Registry::standard())
    }

    /// The CPU, these machines, and the RTL that Ringmill has.
    pub fn of(machines: Registry) -> Self {
        Self {
            machines,
            #[cfg(feature = "rtl")]
            designs: Designs::standard(),
        }
    }

    /// The same with this RTL.
    #[cfg(feature = "rtl")]
    #[must_use]
    pub fn with_designs(self, designs: Designs) -> Self {
        Self { designs, ..self }
    }

    pub fn machines(&self) -> &Registry {
        &self.machines
    }

    /// Names of the machines that there is RTL of.
    #[cfg(feature = "rtl")]
    pub fn with_rtl(&self) -> Vec<&'static str> {
        self.designs.names(&self.machines)
    }

    /// None: this is built without the feature `rtl`.
    #[cfg(not(feature = "rtl"))]
    pub fn with_rtl(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// The devices that a name stands for: all cores, and each machine, simulated and as RTL.
    pub fn names(&self) -> Vec<String> {
        let simulated = self.machines.names().map(|name| format!("sim:{name}"));
        let rtl = self.with_rtl();
        let rtl = rtl.iter().map(|name| format!("rtl:{name}"));
        let cpu = std::iter::once("cpu".to_owned());
        cpu.chain(simulated).chain(rtl).collect()
    }

    /// The names that [`Self::open`] understands, as a user would type them.
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

    /// What a machine asks of a program's parameters: by its name or its description file, with or without the `sim:` or
    /// `rtl:` of the device that it is.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn target(&self, machine: &str) -> Result<Target, DeviceError> {
        let device = ["sim:", "rtl:"]
            .iter()
            .find_map(|kind| machine.strip_prefix(kind));
        let text = sim::description(&self.machines, device.unwrap_or(machine))?;
        Ok(self.machines.load(&text)?.target())
    }

    /// What a bootstrapping engine asks of TFHE's parameters, named as [`Self::target`] takes it.
    ///
    /// # Errors
    /// As [`Self::open`]; [`OpenError::NoBootstraps`] for a machine that runs none.
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
    /// Those of [`open`].
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

    /// Whether the name is that of a machine, or of a file that may describe one.
    fn is_machine(&self, name: &str) -> bool {
        name.ends_with(".toml") || self.machines.names().any(|known| known == name)
    }
}

/// A simulated machine as a device of that name.
///
/// # Errors
/// No thread for what its host or its function computes.
pub(crate) fn simulated(name: String, machine: Opened) -> Result<Box<dyn Device>, DeviceError> {
    match machine {
        Opened::Card(card) => Ok(Box::new(Offload::modelled(name, *card)?)),
        Opened::Whole(machine) => Ok(Box::new(Sim::new(name, machine)?)),
    }
}

/// The names that [`open`] understands, as a user would type them.
pub fn known_devices() -> Vec<String> {
    Devices::standard().known()
}

/// What a machine asks of a program's parameters, as [`Devices::target`] says it.
///
/// # Errors
/// As [`open`].
pub fn target(machine: &str) -> Result<Target, DeviceError> {
    Devices::standard().target(machine)
}

/// What a bootstrapping engine asks of TFHE's parameters, as [`Devices::engine`] says it.
///
/// # Errors
/// As [`open`]; [`OpenError::NoBootstraps`] for a machine that runs none.
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
/// [`OpenError::UnknownDevice`] lists the known ones; [`ringmill_cpu::OpenError`] for threads that there are not;
/// [`OpenError::MachineFile`] and [`ringmill_machines::MachineError`] for a file that cannot be read or describes no
/// machine; with the feature `rtl` those of a machine without RTL, or where the RTL's tools are missing.
pub fn open(name: &str) -> Result<Box<dyn Device>, DeviceError> {
    Devices::standard().open(name)
}
