// SPDX-License-Identifier: Apache-2.0
//! The moduli and types that all procedures of a TFHE bootstrap share.

use ringmill_isa::mid::{
    Form, LimbType, LweDimension, LweTableType, LweType, ModulusId, ProcBuilder, TableModulus,
};
use ringmill_math::torus::{Coefficients, Lift};
use ringmill_math::{Modulus, Ring};

use super::RotationInput;
use crate::tfhe::TfheError;
use crate::tfhe::params::Params;

/// The sizes and types that all procedures of a TFHE bootstrap share.
pub(super) struct Shape<'a> {
    pub params: &'a Params,
    pub moduli: Vec<TableModulus>,
    /// The moduli of the transforms of products. If q is prime, q itself is the only one.
    pub lanes: Vec<ModulusId>,
    /// The primes of the transforms, one for each entry of `lanes`.
    pub primes: Vec<Modulus>,
}

pub(super) const Q: ModulusId = ModulusId(0);

impl<'a> Shape<'a> {
    pub(super) fn new(params: &'a Params) -> Self {
        let q = params.coefficients().into();
        let primes = match (params.ring().lift(), params.coefficients()) {
            (Lift::Native, Coefficients::Prime(q)) => vec![q],
            // Unreachable: a ring without a lift has a prime q.
            (Lift::Native, Coefficients::Word(_)) => Vec::new(),
            (Lift::One(p), _) => vec![p],
            (Lift::Two(both), _) => both.to_vec(),
        };
        let lifted = params.ring().lift() != Lift::Native;
        let mut moduli = vec![q];
        if lifted {
            moduli.extend(primes.iter().map(|p| TableModulus::Prime(p.value())));
        }
        let first = u16::from(lifted);
        Self {
            params,
            lanes: (first..).map(ModulusId).take(primes.len()).collect(),
            primes,
            moduli,
        }
    }

    pub(super) fn log_n(&self) -> u8 {
        self.params.sizes().log_degree
    }

    pub(super) fn limb(&self, modulus: ModulusId, form: Form) -> LimbType {
        LimbType {
            ring: Ring::full(self.log_n()),
            modulus,
            form,
        }
    }

    pub(super) fn cols(&self) -> usize {
        self.params.sizes().k.0 + 1
    }

    pub(super) fn rows(&self) -> usize {
        self.params.sizes().rows()
    }

    pub(super) fn builder(&self, name: &str) -> Result<ProcBuilder, TfheError> {
        Ok(ProcBuilder::new(name, self.log_n(), &self.moduli)?)
    }

    fn vector(&self, dimension: usize) -> LweType {
        LweType {
            dimension: LweDimension(dimension as u32), // at most 2^14, by the builder's ranges
            modulus: Q,
        }
    }

    pub(super) fn small(&self) -> LweType {
        self.vector(self.params.sizes().n.0)
    }

    pub(super) fn large(&self) -> LweType {
        self.vector(self.params.sizes().large_dimension())
    }

    pub(super) fn switch_key(&self) -> LweTableType {
        let s = self.params.sizes();
        LweTableType {
            row: self.small(),
            rows: (s.large_dimension() * s.key_switch.levels) as u32, // below 2^20, by the builder's ranges
        }
    }

    /// Returns the number of key polynomials that one step of `bits` secret bits takes.
    pub(super) fn key_limbs(&self, bits: usize) -> usize {
        ((1 << bits) - 1) * self.rows() * self.cols() * self.lanes.len()
    }

    /// Returns the polynomials of gadget ciphertext `at`, in the order in which programs and procedures take them.
    pub(super) fn places(&self, at: usize) -> impl Iterator<Item = RotationInput> {
        let (rows, cols, lanes) = (self.rows(), self.cols(), self.lanes.len());
        (0..rows * cols * lanes).map(move |n| RotationInput::Key {
            at,
            lane: n % lanes,
            col: n / lanes % cols,
            row: n / lanes / cols,
        })
    }
}
