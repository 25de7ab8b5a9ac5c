// SPDX-License-Identifier: Apache-2.0
//! Opens machines as simulations of their RTL, with the feature `rtl`.

use std::path::Path;

use ringmill_device::{Device, DeviceError};
use ringmill_hdl::Hdl;
use ringmill_hdl::device::{Designs, RtlError};
use ringmill_machines::{Opened, Registry};

use crate::error::shorten;
use crate::offload::Offload;

/// Opens the RTL of a machine as the device of this name.
///
/// # Errors
/// [`RtlError::NoRtl`] for a machine that has no RTL. The error of a field that the RTL does not support, and the
/// errors of building the RTL.
pub(crate) fn open(
    machines: &Registry,
    designs: &Designs,
    name: &str,
    machine: Opened,
) -> Result<Box<dyn Device>, DeviceError> {
    let no_rtl = || RtlError::NoRtl {
        machine: shorten(name),
        known: designs.names(machines).join(", "),
    };
    if let Err(why) = designs.check(&machine) {
        return Err(why.map_or_else(|| no_rtl().into(), DeviceError::from));
    }
    match machine {
        Opened::Whole(machine) => {
            let open = designs.device_of(machine.as_ref());
            open.ok_or_else(no_rtl)?(name.to_owned(), machine.as_ref())
        }
        Opened::Card(card) => {
            let units = card.units().iter();
            let opens = units.map(|unit| designs.engine_of(unit.as_ref()));
            let opens: Vec<_> = opens.collect::<Option<_>>().ok_or_else(no_rtl)?;
            let hdl = Hdl::find(Path::new("."))?;
            // This builds a model unless it is in the cache, which takes a minute or so for a large machine.
            let engines = move |card: &ringmill_machines::coprocessor::Card| {
                let units = card.units().iter().zip(&opens);
                units
                    .map(|(unit, open)| open(&hdl, unit.as_ref()))
                    .collect()
            };
            let engines = Box::new(engines);
            Ok(Box::new(Offload::driven(name.to_owned(), *card, engines)?))
        }
    }
}
