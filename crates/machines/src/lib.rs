//! Simulated machines: description, scheduler and cycle model.

mod error;
mod machine;
pub mod polymul;
mod report;
pub mod ring;

pub use error::MachineError;
pub use machine::{Machine, SimOptions, TraceSink};
pub use report::{
    Inside, KeyUse, LinkUse, MachineReport, MemoryUse, ProcedureUse, Spills, UnitUse,
};

/// The names of the machines that Ringmill ships.
pub fn names() -> &'static [&'static str] {
    &MACHINES
}

/// Names that [`open`] knows.
pub const MACHINES: [&str; 2] = ["ring", "ring-stored"];

/// Opens a machine that Ringmill ships.
///
/// # Errors
/// [`MachineError::Unknown`] for any other name.
pub fn open(name: &str) -> Result<Box<dyn Machine>, MachineError> {
    match name {
        "ring" => load(ring::Description::MEDHA),
        "ring-stored" => load(ring::Description::STORED),
        _ => Err(MachineError::Unknown {
            name: name.to_owned(),
            known: MACHINES.join(", "),
        }),
    }
}

/// Opens the machine that a description text describes.
///
/// # Errors
/// [`MachineError::Syntax`] and [`MachineError::Field`].
pub fn load(text: &str) -> Result<Box<dyn Machine>, MachineError> {
    Ok(Box::new(ring::RingMachine::new(ring::Description::parse(
        text,
    )?)?))
}
