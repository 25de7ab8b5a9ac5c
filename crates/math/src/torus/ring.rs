// SPDX-License-Identifier: Apache-2.0
//! The ring of ciphertext polynomials, with the transforms that multiply in it.

use zeroize::Zeroizing;

use super::key::KeyWords;
use super::lane::Lane;
use super::{Coefficients, Gadget, KeyRows, KeyShape, products};
use crate::kernels::{self, check_len};
use crate::modmul::Solinas52;
use crate::modulus::above;
use crate::{MathError, Modulus, Ring};

/// The moduli in which products of TFHE polynomials modulo q are computed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lift {
    /// The products are computed modulo q itself, which is a prime. They are right whatever their
    /// size.
    Native,
    /// The products are computed modulo one prime. They are exact if the results, as integers, are
    /// below half of the prime in magnitude.
    One(Modulus),
    /// The products are computed modulo two primes. They are exact if the results, as integers, are
    /// below half of the primes' product in magnitude.
    Two([Modulus; 2]),
}

/// The ring of TFHE polynomials modulo X^N + 1 with coefficients modulo q, with transforms modulo
/// one prime or two. A prime with its transform is called a *lane*.
pub struct TorusRing {
    q: Coefficients,
    lift: Lift,
    n: usize,
    lanes: Vec<Lane>,
}

/// Gadget ciphertexts of one shape in transform form, modulo each prime of the ring's transforms.
#[derive(Clone)]
pub struct TransformedKey {
    shape: KeyShape,
    lanes: Vec<KeyWords>,
}

impl TorusRing {
    /// The largest prime of a transform, whose residues 52-bit multiply-add can still multiply.
    pub const MAX_PRIME: u64 = Solinas52::P;

    /// Makes the ring of polynomials modulo X^N + 1 with coefficients modulo q, for N = 2^`log_n`. `lift` has the
    /// primes of its transforms.
    ///
    /// # Errors
    /// [`MathError`] if a modulus of a transform is no prime, is above 2^52 - 2^12 + 1 or has no root of unity of the
    /// needed order. Also if q is a power of two for [`Lift::Native`] or a prime for another lift, if the two primes
    /// are equal, or if `log_n` is not from 1 to 17.
    pub fn new(q: Coefficients, log_n: u8, lift: Lift) -> Result<Self, MathError> {
        let primes = match (lift, q) {
            (Lift::Native, Coefficients::Prime(q)) => vec![q],
            (Lift::Native, Coefficients::Word(_)) => {
                return Err(MathError::OutOfRange {
                    what: "ciphertext modulus of transforms without a lift",
                    expected: "a prime",
                    got: format!("2^{}", q.bits()),
                });
            }
            (Lift::One(_) | Lift::Two(_), Coefficients::Prime(q)) => {
                return Err(MathError::OutOfRange {
                    what: "ciphertext modulus of lifted transforms",
                    expected: "a power of two (a prime is transformed as it is)",
                    got: q.value().to_string(),
                });
            }
            (Lift::One(p), _) => vec![p],
            (Lift::Two([a, b]), _) if a == b => {
                return Err(MathError::NotCoprime {
                    a: a.value(),
                    b: b.value(),
                });
            }
            (Lift::Two(both), _) => both.to_vec(),
        };
        let lane = |p: Modulus| {
            if p.value() > Self::MAX_PRIME {
                return Err(MathError::OutOfRange {
                    what: "modulus of a transform",
                    expected: "at most 2^52 - 2^12 + 1",
                    got: p.value().to_string(),
                });
            }
            Lane::new(p, Ring::full(log_n))
        };
        Ok(Self {
            q,
            lift,
            n: Ring::full(log_n).len(),
            lanes: primes.into_iter().map(lane).collect::<Result<_, _>>()?,
        })
    }

    pub fn coefficients(&self) -> Coefficients {
        self.q
    }

    pub fn lift(&self) -> Lift {
        self.lift
    }

    /// Returns the ring degree N.
    pub fn degree(&self) -> usize {
        self.n
    }

    /// Returns the number of lanes, primes with a transform: 1 or 2.
    pub fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// Returns the mask q - 1 that reduces modulo q, for a modulus q that is a power of two.
    fn mask(&self) -> u64 {
        (self.q.modulus() - 1) as u64
    }

    fn lane(&self, lane: usize) -> Result<&Lane, MathError> {
        self.lanes.get(lane).ok_or_else(|| MathError::OutOfRange {
            what: "lane of a torus ring",
            expected: "below the number of its primes",
            got: lane.to_string(),
        })
    }

