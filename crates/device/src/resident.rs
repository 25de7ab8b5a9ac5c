// SPDX-License-Identifier: Apache-2.0
//! Keys and constants that stay on a device from run to run.

use std::sync::Arc;

use crate::{Bindings, Limb, SeedExpansion};

/// The data of an open program that stay on the device from run to run: its seeds, and a list of places for the first
/// of its input limbs. A place holds a resident limb, or is free for a limb that each run brings. A run also brings all
/// input limbs after the last place.
#[derive(Clone, Default)]
pub struct Resident<'a> {
    pub limbs: Vec<Option<Limb<'a>>>,
    pub seeds: Vec<Arc<SeedExpansion>>,
}

impl<'a> Resident<'a> {
    /// Makes resident data of seeds without limbs: each run brings every input limb.
    pub fn seeds(seeds: Vec<Arc<SeedExpansion>>) -> Self {
        Self {
            limbs: Vec::new(),
            seeds,
        }
    }

    /// Returns the bindings of one run. The limbs `inputs` fill the free places in order, and the rest follow the last
    /// place. [`Bindings::check`] later refuses too many or too few limbs.
    pub fn with<'b>(&'b self, inputs: Vec<Limb<'b>>) -> Bindings<'b>
    where
        'a: 'b,
    {
        let mut inputs = inputs.into_iter();
        let mut limbs: Vec<Limb<'b>> = Vec::with_capacity(self.limbs.len());
        for place in &self.limbs {
            match place {
                Some(limb) => limbs.push(limb.clone()),
                None => limbs.extend(inputs.next()),
            }
        }
        limbs.extend(inputs);
        Bindings {
            limbs,
            seeds: self.seeds.clone(),
        }
    }
}
