// SPDX-License-Identifier: Apache-2.0
//! Makes the linear maps of thin bootstrapping: slots to coefficients, coefficients to slots, and the trace.

use super::butterflies::Butterflies;
use super::split::{Costs, Powers, Range, Shape, best_cuts};
use super::stage::{Factor, Giant, LinearMap, Stage, Term};
use super::terms::{Shift, Terms, Values};
use crate::bits::bit_reverse;
use crate::slots::galois_ring::Gaussian;
use crate::slots::structure::pow_mod;
use crate::slots::{SlotEncoder, SlotError, SlotStructure, Split};

/// Returns the index of the coefficient that holds a slot's integer between the map from slots to
/// coefficients and the map back. It is a multiple of N / l below N, where N is the ring degree and
/// l the number of slots.
pub fn coefficient_of_slot(encoder: &SlotEncoder, slot: usize) -> usize {
    let structure = encoder.structure();
    let butterflies = Butterflies::new(encoder);
    let n = structure.slots() / 2;
    let second = match structure.split() {
        Split::Trinomials => slot >= n,
        Split::Binomials => structure.representative(slot) % 4 == 3,
    };
    let low = bit_reverse(butterflies.power(slot), butterflies.log_n_points);
    (low + if second { n } else { 0 }) * structure.degree()
}

/// Returns the linear map from the integers of a thin polynomial to its coefficients. [`coefficient_of_slot`] says which
/// integer becomes which coefficient.
///
/// # Errors
/// [`SlotError::Depth`] for a depth that the number of slots does not allow.
pub fn slots_to_coefficients(encoder: &SlotEncoder, shape: Shape) -> Result<LinearMap, SlotError> {
    let map = Map::new(encoder, shape)?;
    let butterflies = &map.butterflies;
    let mut stages = Vec::new();
    for (first, cut) in map.cuts.windows(2).enumerate() {
        let (from, to) = (cut[0], cut[1]);
        let of_stage = (from..to).map(|s| butterflies.stage(s));
        let mut terms = map.collapse(of_stage, from, to);
        if first == 0 {
            terms = encoder.compose(&terms, &map.join(), |shift| shift);
            stages.push(map.stage(&terms, from, to, true));
            if map.split() == Split::Trinomials {
                let y_to_minus_y = 1 + 2 * encoder.structure().slots() as u64;
                stages.push(sum_of([1, y_to_minus_y]));
            }
        } else {
            stages.push(map.stage(&terms, from, to, false));
        }
    }
    Ok(LinearMap { stages })
}

/// Returns the linear map from coefficients to the integers of a thin polynomial. It expects the
/// coefficients times the factor `from_degree` / l that [`trace`] brings in, where l is the number
/// of slots. Coefficients at indices that [`coefficient_of_slot`] does not return must be 0.
///
/// # Errors
/// [`SlotError::Depth`] for a depth that the number of slots does not allow. [`SlotError::TraceDegree`] as for [`trace`].
pub fn coefficients_to_slots(
    encoder: &SlotEncoder,
    from_degree: usize,
    shape: Shape,
) -> Result<LinearMap, SlotError> {
    let doublings = doublings(encoder.structure(), from_degree)?;
    let map = Map::new(encoder, shape)?;
    let butterflies = &map.butterflies;
    let q = encoder.modulus();
    let scale = q.pow(butterflies.half().re, doublings.into());
    let mut stages = Vec::new();
    for (place, cut) in map.cuts.windows(2).enumerate().rev() {
        let (from, to) = (cut[0], cut[1]);
        let of_stage = (from..to).rev().map(|s| butterflies.inverse_stage(s));
        let mut terms = map.collapse(of_stage, from, to);
        if place == 0 {
            // The domain is Z[u], on which all lifts of an automorphism agree.
            terms = encoder.compose(&map.part(), &terms, |shift| map.centred(shift, from, to));
            for value in terms.values_mut().flatten() {
                value.re = q.mul(value.re, scale);
                value.im = q.mul(value.im, scale);
            }
            stages.push(map.stage(&terms, from, to, true));
            if map.split() == Split::Trinomials {
                let structure = encoder.structure();
                stages.push(sum_of([
                    1,
                    structure.p() % (2 * structure.ring_degree() as u64),
                ]));
            }
        } else {
            stages.push(map.stage(&terms, from, to, false));
        }
    }
    Ok(LinearMap { stages })
}

