//! What schemes of exact integers share in the compiler: constants are whole, values have ranges of whole numbers, and
//! results in the clear are exact.

pub(crate) mod constants;
pub mod range;
pub mod reference;
pub(crate) mod simplify;

pub use constants::whole;
pub use range::IntegerRange;
