// SPDX-License-Identifier: Apache-2.0
//! The canonical embedding: converts between complex slots and real coefficients, by one complex FFT of n points for n
//! slots.
//!
//! The polynomial m of n slots lies in the ring of degree 2n. In the full ring of degree N, its coefficients are N / 2n
//! positions apart. Let I be the imaginary unit. Slot i is m(zeta^(3^i)) with zeta = e^(pi I / 2n). Either 3^i or -3^i
//! is 1 mod 4, so slot i or its conjugate is m(zeta^(4k+1)) for one k. As zeta^((4k+1) n) = I, m(zeta^(4k+1)) is the
//! sum over j < n of (m_j + I m_(j+n)) zeta^j e^(2 pi I j k / n).

use std::f64::consts::PI;
use std::sync::Arc;

use num_complex::Complex64;
use rustfft::{Fft, FftPlanner};
use zeroize::Zeroize;

/// The tables of the canonical embedding for one number of slots n.
pub(super) struct Embedding {
    forward: Arc<dyn Fft<f64>>,
    inverse: Arc<dyn Fft<f64>>,
    /// The powers zeta^j for j < n, where zeta = e^(pi I / 2n), I is the imaginary unit, and n is the number of slots.
    twist: Vec<Complex64>,
    /// For each slot of a polynomial m, the number k for which the slot or its conjugate is m(zeta^(4k+1)), with
    /// zeta as in `twist`. The flag says whether it is the conjugate.
    place: Vec<(u32, bool)>,
}

/// The buffers of a transform for n slots: n complex values, and scratch memory of the FFT (at most n values).
#[derive(Default)]
pub(super) struct Points {
    values: Vec<Complex64>,
    scratch: Vec<Complex64>,
}

impl Zeroize for Points {
    fn zeroize(&mut self) {
        for points in [&mut self.values, &mut self.scratch] {
            for z in points.iter_mut() {
                z.re.zeroize();
                z.im.zeroize();
            }
            points.clear();
        }
    }
}

impl Points {
    fn transform(&mut self, fft: &Arc<dyn Fft<f64>>) {
        let needed = fft.get_inplace_scratch_len();
        if self.scratch.len() < needed {
            self.scratch.resize(needed, Complex64::default());
        }
        fft.process_with_scratch(&mut self.values, &mut self.scratch);
    }
}

impl Embedding {
    /// Makes the tables for `n` slots, a power of two.
    pub fn new(n: usize) -> Self {
        let mut planner = FftPlanner::new();
        let angle = PI / (2 * n) as f64;
        let twist = (0..n)
            .map(|j| Complex64::from_polar(1.0, angle * j as f64))
            .collect();
        let mask = 4 * n as u64 - 1;
        let mut power = 1u64;
        let place = (0..n).map(|_| {
            let (exponent, conjugate) = if power & 3 == 1 {
                (power, false)
            } else {
                (4 * n as u64 - power, true)
            };
            power = (power * 3) & mask;
            ((exponent / 4) as u32, conjugate)
        });
        let place = place.collect();
        Self {
            forward: planner.plan_fft_forward(n),
            inverse: planner.plan_fft_inverse(n),
            twist,
            place,
        }
    }

    /// Computes the 2n coefficients, times `factor`, of the polynomial whose n slots are `slots`. `slots` must have n
    /// items, because slots that it lacks keep the values that `points` had.
    pub fn to_coefficients(
        &self,
        slots: impl Iterator<Item = Complex64>,
        factor: f64,
        points: &mut Points,
        coefficients: &mut Vec<f64>,
    ) {
        let n = self.twist.len();
        points.values.resize(n, Complex64::default());
        for (z, &(k, conjugate)) in slots.zip(&self.place) {
            if let Some(point) = points.values.get_mut(k as usize) {
                *point = if conjugate { z.conj() } else { z };
            }
        }
        points.transform(&self.forward);
        let factor = factor / n as f64;
        coefficients.resize(2 * n, 0.0);
        let (low, high) = coefficients.split_at_mut(n);
        let twisted = points.values.iter().zip(&self.twist);
        for ((re, im), (z, w)) in low.iter_mut().zip(high).zip(twisted) {
            let c = z * w.conj() * factor;
            (*re, *im) = (c.re, c.im);
        }
    }

    /// Computes the first `slots` of the n slots, times `factor`, of the polynomial whose 2n coefficients are
    /// `coefficients`, the constant one first.
    pub fn to_slots<'a>(
        &'a self,
        coefficients: &[f64],
        factor: f64,
        points: &'a mut Points,
        slots: usize,
    ) -> impl Iterator<Item = Complex64> + 'a {
        let (low, high) = coefficients.split_at(coefficients.len() / 2);
        points.values.resize(self.twist.len(), Complex64::default());
        let pairs = low.iter().zip(high).zip(&self.twist);
        for (point, ((&re, &im), w)) in points.values.iter_mut().zip(pairs) {
            *point = Complex64::new(re, im) * w * factor;
        }
        points.transform(&self.inverse);
        let values = &points.values;
        self.place.iter().take(slots).map(|&(k, conjugate)| {
            let z = values.get(k as usize).copied().unwrap_or_default();
            if conjugate { z.conj() } else { z }
        })
    }
}