/// Returns the trace for polynomials in x^(N / `from_degree`), which are all polynomials if `from_degree` is N. It is
/// `from_degree` / l times the projection to the coefficients of Z\[u\], where l is the number of slots and u =
/// x^(N/l). Each stage sums 2^`log_radix` automorphisms of one value; the last stage may sum fewer. A `log_radix` of 1,
/// or 0, takes the fewest key switches. A greater one takes fewer decompositions and more key switches; beyond 3 that
/// does not pay.
///
/// # Errors
/// [`SlotError::TraceDegree`] if `from_degree` is no power of two from l to N.
pub fn trace(
    encoder: &SlotEncoder,
    from_degree: usize,
    log_radix: u32,
) -> Result<LinearMap, SlotError> {
    let structure = encoder.structure();
    let doublings = doublings(structure, from_degree)?;
    let two_n = 2 * structure.ring_degree() as u64;
    // The group that leaves u alone is cyclic.
    let generator = 1 + 2 * structure.slots() as u64;
    let mut stages = Vec::new();
    let mut done = 0;
    while done < doublings {
        let width = log_radix.clamp(1, doublings - done);
        let power = |i| pow_mod(generator, i << done, two_n);
        stages.push(sum_of((0..1u64 << width).map(power)));
        done += width;
    }
    Ok(LinearMap { stages })
}

/// Returns the base-2 logarithm of `from_degree` / l, where l is the number of slots.
fn doublings(structure: &SlotStructure, from_degree: usize) -> Result<u32, SlotError> {
    let (slots, n) = (structure.slots(), structure.ring_degree());
    if !from_degree.is_power_of_two() || !(slots..=n).contains(&from_degree) {
        return Err(SlotError::TraceDegree {
            got: from_degree,
            min: slots,
            max: n,
        });
    }
    Ok((from_degree / slots).trailing_zeros())
}

/// Returns a stage of a linear map that sums the images of its input under the automorphisms `babies`.
fn sum_of(babies: impl IntoIterator<Item = u64>) -> Stage {
    let babies: Vec<u64> = babies.into_iter().collect();
    let term = |baby| Term {
        baby,
        factor: Factor::One,
    };
    let terms = (0..babies.len()).map(term).collect();
    Stage {
        babies,
        giants: vec![Giant { galois: 1, terms }],
    }
}

/// The butterfly stages of a linear map's transform, and the cuts between groups of them. Each
/// group becomes one stage of the map from slots to coefficients, and one of the map from
/// coefficients to slots.
struct Map<'a> {
    encoder: &'a SlotEncoder,
    butterflies: Butterflies<'a>,
    cuts: Vec<u32>,
    costs: Costs,
}

impl<'a> Map<'a> {
    fn new(encoder: &'a SlotEncoder, shape: Shape) -> Result<Self, SlotError> {
        let butterflies = Butterflies::new(encoder);
        let log_n = butterflies.log_n_points;
        let max = log_n.max(1) as usize;
        if !(1..=max).contains(&shape.depth) {
            return Err(SlotError::Depth {
                got: shape.depth,
                slots: encoder.structure().slots(),
                max,
            });
        }
        let signs = encoder.structure().split() == Split::Binomials;
        Ok(Self {
            encoder,
            cuts: best_cuts(log_n, shape.depth, signs, shape.costs),
            butterflies,
            costs: shape.costs,
        })
    }

    fn split(&self) -> Split {
        self.encoder.structure().split()
    }

    /// Returns the product of butterfly stages as one map; `stages` lists them in the order of
    /// their application. Each automorphism gets an exponent of 5 that the baby and giant steps of
    /// a stage for `from` to `to` - 1 can reach.
    fn collapse(&self, stages: impl Iterator<Item = Terms>, from: u32, to: u32) -> Terms {
        let ones = vec![self.encoder.ring().integer(1); self.encoder.structure().slots()];
        let identity = Terms::from([(Shift::by(0), ones)]);
        stages.fold(identity, |inner, outer| {
            let reduce = |shift| self.centred(shift, from, to);
            self.encoder.compose(&outer, &inner, reduce)
        })
    }

