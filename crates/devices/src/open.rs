//! Devices by name: the one place that knows them all.

use ringmill_machines::registry::Opened;
use ringmill_machines::{Kind, WholeRtl, registry};

use crate::DeviceError;
use crate::cpu::{Cpu, MAX_THREADS};
use crate::device::Device;
use crate::offload::Offload;
use crate::rtl::{RingRtl, Rtl, TorusRtl, VectorRtl, Whole};
use crate::sim::{self, Sim};

/// The names that [`open`] understands, as a user would type them.
pub fn known_devices() -> Vec<String> {
    let simulated = registry::names().map(|name| format!("sim:{name}"));
    let rtl = registry::names_with_rtl().map(|name| format!("rtl:{name}"));
    let fixed = ["cpu".to_owned(), "cpu:N (N threads)".to_owned()];
    fixed
        .into_iter()
        .chain(simulated)
        .chain(rtl)
        .chain(["sim:FILE.toml, rtl:FILE.toml (a machine description)".to_owned()])
        .collect()
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
    let unknown = || DeviceError::UnknownDevice {
        got: shorten(name),
        known: known_devices(),
    };
    match name.split_once(':') {
        None if name == "cpu" => Ok(Box::new(Cpu::all_cores()?)),
        Some(("cpu", threads)) => match threads.parse() {
            Ok(threads) => Ok(Box::new(Cpu::new(threads)?)),
            Err(_) => Err(DeviceError::ThreadCount {
                got: shorten(name),
                max: MAX_THREADS,
            }),
        },
        Some((kind @ ("sim" | "rtl"), machine))
            if machine.ends_with(".toml") || registry::names().any(|known| known == machine) =>
        {
            let text = sim::description(machine)?;
            let no_rtl = || DeviceError::NoRtl {
                machine: shorten(name),
                known: registry::names_with_rtl().collect::<Vec<_>>().join(", "),
            };
            let own_name = name.to_owned();
            match (kind, Kind::of(&text)?.open(&text)?) {
                ("rtl", opened) if !opened.has_rtl() => {
                    let why = match &opened {
                        Opened::Whole(machine) => machine.unbuilt(),
                        Opened::Card(_) => None,
                    };
                    Err(why.map_or_else(no_rtl, DeviceError::from))
                }
                ("rtl", Opened::Card(card)) => Ok(Box::new(Offload::rtl(own_name, *card)?)),
                ("rtl", Opened::Whole(machine)) => match machine.rtl() {
                    Some(WholeRtl::Torus(machine)) => whole(own_name, TorusRtl::new(machine)?),
                    Some(WholeRtl::Ring(machine)) => whole(own_name, RingRtl::new(machine)?),
                    Some(WholeRtl::Vector(machine)) => whole(own_name, VectorRtl::new(machine)?),
                    None => Err(no_rtl()),
                },
                (_, Opened::Card(card)) => Ok(Box::new(Offload::modelled(own_name, *card)?)),
                (_, Opened::Whole(machine)) => Ok(Box::new(Sim::new(own_name, machine)?)),
            }
        }
        _ => Err(unknown()),
    }
}

fn whole(name: String, whole: impl Whole + 'static) -> Result<Box<dyn Device>, DeviceError> {
    Ok(Box::new(Rtl { name, whole }))
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
