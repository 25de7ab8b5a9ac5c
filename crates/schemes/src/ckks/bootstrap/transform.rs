// SPDX-License-Identifier: Apache-2.0
//! The linear maps between slots and coefficients, as products of few sparse matrices.
//!
//! A polynomial of degree below N = 2n has coefficients m_k, and u_k = m_k + i m_(k+n) for k < n. Its *turned*
//! slots are w_j = m(zeta^((-3)^j)), zeta = e^(pi i / N): slot j of CKKS for even j, and its complex conjugate for
//! odd j. So the automorphism x -> x^((-3)^k) shifts the turned slots cyclically by k. All exponents (-3)^j are 1
//! modulo 4, so w = V u with the complex matrix V[j][k] = zeta^((-3)^j k). Let the permutation P reverse the bits
//! of an index. V P is a product of log2 n matrices of butterflies, as in a fast Fourier transform. The maps here
//! leave P out, because a bootstrap computes one function in every slot between them, so the order of slots does
//! not matter.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use num_complex::Complex64;

/// A square matrix of order n, given by its cyclic diagonals that are not zero. Diagonal o is a list whose element
/// j is the entry (j, j + o modulo n).
pub type Diagonals = BTreeMap<usize, Vec<Complex64>>;

/// The direction of a map between slots and coefficients.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From numbers in slots to the same numbers in coefficients.
    ToCoefficients,
    /// From numbers in coefficients to the same numbers in slots.
    ToSlots,
}

/// Returns the matrices of a map between the n slots and the coefficients, in the order in which they are applied.
/// Their number is `stages`, but at most log2 n. The products of the two directions' matrices are inverses of each
/// other.
pub fn factors(n: usize, stages: usize, direction: Direction) -> Vec<Diagonals> {
    let mut blocks: Vec<usize> = (1..=n.trailing_zeros()).map(|layer| 1 << layer).collect();
    if direction == Direction::ToSlots {
        blocks.reverse();
    }
    let mut made = Vec::with_capacity(stages);
    let mut blocks = blocks.into_iter();
    for count in layers(n, stages) {
        let of_stage = blocks.by_ref().take(count);
        let product = of_stage.fold(identity(n), |product, block| {
            times(n, &butterflies(n, block, direction), &product)
        });
        made.push(product);
    }
    made
}

/// Returns the number of layers of butterflies in each matrix of a map of `n` slots and `stages` matrices, in the
/// order in which the matrices are applied.
pub fn layers(n: usize, stages: usize) -> impl Iterator<Item = usize> {
    let depth = n.trailing_zeros() as usize;
    let stages = stages.clamp(1, depth.max(1));
    (0..stages).map(move |stage| depth * (stage + 1) / stages - depth * stage / stages)
}

fn identity(n: usize) -> Diagonals {
    Diagonals::from([(0, vec![Complex64::new(1.0, 0.0); n])])
}

/// Returns the matrix of a layer of butterflies on blocks of `block` values in a vector of `n`. The matrix for
/// [`Direction::ToSlots`] is the inverse of that for [`Direction::ToCoefficients`].
fn butterflies(n: usize, block: usize, direction: Direction) -> Diagonals {
    let half = block / 2;
    let zero = Complex64::new(0.0, 0.0);
    let (mut own, mut above, mut below) = (vec![zero; n], vec![zero; n], vec![zero; n]);
    let roots = roots(half, block);
    for j in 0..n {
        let (place, root) = (j % block, roots[j % half]);
        let one = Complex64::new(1.0, 0.0);
        match (direction, place < half) {
            (Direction::ToCoefficients, true) => (own[j], above[j]) = (one, root),
            (Direction::ToCoefficients, false) => (below[j], own[j]) = (one, -root),
            (Direction::ToSlots, true) => (own[j], above[j]) = (one / 2.0, one / 2.0),
            (Direction::ToSlots, false) => {
                (below[j], own[j]) = (root.conj() / 2.0, -root.conj() / 2.0);
            }
        }
    }
    let mut all = identity(n);
    all.insert(0, own);
    // In a layer of one block, the diagonals above and below are the same one.
    for (offset, diagonal) in [(half, above), (n - half, below)] {
        let sum = all.entry(offset).or_insert_with(|| vec![zero; n]);
        sum.iter_mut().zip(diagonal).for_each(|(x, y)| *x += y);
    }
    all
}

/// Returns the roots of unity e^(2 pi i (-3)^j / (4 `block`)) for j from 0 to `half` - 1.
fn roots(half: usize, block: usize) -> Vec<Complex64> {
    let order = 4 * block as u64;
    let exponents = std::iter::successors(Some(1u64), |e| Some(e * (order - 3) % order));
    let root = |e| Complex64::from_polar(1.0, 2.0 * PI * e as f64 / order as f64);
    exponents.take(half).map(root).collect()
}

/// Returns the product of two matrices of order `n` that are given by their diagonals.
fn times(n: usize, a: &Diagonals, b: &Diagonals) -> Diagonals {
    let mut product = Diagonals::new();
    for (o, x) in a {
        for (p, y) in b {
            let sum = product.entry((o + p) % n);
            let sum = sum.or_insert_with(|| vec![Complex64::new(0.0, 0.0); n]);
            let turned = y.iter().cycle().skip(*o);
            let terms = x.iter().zip(turned);
            sum.iter_mut()
                .zip(terms)
                .for_each(|(s, (x, y))| *s += x * y);
        }
    }
    product
}

/// Converts turned slots to the slots of CKKS, or back: the numbers at odd places are conjugated.
pub fn turned(slots: impl IntoIterator<Item = Complex64>) -> Vec<Complex64> {
    let slots = slots.into_iter().enumerate();
    let turn = |(j, z): (usize, Complex64)| if j % 2 == 0 { z } else { z.conj() };
    slots.map(turn).collect()
}
