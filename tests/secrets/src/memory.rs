// SPDX-License-Identifier: Apache-2.0
//! Searches the memory of a process for copies of secrets.
//!
//! The searched process is a child of the searching one. So the search does not find the secrets that it looks for in
//! its own memory.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;

/// The least number of consecutive bytes of a secret that count as a copy.
pub const COPY: usize = 32;
/// The least number of changes from a byte to the next in a copy. Bytes with fewer changes, such as zeros with a few
/// ones, occur everywhere.
const CHANGES: usize = 8;
/// The bytes that are read at a time.
const PIECE: usize = 4 << 20;

/// A secret to look for.
pub struct Needle {
    pub name: String,
    pub bytes: Vec<u8>,
    /// The least number of bytes of a copy: [`COPY`], or more if the secret has small numbers in long words.
    pub copy: usize,
}

/// A copy that was found.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Find {
    pub needle: String,
    /// The name of the memory mapping that has the copy.
    pub mapping: String,
    pub address: u64,
    /// The offset in the secret of the copy's first byte.
    pub from: usize,
    pub bytes: usize,
}

/// An index of the needles by their pieces of half the length of a copy. Each copy in memory contains an aligned piece
/// of that length, which the index has unless all bytes of the piece are equal.
struct Index<'a> {
    needles: &'a [Needle],
    half: usize,
    pieces: HashMap<&'a [u8], Vec<(usize, usize)>>,
    /// Whether some piece has this hash of its first eight bytes. It saves most look-ups.
    first: Vec<bool>,
}

fn first_hash(bytes: &[u8]) -> usize {
    let word = bytes.first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44) as usize
}

