// SPDX-License-Identifier: Apache-2.0
//! The report of a run on a machine: time, memory, traffic and resources, in a
//! form that all machines share.

mod end_to_end;
mod fit;
mod how;
mod lines;
mod machine;
mod own;
mod rows;

pub use end_to_end::{Bound, EndToEnd, TimePart};
pub use fit::{Fit, NeedUse, Ports, RegionUse, Resource, Total, pieces_text};
pub use how::How;
pub use lines::{CalledUse, Entry, Ledger, LineUse};
pub use machine::{LinkUse, MachineReport, MemoryUse, ProcedureUse, UnitUse};
pub use own::{Interleaved, Own, OwnReport, Remarks};
pub use rows::{Rows, bytes, grouped, seconds};