    /// Computes the signed digits of the coefficients of a polynomial x, as residues modulo the prime of a lane
    /// ([`Gadget::decompose`]).
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] if there is no such lane, and the errors of [`Gadget::decompose`].
    pub fn decompose(
        &self,
        lane: usize,
        gadget: &Gadget,
        out: &mut [u64],
        x: &[u64],
    ) -> Result<(), MathError> {
        gadget.decompose(self.lane(lane)?.p, out, x)
    }

    /// Computes, in constant time, the residues modulo the prime of a lane of the coefficients of a polynomial x. The
    /// coefficients are residues modulo q and taken nearest to 0.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] if there is no such lane, [`MathError::Length`] if the lengths differ.
    pub fn residues(&self, lane: usize, out: &mut [u64], x: &[u64]) -> Result<(), MathError> {
        let p = self.lane(lane)?.p;
        check_len("coefficients", out.len(), x.len())?;
        for (out, &x) in out.iter_mut().zip(x) {
            *out = p.from_i64(self.q.centred(x));
        }
        Ok(())
    }

    /// Transforms several polynomials modulo the prime of a lane, in place. They lie one after the other in memory.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] if there is no such lane, [`MathError::Length`] unless all polynomials have N
    /// coefficients.
    pub fn forward(&self, lane: usize, polynomials: &mut [u64]) -> Result<(), MathError> {
        let lane = self.lane(lane)?;
        (polynomials.chunks_mut(self.n)).try_for_each(|x| lane.forward(x))
    }

    /// Computes, in transform form modulo the prime of a lane, out(c) = the sum over rows r of digits(r) key(r, c), for
    /// each column c of a gadget ciphertext. `digits` has one polynomial for each row, `out` one for each column.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] if there is no such lane, [`MathError::Length`] if a length does not fit the shape and
    /// the ring.
    pub fn accumulate(
        &self,
        lane: usize,
        shape: KeyShape,
        digits: &[u64],
        key: KeyRows<'_>,
        out: &mut [u64],
    ) -> Result<(), MathError> {
        let lane = self.lane(lane)?;
        check_len("coefficients of the key", self.n, shape.n())?;
        check_len("digits", shape.rows() * self.n, digits.len())?;
        check_len("sums", shape.cols() * self.n, out.len())?;
        let words = match key {
            KeyRows::Narrow(words) => words.len(),
            KeyRows::Wide(words) => words.len(),
        };
        check_len("words of the key", shape.words(), words)?;
        products::accumulate(lane.p, shape, digits, key, out);
        Ok(())
    }

    /// Computes the transform of X^a - 1 modulo the prime of a lane. The exponent a may be any number and counts modulo
    /// 2N.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] if there is no such lane, [`MathError::Length`] unless `out` has N words.
    pub fn monomial(&self, lane: usize, a: usize, out: &mut [u64]) -> Result<(), MathError> {
        check_len("transform of a monomial", self.n, out.len())?;
        self.lane(lane)?.monomials.of(a, out);
        Ok(())
    }

    /// Computes, in transform form modulo the prime of a lane, out(c) = the sum over u of weights(u) sums(u, c) for
    /// each column c. Here u numbers the gadget ciphertexts of a step of a blind rotation. `weights` has one polynomial
    /// for each u, `sums` has `cols` polynomials for each u, and `out` has `cols`.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] if there is no such lane or more than 32 weights, [`MathError::Length`] if a length
    /// does not fit.
    pub fn combine(
        &self,
        lane: usize,
        cols: usize,
        weights: &[u64],
        sums: &[u64],
        out: &mut [u64],
    ) -> Result<(), MathError> {
        let p = self.lane(lane)?.p;
        let terms = weights.len() / self.n;
        check_len("weights", terms * self.n, weights.len())?;
        check_len("sums", terms * cols * self.n, sums.len())?;
        check_len("combined sums", cols * self.n, out.len())?;
        if terms > KeyShape::MAX_ROWS {
            return Err(MathError::OutOfRange {
                what: "terms of a weighted sum",
                expected: "at most 32",
                got: terms.to_string(),
            });
        }
        products::combine(p, [self.n, terms, cols], weights, sums, out);
        Ok(())
    }

    /// Adds to acc, modulo q, the polynomial whose transforms are `first` and `second`, one for each lane. `second` is
    /// empty if there is one lane. The call overwrites the transforms.
    ///
    /// # Errors
    /// [`MathError::Length`] unless acc and each transform have N words.
    pub fn inverse_add(
        &self,
        first: &mut [u64],
        second: &mut [u64],
        acc: &mut [u64],
    ) -> Result<(), MathError> {
        check_len("accumulator", self.n, acc.len())?;
        check_len("first lane", self.n, first.len())?;
        check_len("second lane", (self.lanes() - 1) * self.n, second.len())?;
        self.lane(0)?.inverse(first)?;
        match self.lift {
            Lift::Native => self.q.add_assign(acc, first)?,
            Lift::One(p) => add_centred(self.mask(), p.value(), acc, first),
            Lift::Two([p0, p1]) => {
                self.lane(1)?.inverse(second)?;
                // x = x0 + p0 t with t = (x1 - x0) / p0 mod p1.
                let inverse = p1.inv(p1.reduce(p0.value()))?;
                let t = second;
                let mut reduced = [0; 64];
                for (t, x) in t.chunks_mut(reduced.len()).zip(first.chunks(reduced.len())) {
                    let reduced = &mut reduced[..x.len()];
                    kernels::conv(p0, p1, reduced, x)?;
                    kernels::sub_assign(p1, t, reduced)?;
                }
                kernels::mul_scalar_assign(p1, t, inverse);
                let garner = Garner {
                    p0: p0.value(),
                    half0: p0.value() / 2,
                    half1: p1.value() / 2,
                    modulus: p0.value().wrapping_mul(p1.value()),
                };
                add_composed(self.mask(), garner, acc, first, t);
            }
        }
        Ok(())
    }

    /// Returns a key with room for `count` gadget ciphertexts of a shape, all zero.
    ///
    /// # Errors
    /// [`MathError::Length`] if the shape has another number of coefficients than the ring, [`MathError::Halt`] if
    /// there is no memory for the key.
    pub fn key(&self, shape: KeyShape, count: usize) -> Result<TransformedKey, MathError> {
        check_len("coefficients of the key", self.n, shape.n())?;
        let words = shape.words().saturating_mul(count);
        ringmill_limits::room(
            "a bootstrapping key in transform form",
            8 * (words * self.lanes()) as u64,
        )?;
        let lanes = self.lanes.iter();
        Ok(TransformedKey {
            shape,
            lanes: lanes.map(|lane| KeyWords::zeroed(lane.p, words)).collect(),
        })
    }

    /// Transforms one polynomial of residues modulo q, taken nearest to 0, modulo the prime of each lane. It writes the
    /// transforms to row `row` and column `col` of gadget ciphertext number `at` of a key that this ring made
    /// ([`TorusRing::key`]).
    ///
    /// # Errors
    /// [`MathError::Length`] unless x has N coefficients.
    ///
    /// # Panics
    /// If the place is beyond the end of the key. A row or a column outside the key's shape may be the place of another
    /// polynomial, so the caller must check both.
    pub fn put(
        &self,
        key: &mut TransformedKey,
        at: usize,
        [row, col]: [usize; 2],
        x: &[u64],
    ) -> Result<(), MathError> {
        check_len("row of a key", self.n, x.len())?;
        let mut evaluations = Zeroizing::new(vec![0; self.n]);
        for (lane, words) in key.lanes.iter_mut().enumerate() {
            self.residues(lane, &mut evaluations, x)?;
            self.forward(lane, &mut evaluations)?;
            words.put(key.shape, at, row, col, &evaluations);
        }
        Ok(())
    }
}

