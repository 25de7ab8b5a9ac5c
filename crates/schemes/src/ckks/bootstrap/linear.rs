// SPDX-License-Identifier: Apache-2.0
//! Emits the maps between slots and coefficients, one sparse matrix after another. Each matrix is a product with its
//! diagonals by baby steps and giant steps.

use std::collections::BTreeSet;

use num_complex::Complex64;
use ringmill_isa::Galois;

use super::bounds::{Bounds, root};
use super::code::{Code, Value};
use super::transform::{Diagonals, Direction, factors, layers};
use crate::ckks::{CkksError, Params};

/// A map between slots and coefficients: its direction, its number of matrices, the size of its operand and the
/// scale of its result.
pub(super) struct Map {
    pub direction: Direction,
    pub stages: u32,
    /// The scale of the map's result.
    pub scale: f64,
    /// A bound on the absolute values in the slots of the map's operand.
    pub magnitude: f64,
    /// Whether the last matrix's product is divided by the last prime of its level, as those of all earlier
    /// matrices are. If it is not, the result's scale is `scale` times this prime.
    pub divides: bool,
}

/// Emits a map between slots and coefficients. Returns its result, and a bound on the error that the map adds to a
/// slot or, for a map to coefficients, to a coefficient.
///
/// # Errors
/// Fails for an operand without enough levels.
pub(super) fn map(
    code: &mut Code,
    bounds: &mut Bounds,
    params: &Params,
    operand: Value,
    map: &Map,
) -> Result<(Value, f64), CkksError> {
    let n = params.slots();
    let stages = map.stages as usize;
    let matrices = factors(n, stages, map.direction);
    let count = matrices.len();
    let mut value = operand;
    let mut magnitude = map.magnitude;
    let mut error = 0.0;
    for (number, (matrix, layers)) in matrices.iter().zip(layers(n, stages)).enumerate() {
        let prime = *params
            .cipher_moduli()
            .get(value.level.index())
            .ok_or_else(shallow)?;
        let left = (count - number) as f64;
        let target = value.scale * (map.scale / value.scale).powf(1.0 / left);
        let scale = target * prime as f64 / value.scale;
        let divides = map.divides || number + 1 < count;
        let largest = largest(matrix);
        let entries = matrix.len() as f64;
        let Steps { babies, giants } = steps(matrix.keys().copied(), n);
        let encoded = bounds.encoded(largest, scale) * magnitude;
        let switch = bounds.switch(value.level, value.scale) * largest;
        let added = root([
            encoded * entries.sqrt(),
            switch * entries.sqrt(),
            bounds.switch(value.level, value.scale * scale) * (giants.len() as f64).sqrt(),
            match divides {
                true => bounds.divide(target),
                false => 0.0,
            },
        ]);
        // Rows of a matrix to coefficients have as many entries of size 1 as values grow by; to slots, their inverses.
        let rows = f64::from(1u32 << layers);
        let gain = match map.direction {
            Direction::ToCoefficients => rows,
            Direction::ToSlots => 1.0 / rows,
        };
        error = root([error * gain.sqrt(), added]);
        value = stage(
            code,
            params,
            value,
            matrix,
            (&babies, &giants),
            (scale, divides.then_some(prime)),
        )?;
        magnitude *= match map.direction {
            Direction::ToCoefficients => rows,
            Direction::ToSlots => rows.powf(-0.5),
        };
    }
    let error = match map.direction {
        Direction::ToCoefficients => error / (n as f64).sqrt(),
        Direction::ToSlots => error,
    };
    Ok((value, error))
}

fn shallow() -> CkksError {
    CkksError::NotBootstrapped {
        reason: "a map between slots and coefficients has no level left".into(),
    }
}

fn largest(matrix: &Diagonals) -> f64 {
    let entries = matrix.values().flatten();
    entries.map(|z| z.norm()).fold(0.0, f64::max)
}

/// The rotations with which a matrix is multiplied by a vector, as baby steps and giant steps. The offset of each
/// diagonal is the sum of a giant step and a baby step. Step 0 is the first baby step and the last giant step.
struct Steps {
    babies: Vec<usize>,
    giants: Vec<usize>,
}

/// Chooses the baby and giant steps for a matrix of order `n` whose diagonals have these offsets, for the least
/// cost of key switches. A giant step counts as two baby steps, since baby steps share one decomposition.
fn steps(offsets: impl Iterator<Item = usize>, n: usize) -> Steps {
    let offsets: Vec<usize> = offsets.chain([0]).collect();
    // Offsets are multiples of a stride, on both sides of 0.
    let stride = offsets.iter().filter(|&&o| o != 0);
    let stride = stride.map(|o| 1 << o.trailing_zeros()).min().unwrap_or(1);
    let split = |by: usize| {
        let pairs = offsets.iter().map(|&offset| {
            let baby = offset % (by * stride);
            (baby, offset - baby)
        });
        let (babies, giants): (BTreeSet<usize>, BTreeSet<usize>) = pairs.unzip();
        (babies, giants)
    };
    let most = (n / stride).trailing_zeros();
    let candidates = (0..=most).map(|log| split(1 << log));
    let cost =
        |(babies, giants): &(BTreeSet<usize>, BTreeSet<usize>)| 2 * giants.len() + babies.len();
    let (babies, giants) = candidates.min_by_key(cost).unwrap_or_default();
    let babies = babies.into_iter().collect();
    let mut giants: Vec<usize> = giants.into_iter().collect();
    giants.sort_by_key(|&giant| giant == 0);
    Steps { babies, giants }
}

/// Emits the product of a matrix, given by its diagonals, and the slots of a value. The diagonals are encoded at
/// `scale`. The result is divided by `prime`, the last prime of the level, if that is given.
fn stage(
    code: &mut Code,
    params: &Params,
    value: Value,
    matrix: &Diagonals,
    (babies, giants): (&[usize], &[usize]),
    (scale, prime): (f64, Option<u64>),
) -> Result<Value, CkksError> {
    let n = params.slots();
    let turns = |steps: &[usize]| -> Result<Vec<Galois>, CkksError> {
        let steps = steps.iter().filter(|&&steps| steps != 0);
        steps.map(|&steps| element(params, steps)).collect()
    };
    let row = |&giant: &usize| {
        let factors = babies.iter().map(|baby| {
            let diagonal = matrix.get(&((giant + baby) % n));
            let entry = |j: usize| diagonal.and_then(|d| d.get((j + n - giant) % n).copied());
            // The giant step turns the product, so the diagonal is turned back before.
            (0..n).map(|j| entry(j).unwrap_or_default()).collect()
        });
        factors.collect()
    };
    let rows: Vec<Vec<Vec<Complex64>>> = giants.iter().map(row).collect();
    let steps = [turns(babies)?, turns(giants)?];
    code.mat_vec(value, steps, &rows, scale, prime)
        .ok_or_else(shallow)
}

/// Returns the Galois element (-3)^`steps` modulo 2N, for at least one step. Its automorphism shifts turned slots
/// ([`super::transform`]) by `steps` places. It is the element of a rotation, with a conjugation if the number of steps
/// is odd.
fn element(params: &Params, steps: usize) -> Result<Galois, CkksError> {
    let rotation = params.galois_element(steps as i64)?;
    Ok(match steps % 2 {
        0 => rotation,
        _ => Galois(2 * params.degree() as u32 - rotation.0),
    })
}
