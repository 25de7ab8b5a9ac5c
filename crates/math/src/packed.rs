// SPDX-License-Identifier: Apache-2.0
//! Packs integers of few bits without gaps, little endian, as files hold residues.

/// The number of bytes that one load of [`unpack`] takes.
const LOAD: usize = size_of::<u128>();

/// Returns the number of bits of the largest of these integers, which is 0 if all are 0.
pub fn bits_of(words: impl IntoIterator<Item = u64>) -> u32 {
    let or = words.into_iter().fold(0, |or, word| or | word);
    u64::BITS - or.leading_zeros()
}

/// Returns the number of bytes that `count` packed integers of `bits` bits take, or the largest number if it would
/// overflow.
pub fn packed_bytes(count: usize, bits: u32) -> usize {
    let whole = (count / 8).saturating_mul(bits as usize);
    whole.saturating_add((count % 8 * bits as usize).div_ceil(8))
}

/// Appends integers to `out`, `bits` bits each. Bit 0 of the first integer is bit 0 of the first byte. The last byte
/// ends in zeros. Each integer must be below 2^`bits`, and `bits` at most 64.
pub fn pack(bits: u32, words: impl IntoIterator<Item = u64>, out: &mut Vec<u8>) {
    if bits == 0 {
        return;
    }
    let (mut pending, mut used) = (0, 0);
    for word in words {
        pending |= word << used;
        let next = used + bits;
        if next < u64::BITS {
            used = next;
            continue;
        }
        out.extend_from_slice(&pending.to_le_bytes());
        // The bits of the word that did not fit. If it ended at bit 64, there are none.
        pending = word.checked_shr(u64::BITS - used).unwrap_or(0);
        used = next - u64::BITS;
    }
    let left = pending.to_le_bytes();
    out.extend_from_slice(&left[..used.div_ceil(8) as usize]);
}

/// Reads integers of `bits` bits, at most 64, that [`pack`] wrote. Missing bytes count as zeros.
pub fn unpack(bits: u32, bytes: &[u8], out: &mut [u64]) {
    let mask = u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0);
    for (i, word) in out.iter_mut().enumerate() {
        let at = i * bits as usize;
        let rest = bytes.get(at / 8..).unwrap_or_default();
        let loaded = match rest.first_chunk::<LOAD>() {
            Some(chunk) => u128::from_le_bytes(*chunk),
            None => {
                let mut chunk = [0; LOAD];
                chunk[..rest.len()].copy_from_slice(rest);
                u128::from_le_bytes(chunk)
            }
        };
        *word = (loaded >> (at % 8)) as u64 & mask;
    }
}
