// SPDX-License-Identifier: Apache-2.0
//! Series of Chebyshev polynomials of the first kind, T_j(cos u) = cos(j u).

/// Divides a Chebyshev series of degree below 2 m by T_m. Returns the coefficients of the quotient and of the remainder,
/// both of degree below m, by T_(m+i) = 2 T_i T_m - T_(m-i).
///
/// ```
/// // 1 + 2 T_1 + 3 T_2 + 4 T_3 = (3 + 8 T_1) T_2 + (1 - 2 T_1).
/// let (quotient, remainder) = ringmill_math::chebyshev::divided(&[1.0, 2.0, 3.0, 4.0], 2);
/// assert_eq!((quotient, remainder), (vec![3.0, 8.0], vec![1.0, -2.0]));
/// ```
pub fn divided(series: &[f64], m: usize) -> (Vec<f64>, Vec<f64>) {
    let (low, high) = series.split_at(m.min(series.len()));
    let (mut low, mut high) = (low.to_vec(), high.to_vec());
    for (i, c) in high.iter_mut().enumerate().skip(1) {
        if let Some(below) = m.checked_sub(i).and_then(|at| low.get_mut(at)) {
            *below -= *c;
        }
        *c *= 2.0;
    }
    (high, low)
}
