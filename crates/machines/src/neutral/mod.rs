//! What every machine shares: its report, how it is simulated, who is told. Nothing here knows a machine.

mod end_to_end;
mod fit;
mod how;
mod options;
mod own;
mod report;
mod rows;

pub use end_to_end::{Bound, EndToEnd, TimePart};
pub use fit::{Fit, NeedUse, Ports, RegionUse, Resource, Total, pieces_text};
pub use how::How;
pub use options::{SimOptions, TraceSink};
pub use own::{Interleaved, Own, OwnReport, Remarks};
pub use report::{LinkUse, MachineReport, MemoryUse, ProcedureUse, UnitUse};
pub use rows::{Rows, bytes, grouped, seconds};
