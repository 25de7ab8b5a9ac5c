//! The ring machine's RTL behind a safe handle: [`Machine`] runs a procedure with every grant, write and end held to the
//! model's; [`Rpau`] is a unit by itself that words are granted to as the model's board grants them; [`package`] is the generated package of micro words.

mod machine;
mod package;
mod rpau;
mod shadow;
mod shape;
mod tables;
mod twiddles;

pub use machine::{Ended, Machine, top};
pub use package::{PACKAGE, package};
pub use rpau::{Rpau, RpauError};
pub use shadow::Lockstep;
pub use shape::Shape;
pub use tables::Tables;
