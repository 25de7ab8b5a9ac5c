//! The ring machine's RTL behind a safe handle: [`Rpau`] is a unit that words are granted to as the model's board grants them,
//! held to the model word by word; [`package`] is the generated package of micro words.

mod package;
mod rpau;
mod shape;
mod tables;
mod twiddles;

pub use package::{PACKAGE, package};
pub use rpau::{Lockstep, Rpau, RpauError};
pub use shape::Shape;
pub use tables::Tables;