fn changes(bytes: &[u8]) -> usize {
    bytes.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

impl<'a> Index<'a> {
    fn new(needles: &'a [Needle], copy: usize) -> Self {
        let half = copy / 2;
        let mut pieces: HashMap<&[u8], Vec<_>> = HashMap::new();
        let mut first = vec![false; 1 << 20];
        for (number, needle) in needles.iter().enumerate() {
            if needle.copy != copy {
                continue;
            }
            for (at, piece) in needle.bytes.windows(half).enumerate() {
                if changes(piece) > 0 {
                    first[first_hash(piece)] = true;
                    pieces.entry(piece).or_default().push((number, at));
                }
            }
        }
        Self {
            needles,
            half,
            pieces,
            first,
        }
    }

    /// Calls `found` for each copy in `memory` with the needle, the offsets in memory and in the needle, and the
    /// length.
    fn search(&self, memory: &[u8], mut found: impl FnMut(&Needle, usize, usize, usize)) {
        let mut known = HashMap::new();
        for at in (0..memory.len()).step_by(self.half) {
            let Some(piece) = memory.get(at..at + self.half) else {
                break;
            };
            if !self.first[first_hash(piece)] {
                continue;
            }
            for &(number, from) in self.pieces.get(piece).into_iter().flatten() {
                // `origin` is where the first byte of the secret would lie. `known` has the end of the copy seen with
                // this origin.
                let origin = at as i64 - from as i64;
                if known.get(&(number, origin)).is_some_and(|&end| at < end) {
                    continue;
                }
                let needle = &self.needles[number];
                let before = memory[..at].iter().rev();
                let before = before.zip(needle.bytes[..from].iter().rev());
                let before = before.take_while(|(a, b)| a == b).count();
                let after = memory[at..].iter().zip(&needle.bytes[from..]);
                let after = after.take_while(|(a, b)| a == b).count();
                known.insert((number, origin), at + after);
                let copy = &memory[at - before..at + after];
                if copy.len() >= needle.copy
                    && copy.windows(needle.copy).any(|w| changes(w) >= CHANGES)
                {
                    found(needle, at - before, from - before, copy.len());
                }
            }
        }
    }
}

/// A range of a process's addresses and its name.
struct Mapping {
    from: u64,
    to: u64,
    name: String,
}

/// Returns the readable mappings that may hold data of the process: all but files that it may only read and the
/// kernel's own.
fn mappings(process: u32) -> io::Result<Vec<Mapping>> {
    let mut found = Vec::new();
    for line in fs::read_to_string(format!("/proc/{process}/maps"))?.lines() {
        let mut fields = line.split_whitespace();
        let (Some(range), Some(mode)) = (fields.next(), fields.next()) else {
            continue;
        };
        let name = fields.nth(3).unwrap_or("anonymous").to_owned();
        let file = name.starts_with('/');
        let system = name.starts_with("[v");
        if !mode.starts_with('r') || system || (file && !mode.contains('w')) {
            continue;
        }
        let address = |text: &str| u64::from_str_radix(text, 16).map_err(io::Error::other);
        if let Some((from, to)) = range.split_once('-') {
            found.push(Mapping {
                from: address(from)?,
                to: address(to)?,
                name,
            });
        }
    }
    Ok(found)
}

/// Returns every copy of a needle in the memory of a process: in the heap, stacks, data and other mappings.
///
/// # Errors
/// Fails if the process does not exist, or if this process may not read its memory.
pub fn search(process: u32, needles: &[Needle]) -> io::Result<Vec<Find>> {
    let lengths: BTreeSet<usize> = needles.iter().map(|needle| needle.copy).collect();
    let indices: Vec<Index> = lengths
        .iter()
        .map(|&copy| Index::new(needles, copy))
        .collect();
    let overlap = lengths.last().copied().unwrap_or(COPY) as u64;
    let memory = File::open(format!("/proc/{process}/mem"))?;
    let (mut finds, mut piece) = (BTreeSet::new(), Vec::new());
    for mapping in mappings(process)? {
        let mut start = mapping.from;
        while start < mapping.to {
            let end = mapping.to.min(start + PIECE as u64);
            piece.resize((end - start) as usize, 0);
            memory.read_exact_at(&mut piece, start)?;
            for index in &indices {
                index.search(&piece, |needle, at, from, bytes| {
                    finds.insert(Find {
                        needle: needle.name.clone(),
                        mapping: mapping.name.clone(),
                        address: start + at as u64,
                        from,
                        bytes,
                    });
                });
            }
            // Pieces overlap by the length of the longest least copy, so that each copy has that length within one of
            // them.
            start = if end == mapping.to {
                end
            } else {
                end - overlap
            };
        }
    }
    Ok(finds.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needle(bytes: Vec<u8>, copy: usize) -> Needle {
        Needle {
            name: "needle".into(),
            bytes,
            copy,
        }
    }

    /// Returns bytes without a pattern.
    fn noise(seed: u32, len: usize) -> Vec<u8> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    #[test]
    fn every_copy_is_found_wherever_it_lies_and_nothing_shorter() {
        for copy in [COPY, 256] {
            let needles = [needle(noise(1, 1000), copy)];
            let index = Index::new(&needles, copy);
            for (at, from, bytes) in [
                (0, 0, 1000),
                (13, 500, copy),
                (77, 999 - copy, copy),
                (31, 7, copy - 1),
            ] {
                let mut memory = noise(2, 4096);
                memory[at..at + bytes].copy_from_slice(&needles[0].bytes[from..from + bytes]);
                let mut found = Vec::new();
                index.search(&memory, |_, at, from, bytes| found.push((at, from, bytes)));
                match bytes < copy {
                    true => assert!(found.is_empty()),
                    false => assert_eq!(found.len(), 1, "{at} {from}"),
                }
                if let Some(&(a, f, b)) = found.first() {
                    assert!(a <= at && f <= from && b >= bytes);
                }
            }
        }
    }

    #[test]
    fn zeros_are_no_copy() {
        let mut zeros = vec![0; 64];
        zeros[20] = 1;
        let needles = [needle(zeros.clone(), COPY)];
        let mut found = 0;
        Index::new(&needles, COPY).search(&zeros, |_, _, _, _| found += 1);
        assert_eq!(found, 0);
    }
}
