//! Parameters as a bootstrapping engine runs them.

use ringmill_machines::Registry;
use ringmill_machines::torus::{Shape, TorusMachine};
use ringmill_schemes::tfhe::{Decomposition, LweDimension, ParamsBuilder, Transforms, Unrolling};

use crate::DeviceError;
use crate::sim;

/// The engine that a name or a description file is of, with or without the `sim:` or `rtl:` of the device.
fn shape(machine: &str) -> Result<Shape, DeviceError> {
    let device = ["sim:", "rtl:"].iter();
    let name = device.filter_map(|kind| machine.strip_prefix(kind)).next();
    let machines = Registry::standard();
    let text = sim::description(&machines, name.unwrap_or(machine))?;
    let opened = machines.load(&text)?;
    let torus = opened.as_a::<TorusMachine>();
    let shape = torus.map(TorusMachine::shape);
    shape.ok_or_else(|| DeviceError::NoBootstraps {
        machine: machine.to_owned(),
    })
}

/// A set for an engine: transforms modulo its prime, its bits a turn and its digits of a key switch. What else the engine has
/// otherwise, it refuses by the field that forbids it.
///
/// # Errors
/// A machine that there is none of, or that runs no bootstraps.
pub fn for_machine(machine: &str, set: ParamsBuilder) -> Result<ParamsBuilder, DeviceError> {
    let sizes = shape(machine)?.sizes();
    let unrolling = match sizes.unroll {
        1 => Unrolling::One,
        2 => Unrolling::Two,
        _ => Unrolling::Three,
    };
    let digits = sizes.switch.digits;
    let set = set.transforms(Transforms::Solinas).unrolling(unrolling);
    Ok(set.key_switch(Decomposition {
        log_base: digits.log_base,
        levels: digits.levels,
    }))
}

/// The same with the engine's sizes in place of the set's: for toy sets, as such sizes are mostly insecure.
///
/// # Errors
/// Those of [`for_machine`].
pub fn with_sizes_of(machine: &str, set: ParamsBuilder) -> Result<ParamsBuilder, DeviceError> {
    let sizes = shape(machine)?.sizes();
    Ok(for_machine(machine, set)?.sizes(|s| {
        s.n = LweDimension(sizes.dim);
        s.log_degree = sizes.log_n as u8;
        s.bootstrap = Decomposition {
            log_base: sizes.log_base,
            levels: sizes.levels,
        };
    }))
}
