// SPDX-License-Identifier: Apache-2.0
//! What of a program's inputs stays on a device from run to run.

use std::sync::Arc;

use crate::{Bindings, Limb, SeedExpansion};

/// A place for each of a program's first inputs: its limb where it is resident, none where each run brings its own. A run
/// brings the inputs without a place too. And the program's seeds.
#[derive(Clone, Default)]
pub struct Resident<'a> {
    pub limbs: Vec<Option<Limb<'a>>>,
    pub seeds: Vec<Arc<SeedExpansion>>,
}

impl<'a> Resident<'a> {
    /// Seeds alone: a run brings every limb.
    pub fn seeds(seeds: Vec<Arc<SeedExpansion>>) -> Self {
        Self {
            limbs: Vec::new(),
            seeds,
        }
    }

    /// The bindings of a run: `inputs` in the free places, in order, and after the places. [`Bindings::check`] refuses what
    /// is too much.
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