impl TransformedKey {
    pub fn shape(&self) -> KeyShape {
        self.shape
    }

    /// Returns the rows of gadget ciphertext number `at` modulo the prime of a lane, or no rows if there is no such
    /// lane or ciphertext.
    pub fn rows(&self, lane: usize, at: usize) -> KeyRows<'_> {
        match self.lanes.get(lane) {
            Some(words) => words.rows(self.shape, at),
            None => KeyRows::Wide(&[]),
        }
    }

    /// Overwrites all words of the key with zeros. It is for keys that are secret.
    pub fn wipe(&mut self) {
        self.lanes.iter_mut().for_each(KeyWords::wipe);
    }

    /// Returns the bytes of memory that the key takes.
    pub fn bytes(&self) -> usize {
        self.lanes.iter().map(KeyWords::bytes).sum()
    }
}

/// Two primes p0 and p1 of the transforms, with the constants that compose a residue modulo p0 p1
/// from the residues modulo p0 and modulo p1.
#[derive(Clone, Copy)]
pub(super) struct Garner {
    p0: u64,
    half0: u64,
    half1: u64,
    /// The product p0 p1 of the two primes of the transforms, modulo 2^64.
    modulus: u64,
}

super::levels! {
    /// Adds x to acc modulo a power of two, whose mask is `mask`. Each residue x modulo p stands
    /// for the integer nearest to 0.
    fn add_centred(mask: u64, p: u64, acc: &mut [u64], x: &[u64]) {
        for (acc, &x) in acc.iter_mut().zip(x) {
            let off = p & above(x, p / 2);
            *acc = acc.wrapping_add(x).wrapping_sub(off) & mask;
        }
    }
}

super::levels! {
    /// Adds x0 + p0 t to acc modulo a power of two, whose mask is `mask`. Each x0 + p0 t is a
    /// residue modulo p0 p1, the primes of `garner`, and stands for the integer nearest to 0.
    fn add_composed(mask: u64, garner: Garner, acc: &mut [u64], x0: &[u64], t: &[u64]) {
        for ((acc, &x0), &t) in acc.iter_mut().zip(x0).zip(t) {
            // As p0 p1 / 2 = p0 (p1 - 1) / 2 + p0 / 2, the digits x0 and t are compared with p0 / 2 and p1 / 2. The
            // mask of the lower digit, 0 or -1, is the borrow of the upper one.
            let low = above(x0, garner.half0);
            let large = above(t.wrapping_sub(low), garner.half1);
            let off = garner.modulus & large;
            let x = t.wrapping_mul(garner.p0).wrapping_add(x0).wrapping_sub(off);
            *acc = acc.wrapping_add(x) & mask;
        }
    }
}
