//! Simulated machines: description, scheduler and cycle model.

pub mod basext;
pub mod coprocessor;
mod error;
mod fields;
pub mod fpga;
mod machine;
mod neutral;
pub mod polymul;
pub mod registry;
pub mod ring;
pub mod torus;
pub mod vector;

pub use error::MachineError;
pub use fields::HostLink;
pub use machine::{Machine, Session};
pub use neutral::{
    Bound, EndToEnd, How, Interleaved, LinkUse, MachineReport, MemoryUse, Own, OwnReport,
    ProcedureUse, Remarks, Rows, SimOptions, TimePart, TraceSink, UnitUse, bytes, grouped, seconds,
};
pub use registry::{Kind, Opened, Parse, Registry};
