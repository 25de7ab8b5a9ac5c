// SPDX-License-Identifier: Apache-2.0
//! SEAL's two uses of BLAKE2: the hash that names parameters, and the Blake2Xb generator that expands a seed.
//!
//! BLAKE2X ("BLAKE2X", Aumasson, Neves, O'Hearn, Winnerlein, 2016) hashes its input to a 64-byte root. Then it hashes
//! the root once for each 64 bytes of output, with that block's number and the output length as parameters.

use blake2b_simd::Params as Blake2b;
use ringmill_math::{MathError, Modulus};
use zeroize::Zeroizing;

/// The length in bytes of a seed of SEAL's random generator.
pub const SEED_BYTES: usize = 64;

/// The number of bytes that SEAL draws from its generator at a time. They are one output of Blake2Xb.
const BLOCK_BYTES: usize = 4096;
const HASH_BYTES: usize = 64;

/// Returns the 32-byte BLAKE2b hash of the little-endian bytes of `words`.
pub(super) fn hash_words(words: &[u64]) -> [u8; 32] {
    let mut state = Blake2b::new().hash_length(32).to_state();
    for word in words {
        state.update(&word.to_le_bytes());
    }
    let mut out = [0; 32];
    out.copy_from_slice(state.finalize().as_bytes());
    out
}

/// SEAL's default random generator: block number `counter` is Blake2Xb(key = seed, input = counter), 4096 bytes long.
pub struct Blake2xb {
    seed: Zeroizing<[u8; SEED_BYTES]>,
    counter: u64,
    block: Box<[u8; BLOCK_BYTES]>,
    used: usize,
}

impl Blake2xb {
    pub fn new(seed: Zeroizing<[u8; SEED_BYTES]>) -> Self {
        Self {
            seed,
            counter: 0,
            block: Box::new([0; BLOCK_BYTES]),
            used: BLOCK_BYTES,
        }
    }

    fn refill(&mut self) {
        let length = (BLOCK_BYTES as u64) << 32;
        let root = Blake2b::new()
            .hash_length(HASH_BYTES)
            .key(&*self.seed)
            .node_offset(length)
            .to_state()
            .update(&self.counter.to_le_bytes())
            .finalize();
        let mut leaf = Blake2b::new();
        leaf.hash_length(HASH_BYTES)
            .fanout(0)
            .max_depth(0)
            .max_leaf_length(HASH_BYTES as u32)
            .inner_hash_length(HASH_BYTES);
        for (i, chunk) in (0u64..).zip(self.block.chunks_exact_mut(HASH_BYTES)) {
            chunk.copy_from_slice(
                leaf.node_offset(length | i)
                    .hash(root.as_bytes())
                    .as_bytes(),
            );
        }
        self.counter = self.counter.wrapping_add(1);
        self.used = 0;
    }

    /// Returns the next 64 bits of the generator, as a little-endian word.
    pub fn word(&mut self) -> u64 {
        // Draws are always whole words, and a block is a whole number of words, so a word never spans two blocks.
        if self.used >= BLOCK_BYTES {
            self.refill();
        }
        let mut word = [0; 8];
        if let Some(bytes) = self
            .block
            .get(self.used..)
            .and_then(|left| left.first_chunk())
        {
            word = *bytes;
        }
        self.used = self.used.saturating_add(8);
        u64::from_le_bytes(word)
    }

    /// Samples one uniform polynomial as SEAL does, with `n` residues modulo each modulus in turn. It first draws a
    /// word for each residue. Words too large to give uniform residues are then replaced, in order, by words drawn
    /// after them.
    pub fn uniform(&mut self, moduli: &[u64], n: usize) -> Result<Vec<u64>, MathError> {
        let mut out: Vec<u64> = (0..moduli.len().saturating_mul(n))
            .map(|_| self.word())
            .collect();
        for (&q, limb) in moduli.iter().zip(out.chunks_exact_mut(n)) {
            let modulus = Modulus::new(q)?;
            let bound = (u64::MAX - 1).saturating_sub(modulus.reduce(u64::MAX));
            for x in limb {
                while *x >= bound {
                    *x = self.word();
                }
                *x = modulus.reduce(*x);
            }
        }
        Ok(out)
    }
}
