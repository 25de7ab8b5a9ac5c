//! What schemes of exact integers share in the compiler: constants are whole, values have ranges of whole numbers, which a
//! plaintext modulus holds, and results in the clear are exact.

pub(crate) mod constants;
pub(crate) mod degree;
pub(crate) mod held;
mod prediction;
pub(crate) mod primes;
pub mod range;
pub mod reference;
pub mod saved;
pub(crate) mod simplify;
pub(crate) mod zero;

pub use constants::whole;
pub use prediction::Prediction;
pub use range::IntegerRange;
