//! What of a program's inputs stays on a device from run to run.

use std::sync::Arc;

use crate::{Bindings, Limb, SeedExpansion};

/// A place for each of a program's inputs: its limb where it is resident, none where each run brings its own. And the
/// program's seeds.
#[derive(Clone, Default)]
pub struct Resident<'a> {
    pub limbs: Vec<Option<Limb<'a>>>,
    pub seeds: Vec<Arc<SeedExpansion>>,
}

impl<'a> Resident<'a> {
    /// Everything: a run brings nothing.
    pub fn all(bindings: &Bindings<'a>) -> Self {
        Self {
            limbs: bindings.limbs.iter().cloned().map(Some).collect(),
            seeds: bindings.seeds.clone(),
        }
    }

    /// The bindings of a run: `inputs` in the free places, in order. What is left over comes last, so that
    /// [`Bindings::check`] refuses it.
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
