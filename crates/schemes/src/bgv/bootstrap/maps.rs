//! The linear maps between slots and coefficients.

use ringmill_isa::Galois;
use ringmill_math::Modulus;
use ringmill_math::slots::{SlotEncoder, SlotStructure, Split};

use super::error::BootstrapError;
use super::params::Bootstrapping;
use crate::bgv::ExactParams;

/// A linear map of integers in slots: the sum of constants c_g times a(x^g).
#[derive(Clone, Debug)]
pub struct Stage {
    /// Galois elements, each with the coefficients of its constant modulo the plaintext modulus.
    pub terms: Vec<(Galois, Vec<u64>)>,
}

/// The maps of thin bootstrapping.
#[derive(Clone, Debug)]
pub struct Maps {
    /// Modulo p^r, one after the other: the integer of slot j to where [`Maps::to_slots`] takes it from.
    pub to_coefficients: Vec<Stage>,
    /// x^g is added to the sum so far for each of these in order: the trace to the polynomials whose slots are integers.
    pub trace: Vec<Galois>,
    /// Modulo p^e: undoes [`Maps::to_coefficients`] and the factor of the trace.
    pub to_slots: Vec<Stage>,
}

impl Maps {
    /// Both maps as one stage of as many terms as there are slots.
    ///
    /// The polynomials with integers in slots are those that Frobenius x -> x^p fixes: they have the basis b_0 = 1,
    /// b_j = y^j where p is 1 modulo 4, else y^j + the y^j that Frobenius takes it to. Slot j goes to (1 / k) b_j, with k = 1 or 2
    /// the size of the orbits, so that the trace makes d / k (k / k) of it.
    ///
    /// # Errors
    /// A ring without such slots.
    pub fn dense(setup: &Bootstrapping) -> Result<Self, BootstrapError> {
        let structure = setup.structure();
        let (low, top) = (setup.params().prime_power()?, setup.top()?);
        let two_n = 2 * structure.ring_degree() as u64;
        let mut trace = Vec::new();
        let mut power = structure.p() % two_n;
        for _ in 0..structure.degree().trailing_zeros() {
            trace.push(Galois(power as u32));
            power = power.wrapping_mul(power) % two_n;
        }
        let forward = SlotEncoder::new(structure.clone(), low.exponent())?;
        let orbit = match structure.split() {
            Split::Binomials => 1,
            Split::Trinomials => 2,
        };
        let t = setup.params().plain_modulus().reducer();
        let scale = t.inv(orbit)?;
        let matrix = scaled(t, basis(&forward)?, scale);
        let to_coefficients = vec![stage(&forward, &transposed(&matrix))?];
        let backward = SlotEncoder::new(structure.clone(), top.exponent())?;
        let t = backward.modulus();
        let columns = basis(&backward)?;
        let inverse = inverted(t, &transposed(&columns))?;
        // The trace of sum_j u_j y^j over all coefficients is d / orbit times the sum of b_j's own.
        let factor = t.inv(structure.degree() as u64 / orbit)?;
        let to_slots = vec![stage(&backward, &scaled(t, inverse, factor))?];
        Ok(Self {
            to_coefficients,
            trace,
            to_slots,
        })
    }

    /// The Galois elements whose keys the maps take.
    pub fn elements(&self) -> Vec<Galois> {
        let stages = self.to_coefficients.iter().chain(&self.to_slots);
        let terms = stages.flat_map(|stage| stage.terms.iter().map(|(g, _)| *g));
        let mut all: Vec<Galois> = terms.chain(self.trace.iter().copied()).collect();
        all.retain(|g| g.0 != 1);
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Row j: the integers in the slots of b_j.
fn basis(encoder: &SlotEncoder) -> Result<Vec<Vec<u64>>, BootstrapError> {
    let structure = encoder.structure();
    let (n, spacing) = (structure.ring_degree(), structure.core_spacing());
    let t = encoder.modulus();
    let row = |j: usize| {
        let mut b = vec![0u64; n];
        let mut add = |exponent: usize, size: u64| {
            let (place, negative) = (exponent % n, exponent % (2 * n) >= n);
            if let Some(c) = b.get_mut(place) {
                *c = t.add(*c, if negative { t.neg(size) } else { size });
            }
        };
        add(j * spacing, 1);
        if structure.split() == Split::Trinomials && j > 0 {
            let p = (structure.p() % (2 * n as u64)) as usize;
            add(j * spacing % (2 * n) * p, 1);
        }
        Ok(encoder.decode(&b)?)
    };
    (0..structure.slots()).map(row).collect()
}

/// The map whose result's slot i is the sum over j of m[i][j] times slot j, by the Galois elements of the slots' representatives: they
/// take every slot to every other once.
fn stage(encoder: &SlotEncoder, m: &[Vec<u64>]) -> Result<Stage, BootstrapError> {
    let structure: &SlotStructure = encoder.structure();
    let terms = (0..structure.slots()).map(|slot| {
        let g = structure.representative(slot);
        let sources = structure.permutation(g);
        let diagonal: Vec<u64> = m
            .iter()
            .zip(sources)
            .map(|(row, source)| row.get(source).copied().unwrap_or(0))
            .collect();
        Ok((Galois(g as u32), encoder.encode(&diagonal)?))
    });
    let mut terms = terms.collect::<Result<Vec<_>, BootstrapError>>()?;
    terms.retain(|(_, constant)| constant.iter().any(|&c| c != 0));
    Ok(Stage { terms })
}

fn transposed(m: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let column = |j: usize| m.iter().filter_map(|row| row.get(j).copied()).collect();
    (0..m.len()).map(column).collect()
}

fn scaled(t: Modulus, mut m: Vec<Vec<u64>>, by: u64) -> Vec<Vec<u64>> {
    for x in m.iter_mut().flatten() {
        *x = t.mul(*x, by);
    }
    m
}

/// The inverse of a matrix modulo a prime power, by elimination with pivots that are units.
fn inverted(t: Modulus, m: &[Vec<u64>]) -> Result<Vec<Vec<u64>>, BootstrapError> {
    let n = m.len();
    let singular = || BootstrapError::Parameters {
        reason: "the slots' map has no inverse".into(),
    };
    let mut rows: Vec<Vec<u64>> = m
        .iter()
        .enumerate()
        .map(|(i, row)| {
            let unit = (0..n).map(|j| u64::from(i == j));
            row.iter().copied().chain(unit).collect()
        })
        .collect();
    for column in 0..n {
        let at = |row: &Vec<u64>| row.get(column).copied().unwrap_or(0);
        let pivot = (column..n).find_map(|i| Some((i, t.inv(at(rows.get(i)?)).ok()?)));
        let (place, inverse) = pivot.ok_or_else(singular)?;
        rows.swap(column, place);
        let mut pivot = std::mem::take(rows.get_mut(column).ok_or_else(singular)?);
        for x in &mut pivot {
            *x = t.mul(*x, inverse);
        }
        for row in rows.iter_mut().filter(|row| !row.is_empty()) {
            let factor = at(row);
            for (x, &p) in row.iter_mut().zip(&pivot) {
                *x = t.sub(*x, t.mul(factor, p));
            }
        }
        if let Some(row) = rows.get_mut(column) {
            *row = pivot;
        }
    }
    Ok(rows.into_iter().map(|mut row| row.split_off(n)).collect())
}
