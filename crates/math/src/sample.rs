//! Sampling of uniform residues, secrets and noise.
//!
//! Signed samples are small integers; [`to_limb`] maps them into residues without branching. Their buffers are wiped
//! on drop.

mod gaussian;

pub use gaussian::{GaussianTable, gaussian};

use zeroize::{Zeroize, Zeroizing};

use crate::{MathError, Modulus, Prng};

/// Fills `out` with residues within q / 2^128 of uniform (128 random bits each, reduced).
pub fn uniform(prng: &mut Prng, q: Modulus, out: &mut [u64]) {
    let mut bytes = [0u8; 1024];
    for residues in out.chunks_mut(bytes.len() / 16) {
        let used = &mut bytes[..residues.len() * 16];
        prng.fill_bytes(used);
        for (residue, word) in residues.iter_mut().zip(used.as_chunks::<16>().0) {
            *residue = q.reduce_wide(u128::from_le_bytes(*word));
        }
    }
    bytes.zeroize();
}

/// n independent values, each -1, 0 or 1 with probability 1/3 (off by less than 2^-62). Constant time.
pub fn ternary(prng: &mut Prng, n: usize) -> Zeroizing<Vec<i8>> {
    draw(prng, n, |random| ((u128::from(random) * 3) >> 64) as i8 - 1)
}

/// n values of which exactly `hamming_weight` are non-zero, each of those -1 or 1 with equal probability, positions
/// uniform. Selection sampling: position i is chosen with probability (still wanted) / (still left), in time that
/// does not depend on the outcome.
pub fn sparse_ternary(
    prng: &mut Prng,
    n: usize,
    hamming_weight: usize,
) -> Result<Zeroizing<Vec<i8>>, MathError> {
    if hamming_weight > n {
        return Err(MathError::OutOfRange {
            what: "Hamming weight",
            expected: "at most the number of coefficients",
            got: hamming_weight.to_string(),
        });
    }
    let mut values = Zeroizing::new(vec![0i8; n]);
    let mut wanted = hamming_weight as u64;
    for (i, value) in values.iter_mut().enumerate() {
        // A uniform number below what is left: bias below n / 2^64.
        let left = (n - i) as u64;
        let number = ((u128::from(prng.next_u64()) * u128::from(left)) >> 64) as u64;
        // 1 when number < wanted, from the borrow: both are far below 2^63.
        let chosen = number.wrapping_sub(wanted) >> 63;
        let sign = (prng.next_u64() & 1) as i8 * 2 - 1;
        *value = sign * chosen as i8;
        wanted -= chosen;
    }
    Ok(values)
}

/// n samples of the centred binomial distribution: the number of ones among `eta` random bits minus that among `eta`
/// others; variance eta / 2, range -eta ..= eta. `eta` 21 (sigma 3.24) is SEAL's noise. Constant time. At most 32.
pub fn centred_binomial(
    prng: &mut Prng,
    n: usize,
    eta: u32,
) -> Result<Zeroizing<Vec<i8>>, MathError> {
    if !(1..=32).contains(&eta) {
        return Err(MathError::OutOfRange {
            what: "eta",
            expected: "1..=32",
            got: eta.to_string(),
        });
    }
    let mask = u64::MAX >> (64 - eta);
    // Two disjoint groups of eta bits.
    Ok(draw(prng, n, |bits| {
        (bits & mask).count_ones() as i8 - ((bits >> (64 - eta)) & mask).count_ones() as i8
    }))
}

/// n samples, each made from 64 random bits of its own.
fn draw(prng: &mut Prng, n: usize, sample: impl Fn(u64) -> i8) -> Zeroizing<Vec<i8>> {
    // The whole capacity up front: growing would leave copies behind.
    let mut values = Zeroizing::new(Vec::with_capacity(n));
    prng.for_each_block(n, |random| values.extend(random.iter().map(|&x| sample(x))));
    values
}

/// Writes the residues of signed samples, without branching on them. Lengths must agree.
pub fn to_limb(q: Modulus, samples: &[i8], out: &mut [u64]) -> Result<(), MathError> {
    crate::kernels::check_len("samples", out.len(), samples.len())?;
    for (residue, &sample) in out.iter_mut().zip(samples) {
        *residue = q.from_i64(i64::from(sample));
    }
    Ok(())
}

/// [`to_limb`] for wider samples.
pub fn to_limb_i64(q: Modulus, samples: &[i64], out: &mut [u64]) -> Result<(), MathError> {
    crate::kernels::check_len("samples", out.len(), samples.len())?;
    for (residue, &sample) in out.iter_mut().zip(samples) {
        *residue = q.from_i64(sample);
    }
    Ok(())
}
