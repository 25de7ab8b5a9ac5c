//! Simulated machines: description, scheduler and cycle model.

pub mod basext;
pub mod coprocessor;
mod end_to_end;
mod error;
mod fields;
pub mod fpga;
mod machine;
pub mod polymul;
pub mod registry;
mod report;
pub mod ring;
pub mod torus;
pub mod vector;

pub use end_to_end::{Bound, EndToEnd, Resource};
pub use error::MachineError;
pub use fields::HostLink;
pub use machine::{Machine, Session, SimOptions, TraceSink, WholeRtl};
pub use registry::{Kind, load, names, open};
pub use report::{
    CoprocessorUse, Cuts, HostTimes, Inside, Interleaved, KeyUse, LinkUse, MachineReport,
    MemoryUse, OffloadTimes, OffloadUse, Own, ProcedureUse, RingUse, SlotUse, Spills, SwitchUse,
    TimeUse, TorusUse, UnitUse, VectorParts, VectorUse,
};
