// SPDX-License-Identifier: Apache-2.0
//! Counts the least work of one bootstrap from the sizes of its parameter set: butterflies, and words of the keys. The
//! count is the same on every computer.

use ringmill_math::torus::Coefficients;

use super::Params;
use super::keys::gadget_ciphertexts;

/// The numbers of operations on words that one bootstrap with its key switch takes at least.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Floor {
    /// The number of butterflies of all transforms. With k mask polynomials and l digits, a step of the blind rotation
    /// has (k + 1) (l + 1) transforms for each prime of the products. A transform has N / 2 log2 N butterflies.
    pub butterflies: u64,
    /// The number of words of the bootstrapping key in transform form. Each is read, multiplied and added once.
    pub products: u64,
    /// The number of words of the key-switching key. Each is read, multiplied and added once.
    pub switched: u64,
    /// Two numbers of bytes: those of a word of the transforms, and those of a word of the key switch.
    pub bytes: (u64, u64),
}

impl Floor {
    /// Returns the bytes of both evaluation keys as bootstraps on the CPU read them: the bootstrapping key in transform
    /// form, the switching key expanded.
    pub fn key_bytes(&self) -> u64 {
        let (transform, switch) = self.bytes;
        transform * self.products + switch * self.switched
    }

    /// Returns the bytes that all operations touch, the measure that compares parameter sets. A butterfly is a product
    /// and two sums. A word of a key is a product and a sum, and comes from memory. Each counts as the bytes of its
    /// word, since a vector or a line of memory holds twice as many 32-bit words as 64-bit words.
    pub fn work(&self) -> u64 {
        let (transform, switch) = self.bytes;
        transform * (self.butterflies + self.products) + switch * self.switched
    }
}

impl Params {
    /// Returns the least work of one bootstrap with its key switch under these parameters.
    pub fn floor(&self) -> Floor {
        let s = self.sizes();
        let (n, lanes) = (s.degree() as u64, self.ring().lanes() as u64);
        let (cols, levels) = (s.k.0 as u64 + 1, s.bootstrap.levels as u64);
        let transforms = s.steps() as u64 * cols * (levels + 1) * lanes;
        let narrow = self.coefficients().modulus() <= 1 << 32;
        // Powers of two are lifted to primes of 50 bits or more, so their words have 8 bytes.
        let lifted = matches!(self.coefficients(), Coefficients::Word(_));
        Floor {
            butterflies: transforms * n / 2 * u64::from(s.log_degree),
            products: gadget_ciphertexts(self) as u64 * s.rows() as u64 * cols * n * lanes,
            switched: (s.large_dimension() * s.key_switch.levels * (s.n.0 + 1)) as u64,
            bytes: (
                if narrow && !lifted { 4 } else { 8 },
                if narrow { 4 } else { 8 },
            ),
        }
    }
}
