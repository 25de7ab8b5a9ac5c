// SPDX-License-Identifier: Apache-2.0
//! Random numbers: a ChaCha20 generator, and the expansion of public seeds that hardware repeats.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod source;

pub use source::{PrngSource, Seeded};

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::kernels::Backend;
use crate::wipe::off_the_stack;
use crate::{MathError, Modulus, WordModulus};

/// The bytes of the generator's key.
const KEY: usize = 32;

/// The bytes of keystream in the generator's buffer, without the key.
const BUFFER: usize = 4096;

/// The most 64-bit random numbers that a sampler gets from the generator at a time.
pub(crate) const BLOCK_WORDS: usize = 256;

/// A ChaCha20 generator. Its state is wiped on drop and never printed.
///
/// Make a generator for one operation and drop it: if the process is copied, both copies of a generator return the same
/// numbers. A structure that lives longer holds a [`PrngSource`].
///
/// The 256-bit key is replaced by the generator's own output at every refill of the buffer. So somebody who sees the state
/// later learns no numbers that were drawn earlier.
#[derive(ZeroizeOnDrop)]
pub struct Prng {
    /// The generator's memory: the ChaCha20 key of the next refill, then the buffer of random
    /// bytes. A refill overwrites both with one piece of keystream.
    state: Box<[u8; KEY + BUFFER]>,
    /// The number of bytes of `state` that are used up: those of the key, and the random bytes that
    /// were returned already.
    used: usize,
}

impl Prng {
    /// Returns a generator that the operating system seeds.
    ///
    /// # Errors
    /// [`MathError::OsRandom`] if the operating system gives no random bytes.
    pub fn from_os() -> Result<Self, MathError> {
        let mut seed = Zeroizing::new([0u8; 32]);
        getrandom::fill(seed.as_mut()).map_err(|e| MathError::OsRandom(e.to_string()))?;
        Ok(Self::seeded(&seed))
    }

    /// Returns a generator that gives the same stream on every run. It is for tests that must repeat, and for nothing
    /// else.
    pub fn from_seed_for_reproducible_tests_only(seed: [u8; 32]) -> Self {
        Self::seeded(&seed)
    }

    fn seeded(seed: &[u8; KEY]) -> Self {
        let mut state = Box::new([0; KEY + BUFFER]);
        state[..KEY].copy_from_slice(seed);
        Self {
            state,
            used: KEY + BUFFER,
        }
    }

    fn refill(&mut self) {
        let mut key = Zeroizing::new([0u8; KEY]);
        key.copy_from_slice(&self.state[..KEY]);
        // Vectors hold the key and the keystream sixteen blocks at a time, more than there are registers.
        off_the_stack(|| keystream(&key, 0, 0, self.state.as_mut_slice()));
        self.used = KEY;
    }

    /// Fills `out` with random bytes.
    pub fn fill_bytes(&mut self, mut out: &mut [u8]) {
        while !out.is_empty() {
            if self.used == self.state.len() {
                self.refill();
            }
            let take = out.len().min(self.state.len() - self.used);
            let (now, later) = out.split_at_mut(take);
            let fresh = &mut self.state[self.used..self.used + take];
            now.copy_from_slice(fresh);
            fresh.fill(0);
            self.used += take;
            out = later;
        }
    }

    /// Returns 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.fill_bytes(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// Calls `f` with blocks of independent 64-bit random numbers, `n` numbers in all blocks
    /// together. It is faster than `n` calls of [`Prng::next_u64`].
    pub(crate) fn for_each_block(&mut self, n: usize, mut f: impl FnMut(&[u64])) {
        let mut bytes = Zeroizing::new([0u8; 8 * BLOCK_WORDS]);
        let mut words = Zeroizing::new([0u64; BLOCK_WORDS]);
        let mut left = n;
        while left > 0 {
            let now = left.min(BLOCK_WORDS);
            self.fill_bytes(&mut bytes[..8 * now]);
            for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
                *word = u64::from_le_bytes(*bytes);
            }
            f(&words[..now]);
            left -= now;
        }
    }

    /// Returns 128 random bits.
    pub fn next_u128(&mut self) -> u128 {
        let mut bytes = [0; 16];
        self.fill_bytes(&mut bytes);
        u128::from_le_bytes(bytes)
    }

    /// Returns a fresh 32-byte seed, for instance for [`expand_uniform`].
    pub fn next_seed(&mut self) -> [u8; 32] {
        let mut seed = [0; 32];
        self.fill_bytes(&mut seed);
        seed
    }
}

