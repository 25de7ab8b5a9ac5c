// SPDX-License-Identifier: Apache-2.0
//! The linear maps of bootstrapping. The map before the modulus is raised is for messages modulo p^r, the plaintext
//! modulus of messages. The maps after it are for messages modulo p^e, the last plaintext modulus.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ringmill_isa::{Galois, Level};
use ringmill_math::slots::SlotEncoder;
use ringmill_math::slots::linear::{
    Factor as Term, Halving, LinearMap, Shape, Stage, coefficients_to_slots, halvings,
    slots_to_coefficients, trace,
};

use super::error::BootstrapError;
use super::lift::{Lift, Lifted};
use super::params::Bootstrapping;
use crate::bgv::{Factor, Params};
use ringmill_device::ParamsId;

/// The linear maps of a bootstrap: one before the modulus is raised, the others after it. After the first map and
/// before the later ones, each slot's integer is one coefficient of the polynomial
/// ([`coefficient_of_slot`](ringmill_math::slots::linear::coefficient_of_slot)).
#[derive(Clone, Debug)]
pub struct Maps {
    params_id: ParamsId,
    /// The map from slots to coefficients, for messages modulo the plaintext modulus p^r.
    pub(super) to_coefficients: LinearMap,
    /// The trace, for messages modulo the last plaintext modulus p^e. It removes the coefficients that hold no integer.
    pub(super) trace: LinearMap,
    /// The map from coefficients to slots, for messages modulo the last plaintext modulus p^e.
    pub(super) to_slots: LinearMap,
    /// The steps of general bootstrapping that split all coefficients into parts. Thin bootstrapping has none.
    halvings: Vec<Halving>,
}

impl Maps {
    /// The base-2 logarithm of 4, the most automorphisms that one stage of the trace adds, the identity included. They
    /// share one decomposition into key-switching digits and one division by the special primes.
    const LOG_RADIX: u32 = 2;

    /// Makes the linear maps of thin bootstrapping, laid out with the depth and costs of `shape`.
    ///
    /// # Errors
    /// Fails for a shape that the number of slots does not allow.
    pub fn new(setup: &Bootstrapping, shape: Shape) -> Result<Self, BootstrapError> {
        let structure = setup.structure();
        let encoder = |exponent| SlotEncoder::new(structure.clone(), exponent);
        let low = encoder(setup.params().prime_power()?.exponent())?;
        let top = encoder(setup.top()?.exponent())?;
        let degree = structure.ring_degree();
        Ok(Self {
            to_coefficients: slots_to_coefficients(&low, shape)?,
            trace: trace(&top, degree, Self::LOG_RADIX)?,
            to_slots: coefficients_to_slots(&top, degree, shape)?,
            halvings: Vec::new(),
            params_id: *setup.params().id(),
        })
    }

    /// Makes the maps of general bootstrapping
    /// ([`Bootstrapper::bootstrap_general`](super::Bootstrapper::bootstrap_general)), which need more keys.
    ///
    /// # Errors
    /// The errors of [`Maps::new`].
    pub fn general(setup: &Bootstrapping, shape: Shape) -> Result<Self, BootstrapError> {
        let top = SlotEncoder::new(setup.structure().clone(), setup.top()?.exponent())?;
        Ok(Self {
            halvings: halvings(&top),
            ..Self::new(setup, shape)?
        })
    }

    /// Returns whether the maps split all coefficients into parts, as general bootstrapping does. With N slots there is
    /// nothing to split, and it is false for the maps of [`Maps::general`] too.
    pub fn is_general(&self) -> bool {
        !self.halvings.is_empty()
    }

    pub(super) fn halvings(&self) -> &[Halving] {
        &self.halvings
    }

    /// Returns the identity of the parameters for which the maps are made.
    pub(super) fn params_id(&self) -> &ParamsId {
        &self.params_id
    }

    /// Returns two lists of Galois elements: those whose keys are used at a low level, and those whose keys are used
    /// at a high level.
    pub fn elements(&self) -> [Vec<Galois>; 2] {
        let of = |maps: &[&LinearMap], further: &[Halving]| {
            let all = maps.iter().flat_map(|map| map.galois_elements());
            let all = all.chain(further.iter().map(|halving| halving.galois));
            let mut all: Vec<Galois> = all.map(|g| Galois(g as u32)).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let high: &[&LinearMap] = match self.is_general() {
            // Parts go back to coefficients after the removal of their digits.
            true => &[&self.to_slots, &self.to_coefficients, &self.trace],
            false => &[&self.trace, &self.to_slots],
        };
        [of(&[&self.to_coefficients], &[]), of(high, &self.halvings)]
    }
}

/// The plaintext constants of a stage of a linear map: a list for each giant step, with an entry for each of its
/// terms. The entry is `None` for a term without a constant.
pub(super) type OfStage = Vec<Vec<Option<Arc<Lift>>>>;

/// A linear map of bootstrapping: to coefficients, the trace, or to slots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum MapNumber {
    ToCoefficients,
    Trace,
    ToSlots,
}

/// The key of an entry in the cache of constants: the linear map, the index of the stage in it, and the level.
type Known = (MapNumber, usize, Level);

/// A cache of the plaintext constants by which the stages of linear maps multiply. They are computed once for each
/// stage and level.
#[derive(Default)]
pub(super) struct Constants(Mutex<HashMap<Known, Arc<OfStage>>>);

impl Constants {
    /// Returns the constants of a stage of a linear map. They are residues modulo the plaintext modulus to which
    /// `factor` belongs, lifted to integers.
    pub fn of(
        &self,
        params: &Params,
        known: Known,
        stage: &Stage,
        factor: Factor,
    ) -> Result<Arc<OfStage>, BootstrapError> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = lock().get(&known) {
            return Ok(Arc::clone(made));
        }
        let (_, _, level) = known;
        let constant = |term: &Term| match term {
            Term::One => Ok(None),
            Term::Constant(c) => {
                let lifted = Lifted::new(params, c, factor, level)?;
                Ok::<_, BootstrapError>(Some(Arc::new(Lift::new(lifted))))
            }
        };
        let giants = stage.giants.iter();
        let giants = giants.map(|giant| giant.terms.iter().map(|t| constant(&t.factor)).collect());
        let made: OfStage = giants.collect::<Result<_, _>>()?;
        let made = Arc::new(made);
        lock().insert(known, Arc::clone(&made));
        Ok(made)
    }
}
