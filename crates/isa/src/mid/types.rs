//! Types of mid-level values: what a limb is.

use ringmill_math::Ring;
use serde::{Deserialize, Serialize};

/// Form of a limb: coefficients, or values at the roots of unity (DESIGN section 5 order).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Form {
    Coeff,
    Eval,
}

/// Index into the modulus table that a program and all its procedures share.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ModulusId(pub u16);

/// An SSA value inside one procedure: index into [`super::Procedure::types`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ValueId(pub u32);

/// Type of a limb: ring, modulus and form. `ring.log_n` counts the limb's own coefficients.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LimbType {
    pub ring: Ring,
    pub modulus: ModulusId,
    pub form: Form,
}
