//! Devices by name: the one place that knows them all.

use ringmill_isa::{Engine, Target};
use ringmill_machines::{Opened, Registry};

use crate::DeviceError;
use crate::cpu::{Cpu, MAX_THREADS};
use crate::device::Device;
use crate::offload::Offload;
use crate::rtl::Designs;
use crate::sim::{self, Sim};

/// The devices that there are: the CPU, machines and their RTL.
#[derive(Clone, Debug)]
pub struct Devices {
    machines: Registry,
    designs: Designs,
}

impl Devices {
    /// All that Ringmill has.
    pub fn standard() -> Self {
        Self::of(Registry::standard(), Designs::standard())
    }

    /// The CPU, these machines and this RTL.
    pub fn of(machines: Registry, designs: Designs) -> Self {
        Self { machines, designs }
    }

    pub fn machines(&self) -> &Registry {
        &self.machines
    }

    /// Names of the machines that there is RTL of.
    pub fn with_rtl(&self) -> Vec<&'static str> {
        self.designs.names(&self.machines)
    }

    /// The names that [`Self::open`] understands, as a user would type them.
    pub fn known(&self) -> Vec<String> {
        let simulated = self.machines.names().map(|name| format!("sim:{name}"));
        let rtl = self.with_rtl();
        let rtl = rtl.iter().map(|name| format!("rtl:{name}"));
        let fixed = ["cpu".to_owned(), "cpu:N (N threads)".to_owned()];
        let files = "sim:FILE.toml, rtl:FILE.toml (a machine description)".to_owned();
        fixed
            .into_iter()
            .chain(simulated)
            .chain(rtl)
            .chain([files])
            .collect()
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
    /// As [`Self::open`]; [`DeviceError::NoBootstraps`] for a machine that runs none.
    pub fn engine(&self, machine: &str) -> Result<Engine, DeviceError> {
        let engine = self.target(machine)?.engine;
        engine.ok_or_else(|| DeviceError::NoBootstraps {
            machine: machine.to_owned(),
        })
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
                Err(_) => Err(DeviceError::ThreadCount {
                    got: shorten(name),
                    max: MAX_THREADS,
                }),
            },
            Some(("sim", machine)) if self.is_machine(machine) => {
                let text = sim::description(&self.machines, machine)?;
                match self.machines.opened(&text)? {
                    Opened::Card(card) => Ok(Box::new(Offload::modelled(name.to_owned(), *card)?)),
                    Opened::Whole(machine) => Ok(Box::new(Sim::new(name.to_owned(), machine)?)),
                }
            }
            Some(("rtl", machine)) if self.is_machine(machine) => {
                let text = sim::description(&self.machines, machine)?;
                self.rtl(name, self.machines.opened(&text)?)
            }
            _ => Err(DeviceError::UnknownDevice {
                got: shorten(name),
                known: self.known(),
            }),
        }
    }

    /// Whether the name is that of a machine, or of a file that may describe one.
    fn is_machine(&self, name: &str) -> bool {
        name.ends_with(".toml") || self.machines.names().any(|known| known == name)
    }

    /// The RTL of a machine as the device of a name.
    fn rtl(&self, name: &str, machine: Opened) -> Result<Box<dyn Device>, DeviceError> {
        let no_rtl = || DeviceError::NoRtl {
            machine: shorten(name),
            known: self.with_rtl().join(", "),
        };
        if let Err(why) = self.designs.check(&machine) {
            return Err(why.map_or_else(no_rtl, DeviceError::from));
        }
        match machine {
            Opened::Whole(machine) => {
                let open = self.designs.device_of(machine.as_ref());
                open.ok_or_else(no_rtl)?(name.to_owned(), machine.as_ref())
            }
            Opened::Card(card) => {
                let units = card.units().iter();
                let engines = units.map(|unit| self.designs.engine_of(unit.as_ref()));
                let engines = engines.collect::<Option<_>>().ok_or_else(no_rtl)?;
                Ok(Box::new(Offload::rtl(name.to_owned(), *card, engines)?))
            }
        }
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
/// As [`open`]; [`DeviceError::NoBootstraps`] for a machine that runs none.
pub fn engine(machine: &str) -> Result<Engine, DeviceError> {
    Devices::standard().engine(machine)
}

/// Opens a device by name: `cpu` (all cores), `cpu:2`, `sim:ring`, `rtl:polymul`, `sim:path/to/machine.toml`.
///
/// ```
/// assert_eq!(ringmill_devices::open("cpu:2")?.name(), "cpu:2");
/// let error = ringmill_devices::open("abacus").err().map(|e| e.to_string());
/// assert!(error.is_some_and(|text| text.contains("sim:ring")));
/// # Ok::<(), ringmill_devices::DeviceError>(())
/// ```
///
/// # Errors
/// [`DeviceError::UnknownDevice`] lists the known ones; [`DeviceError::ThreadCount`] and [`DeviceError::Threads`];
/// [`DeviceError::MachineFile`] and [`DeviceError::Machine`] for a file that cannot be read or describes no machine;
/// [`DeviceError::NoRtl`] for a machine without RTL, [`DeviceError::Hdl`] where the RTL's tools are missing.
pub fn open(name: &str) -> Result<Box<dyn Device>, DeviceError> {
    Devices::standard().open(name)
}

/// Keeps an error message short whatever was typed.
fn shorten(name: &str) -> String {
    const MOST: usize = 80;
    if name.chars().count() <= MOST {
        name.to_owned()
    } else {
        name.chars().take(MOST).chain(['…']).collect()
    }
}
