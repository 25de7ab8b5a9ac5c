// SPDX-License-Identifier: Apache-2.0
//! Packs integers of few bits without gaps, little endian, as files hold residues.
//!
//! Eight integers of b bits take b bytes. A function of its own for each b has constant shifts.

/// The number of integers that begin and end at whole bytes, whatever their bits.
const GROUP: usize = 8;

/// Returns the number of bytes that `count` packed integers of `bits` bits take, or the largest number if it would
/// overflow.
pub fn packed_bytes(count: usize, bits: u32) -> usize {
    let whole = (count / GROUP).saturating_mul(bits as usize);
    whole.saturating_add((count % GROUP * bits as usize).div_ceil(8))
}

/// Calls a function that is generic in the number of bits, for a number from 1 to 64. Returns `None` for others.
macro_rules! by_bits {
    ($bits:expr, $f:ident $arguments:tt; $($known:literal)*) => {
        match $bits {
            $($known => Some($f::<$known> $arguments),)*
            _ => None,
        }
    };
    ($bits:expr, $f:ident $arguments:tt) => {
        by_bits!($bits, $f $arguments;
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
            33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61
            62 63 64)
    };
}

/// Appends integers to `out`, `bits` bits each. Bit 0 of the first integer is bit 0 of the first byte. The last byte
/// ends in zeros. Each integer must be below 2^`bits`, and `bits` at most 64.
pub fn pack(bits: u32, words: &[u64], out: &mut Vec<u8>) {
    let from = out.len();
    out.resize(from + packed_bytes(words.len(), bits), 0);
    by_bits!(bits, pack_all(words, &mut out[from..]));
}

/// Reads integers of `bits` bits, at most 64, that [`pack`] wrote. Missing bytes count as zeros.
pub fn unpack(bits: u32, bytes: &[u8], out: &mut [u64]) {
    if by_bits!(bits, unpack_all(bytes, out)).is_none() {
        out.fill(0);
    }
}

fn pack_all<const BITS: usize>(words: &[u64], out: &mut [u8]) {
    let (groups, rest) = words.as_chunks::<GROUP>();
    let (full, last) = out.split_at_mut(groups.len() * BITS);
    for (group, bytes) in groups.iter().zip(full.as_chunks_mut::<BITS>().0) {
        *bytes = pack_group(group);
    }
    let mut group = [0; GROUP];
    group[..rest.len()].copy_from_slice(rest);
    let length = last.len();
    last.copy_from_slice(&pack_group::<BITS>(&group)[..length]);
}

fn unpack_all<const BITS: usize>(bytes: &[u8], out: &mut [u64]) {
    let (full, rest) = bytes.as_chunks::<BITS>();
    let mut last = [0; BITS];
    last[..rest.len()].copy_from_slice(rest);
    let groups = full
        .iter()
        .chain([&last])
        .chain(std::iter::repeat(&[0; BITS]));
    for (words, group) in out.chunks_mut(GROUP).zip(groups) {
        let group = unpack_group(group);
        words.copy_from_slice(&group[..words.len()]);
    }
}

/// Packs a group's integers to BITS bytes.
fn pack_group<const BITS: usize>(group: &[u64; GROUP]) -> [u8; BITS] {
    let mut words = [0; GROUP];
    for (k, &integer) in group.iter().enumerate() {
        let (word, shift) = (k * BITS / 64, k * BITS % 64);
        words[word] |= integer << shift;
        if shift + BITS > 64 {
            words[word + 1] |= integer >> (64 - shift);
        }
    }
    let mut bytes = [0; BITS];
    for (bytes, word) in bytes.chunks_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
    }
    bytes
}

/// Reads a group's integers from BITS bytes.
fn unpack_group<const BITS: usize>(bytes: &[u8; BITS]) -> [u64; GROUP] {
    let mut words = [0; GROUP];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(whole);
    }
    std::array::from_fn(|k| {
        let (word, shift) = (k * BITS / 64, k * BITS % 64);
        let low = words[word] >> shift;
        let high = match shift + BITS > 64 {
            true => words[word + 1] << (64 - shift),
            false => 0,
        };
        (low | high) & (u64::MAX >> (64 - BITS))
    })
}
