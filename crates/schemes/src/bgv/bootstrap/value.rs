// SPDX-License-Identifier: Apache-2.0
//! BGV ciphertexts together with bounds on their noise.

use ringmill_isa::Level;

use crate::bgv::{Ciphertext, Factor, Noise};

/// A BGV ciphertext with a bound `noise` on the coefficients of its phase.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    pub cipher: Ciphertext,
    pub noise: Noise,
}

impl Value {
    pub fn level(&self) -> Level {
        self.cipher.level()
    }

    pub fn factor(&self) -> Factor {
        *self.cipher.annotation()
    }
}
