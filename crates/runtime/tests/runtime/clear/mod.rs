// SPDX-License-Identifier: Apache-2.0
//! A complete scheme in one folder, which shows that a scheme needs no code elsewhere. It computes on vectors of
//! integers that are not encrypted. A value is one polynomial whose evaluations are the vector's entries modulo each
//! prime, so that sums and products are position by position. It has no keys and hides nothing.

mod compiled;
mod operation;
mod params;
mod parties;
mod value;

use std::fmt;

use ringmill_device::call::CallError;
use ringmill_device::{Limbed, ParamsId};
use ringmill_isa::Poly;
use ringmill_math::Residues;
use ringmill_schemes::file::FileError;
use ringmill_schemes::{At, Scheme, SchemeTag};

pub use operation::Operation;
pub use params::Params;
pub use parties::{KeyHolder, Operator};
pub use value::Value;

#[derive(Clone, Debug)]
pub enum Clear {}

impl Scheme for Clear {
    const TAG: SchemeTag = SchemeTag {
        name: "clear",
        byte: 255,
    };
    const FRESH_POLYS: usize = 1;
    type Params = Params;
    type Operation = Operation;
    type Annotation = ();
    type Plaintext = Value;
    type Ciphertext = Value;
    type Key = NoKey;
    type Message = Vec<u64>;
    type KeyName = NoKey;
    type Keys = ();
    type Error = ClearError;
    type Holder = KeyHolder;
    type Operator = Operator;

    fn agree(a: &At<()>, b: &At<()>) -> bool {
        a == b
    }

    fn place(at: &At<()>) -> String {
        format!("level {}", at.level)
    }
}

/// The type of evaluation keys, without values, because the scheme has no keys.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum NoKey {}

impl fmt::Display for NoKey {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl Limbed for NoKey {
    fn params_id(&self) -> &ParamsId {
        match *self {}
    }

    fn polys(&self) -> usize {
        match *self {}
    }

    fn limb(&self, _: Poly, _: usize) -> Option<Residues<'_>> {
        match *self {}
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ClearError {
    #[error("{what} is {got}, expected {expected}")]
    Value {
        what: &'static str,
        expected: String,
        got: String,
    },
    #[error(transparent)]
    Math(#[from] ringmill_math::MathError),
    #[error(transparent)]
    Verify(#[from] ringmill_isa::VerifyError),
    #[error(transparent)]
    Call(#[from] CallError),
    #[error(transparent)]
    File(#[from] FileError),
}
