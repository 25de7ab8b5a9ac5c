//! Simulated machines: description, scheduler and cycle model.

mod end_to_end;
mod error;
mod machine;
pub mod polymul;
mod report;
pub mod ring;

pub use end_to_end::{Bound, EndToEnd, Resource};
pub use error::MachineError;
pub use machine::{Machine, SimOptions, TraceSink};
pub use report::{
    Cuts, HostTimes, Inside, KeyUse, LinkUse, MachineReport, MemoryUse, OffloadTimes, OffloadUse,
    ProcedureUse, Spills, UnitUse,
};

/// The names of the machines that Ringmill ships.
pub fn names() -> &'static [&'static str] {
    &MACHINES
}

/// Names that [`open`] knows.
pub const MACHINES: [&str; 3] = ["ring", "ring-stored", "polymul"];

/// Those of them that run the schemes' programs whole, without a host.
pub const RINGS: [&str; 2] = ["ring", "ring-stored"];

/// Opens a machine that Ringmill ships.
///
/// # Errors
/// [`MachineError::Unknown`] for any other name.
pub fn open(name: &str) -> Result<Box<dyn Machine>, MachineError> {
    match name {
        "ring" => load(ring::Description::MEDHA),
        "ring-stored" => load(ring::Description::STORED),
        "polymul" => load(polymul::Description::PAPER),
        _ => Err(MachineError::Unknown {
            name: name.to_owned(),
            known: MACHINES.join(", "),
        }),
    }
}

/// Opens the machine that a description text describes: its `kind`, or a ring where it has none.
///
/// # Errors
/// [`MachineError::Syntax`] and [`MachineError::Field`].
pub fn load(text: &str) -> Result<Box<dyn Machine>, MachineError> {
    let table: toml::Table =
        toml::from_str(text).map_err(|e| MachineError::Syntax(e.to_string()))?;
    if table.contains_key("kind") {
        return Ok(Box::new(polymul::PolymulMachine::parse(text)?));
    }
    Ok(Box::new(ring::RingMachine::parse(text)?))
}