/// Expands a public seed into a limb of uniform residues. This defines the instruction `PRNG`, whose bits are the same on
/// every device:
///
/// 1. The keystream is the ChaCha20 block function of RFC 8439 section 2.3 with key = `seed`. The 96-bit nonce is
///    `stream` as 8 bytes little endian followed by four zero bytes: state words 13, 14 = low, high half of `stream`,
///    word 15 = 0. The 32-bit block counter (state word 12) runs from 0.
/// 2. Block b of 64 bytes is read as four little-endian 128-bit numbers W_0 ... W_3.
/// 3. Coefficient 4 b + r is W_r mod q. A last, partly used block is cut.
///
/// The rate is fixed: one block gives four residues. Nothing is rejected, and each residue is within q / 2^128 < 2^-67 of
/// uniform in statistical distance. One (seed, stream) pair must be used for one limb only. The counter allows 2^34
/// coefficients, far above any limb.
pub fn expand_uniform(seed: &[u8; 32], stream: u64, q: Modulus, out: &mut [u64]) {
    let done = match Backend::current() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Backend::current` only gives backends whose features the processor has.
        Backend::Avx512 | Backend::Avx512Ifma => unsafe { avx512::expand(seed, stream, q, out) },
        _ => 0,
    };
    let mut cipher = cipher(seed, stream);
    cipher.seek(16 * done as u64);
    let mut bytes = [0u8; 1024];
    for residues in out[done..].chunks_mut(bytes.len() / 16) {
        bytes.fill(0);
        cipher.apply_keystream(&mut bytes);
        for (residue, word) in residues.iter_mut().zip(bytes.as_chunks::<16>().0) {
            *residue = q.reduce_wide(u128::from_le_bytes(*word));
        }
    }
}

/// Expands a public seed into uniform words modulo q = 2^b. The keystream is that of
/// [`expand_uniform`], and its bytes are the words themselves, little endian. A word takes 4 bytes
/// up to b = 32 (16 words a block) and 8 bytes above (8 words a block). Bits above b are cut off.
///
/// Nothing is rejected, and no residue is divided: the words are exactly uniform if the keystream is. One (seed,
/// stream) pair must be used for one vector only. The counter allows at least 2^35 words.
pub fn expand_words(seed: &[u8; 32], stream: u64, q: WordModulus, out: &mut [u64]) {
    const BLOCK: usize = 64;
    let bytes_each = if q.bits() <= u32::BITS { 4 } else { 8 };
    let mut bytes = [0u8; BUFFER];
    let mut block = 0;
    for words in out.chunks_mut(BUFFER / bytes_each) {
        let bytes = &mut bytes[..bytes_each * words.len()];
        keystream(seed, stream, block, bytes);
        block += (BUFFER / BLOCK) as u32;
        for (word, bytes) in words.iter_mut().zip(bytes.chunks(bytes_each)) {
            let mut all = [0; 8];
            all[..bytes_each].copy_from_slice(bytes);
            *word = u64::from_le_bytes(all) & q.mask();
        }
    }
}

/// Overwrites `out` with the ChaCha20 keystream of `key` and `stream`, from the beginning of block number `block` on.
fn keystream(key: &[u8; KEY], stream: u64, block: u32, out: &mut [u8]) {
    let done = match Backend::current() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Backend::current` only gives backends whose features the processor has.
        Backend::Avx512 | Backend::Avx512Ifma => unsafe {
            avx512::keystream(key, stream, block, out)
        },
        _ => 0,
    };
    let mut cipher = cipher(key, stream);
    cipher.seek(64 * u64::from(block) + done as u64);
    out[done..].fill(0);
    cipher.apply_keystream(&mut out[done..]);
}

fn cipher(key: &[u8; KEY], stream: u64) -> ChaCha20 {
    let mut nonce = [0u8; 12];
    nonce[..8].copy_from_slice(&stream.to_le_bytes());
    ChaCha20::new(key.into(), &nonce.into())
}