    /// Returns an automorphism x -> x^g, g = 5^k or -5^k, with its exponent k in the range that
    /// butterfly stages `from` to `to` - 1 together have. On polynomials in u = x^(N/l), for l
    /// slots, exponents count modulo l / 2.
    fn centred(&self, shift: Shift, from: u32, to: u32) -> Shift {
        let log_n = self.butterflies.log_n_points;
        let n = 1i64 << log_n;
        let power = shift.power.rem_euclid(n);
        let cyclic = matches!(
            Powers::of_stages(from, to, log_n, false).range,
            Range::Cyclic(_)
        );
        Shift {
            power: if cyclic || power <= n / 2 {
                power
            } else {
                power - n
            },
            ..shift
        }
    }

    /// Returns the linear map from integers in slots to the transform's values a + i b before its
    /// first stage, with i^2 = -1. The integers a and b become coefficients: a in the first half of
    /// them, b in the second. If x^N + 1 splits into trinomials, the caller still adds the image
    /// under y -> -y.
    fn join(&self) -> Terms {
        let ring = self.encoder.ring();
        let (one, i) = (ring.integer(1), self.butterflies.i());
        match self.split() {
            Split::Trinomials => Terms::from([(Shift::by(0), self.by_half(one, i))]),
            Split::Binomials => Terms::from([
                (Shift::by(0), self.by_half(one, ring.neg(i))),
                (MINUS, self.by_half(i, one)),
            ]),
        }
    }

    /// Returns the inverse of [`Map::join`]: the linear map from values a + i b at the transform's
    /// points to the integers a and b in slots. If x^N + 1 splits into trinomials, the caller still
    /// adds the conjugate.
    fn part(&self) -> Terms {
        let ring = self.encoder.ring();
        let half = self.butterflies.half();
        let i_half = ring.mul(self.butterflies.i(), half);
        let minus = ring.neg(i_half);
        match self.split() {
            Split::Trinomials => Terms::from([(Shift::by(0), self.by_half(half, minus))]),
            Split::Binomials => Terms::from([
                (Shift::by(0), self.by_half(half, i_half)),
                (MINUS, self.by_half(half, minus)),
            ]),
        }
    }

    /// Returns the values, one for each slot, of a constant. The value is `first` in the slots
    /// whose integers become the first half of the coefficients, and `second` in the other slots.
    fn by_half(&self, first: Gaussian, second: Gaussian) -> Values {
        let structure = self.encoder.structure();
        let slots = structure.slots();
        let value = |slot| {
            let in_second = match structure.split() {
                Split::Trinomials => slot >= slots / 2,
                Split::Binomials => structure.representative(slot) % 4 == 3,
            };
            if in_second { second } else { first }
        };
        (0..slots).map(value).collect()
    }

    /// Returns a linear map, a sum of automorphisms with constants, as one stage of baby and giant
    /// steps. The map does the work of butterfly stages `from` to `to` - 1. `ends` says that it
    /// includes the map between slots and points.
    fn stage(&self, terms: &Terms, from: u32, to: u32, ends: bool) -> Stage {
        let signs = ends && self.split() == Split::Binomials;
        let powers = Powers::of_stages(from, to, self.butterflies.log_n_points, signs);
        let split = powers.best_split(self.costs);
        let two_n = 2 * self.encoder.structure().ring_degree() as u64;
        // Step 0, which moves nothing, comes first.
        let in_order = |first: i64, count: i64| {
            let mut all: Vec<i64> = (first..first + count).collect();
            all.sort_by_key(|&k| k != 0);
            all
        };
        let negatives: &[bool] = if signs { &[false, true] } else { &[false] };
        let babies: Vec<Shift> = in_order(split.first_baby, split.babies)
            .into_iter()
            .flat_map(|k| {
                negatives.iter().map(move |&negative| Shift {
                    negative,
                    power: k * powers.step,
                })
            })
            .collect();
        let giants = in_order(split.first_giant, split.giants)
            .into_iter()
            .map(|k| Shift::by(k * split.babies * powers.step));
        let giants = giants.map(|giant| {
            let terms = babies.iter().enumerate().filter_map(|(baby, &shift)| {
                let values = terms.get(&giant.then(shift))?;
                let before = self.encoder.moved(values, giant.inverse());
                let factor = Factor::Constant(self.encoder.core_from_values(&before));
                Some(Term { baby, factor })
            });
            Giant {
                galois: giant.galois(two_n),
                terms: terms.collect(),
            }
        });
        let giants = giants.filter(|g| !g.terms.is_empty()).collect();
        Stage {
            babies: babies.iter().map(|s| s.galois(two_n)).collect(),
            giants,
        }
    }
}

const MINUS: Shift = Shift {
    negative: true,
    power: 0,
};
