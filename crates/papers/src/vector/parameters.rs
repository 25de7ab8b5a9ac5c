// SPDX-License-Identifier: Apache-2.0
//! Table 1 of the BASALISC paper: the parameters of our BGV set for bootstrapping.

use ringmill_isa::Level;
use ringmill_schemes::bgv::bootstrap::Bootstrapping;
use ringmill_schemes::bgv::{NoiseModel, Params};

use crate::scope::{Record, record};

/// Returns the parameters of the set `setup`, by their names in Table 1 of the BASALISC paper.
pub fn parameters(setup: &Bootstrapping) -> Record {
    let params = setup.params();
    let security = params.security();
    let plain = params.prime_power().map_or(0.0, |t| t.value() as f64);
    record([
        ("set.security_bits", u64::from(security.level.bits()).into()),
        ("set.ring", params.degree().into()),
        ("set.plaintext_modulus", plain.into()),
        ("set.slots", setup.structure().slots().into()),
        ("set.log_qp", security.log_qp.into()),
        ("set.log_q", params.log_q(params.max_level()).into()),
        ("set.depth", depth(params).into()),
    ])
}

/// Returns the number of successive squarings of a fresh ciphertext that the noise model allows without bootstrapping.
fn depth(params: &Params) -> f64 {
    let model = NoiseModel::new(params);
    let (mut level, mut noise) = (params.max_level(), model.fresh());
    let mut depth = 0;
    loop {
        noise = model.switch_key(model.mul(noise, noise), level);
        if model.room(noise, level) < 0.0 {
            return f64::from(depth);
        }
        depth += 1;
        // Primes are dropped as long as each lowers the noise by more than a bit.
        while level > Level::LOWEST {
            let after = model.mod_switch(noise, level, 2);
            if after.log2() > noise.log2() - 1.0 {
                break;
            }
            noise = after;
            level = Level(level.0 - 1);
        }
    }
}
