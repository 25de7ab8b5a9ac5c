// SPDX-License-Identifier: Apache-2.0
//! Reads objects in SEAL's binary format: headers, integers and residues, which it checks. It decompresses at most
//! a budget of bytes.
//!
//! A saved object is a 16-byte header and its fields, which may be objects. Only the fields of the outermost object
//! may be compressed. They are decompressed while they are parsed, except plaintexts in evaluation form and secret
//! keys, which [`wiped`](super::wiped) decompresses before. Neither allocates more than the budget, whatever a file
//! claims.

use std::io::Read;

use ringmill_limits::room;
use zeroize::Zeroize;

use super::chain::ParmsId;
use super::error::{Object, SealError};
use super::sink::Version;
use crate::size;

pub(super) const MAGIC: u16 = 0xA15E;
pub(super) const HEADER_BYTES: usize = 16;
/// The numbers that stand for methods of compression in a header of SEAL's files.
pub(super) const ZLIB: u8 = 1;
pub(super) const ZSTD: u8 = 2;

/// The base-2 logarithm of the largest window of a Zstandard frame in a file, the limit that SEAL itself has. A
/// frame may claim at most 2^23 bytes of memory for its window.
const WINDOW_LOG_MAX: u32 = 23;

/// The largest ratio of the size of decompressed keys to the size of their file. Residues are uniform, so a residue
/// of b bits, which is a word of 64 bits, takes at least b bits in a file. Rings with primes below 8 bits are too
/// small to matter.
pub(super) const MOST_UNPACKED: u64 = 8;

/// The number of bytes to which every file of keys may be decompressed beyond [`MOST_UNPACKED`] times its size.
/// They are for headers, which compress to almost nothing, and for small rings.
const SLACK: u64 = 1 << 20;

/// The size in bytes of the buffer through which residues are read.
const CHUNK_BYTES: usize = 8192;

/// The fields of a SEAL object's header that the reader uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    /// Whether ciphertexts in the file have a correction factor, as in files since SEAL 4. In all else, files since
    /// SEAL 3.6 are alike.
    pub correction_factor: bool,
    pub version: Version,
    pub compression: u8,
    /// The size in bytes of the object in the file, header included.
    pub size: u64,
}

impl Header {
    pub(super) fn parse(object: Object, bytes: &[u8; HEADER_BYTES]) -> Result<Self, SealError> {
        let [
            m0,
            m1,
            header_size,
            major,
            minor,
            compression,
            _,
            _,
            size @ ..,
        ] = *bytes;
        let magic = u16::from_le_bytes([m0, m1]);
        if magic != MAGIC {
            return Err(SealError::NotSeal {
                object,
                found: magic,
            });
        }
        if usize::from(header_size) != HEADER_BYTES {
            return Err(SealError::HeaderSize {
                object,
                found: header_size,
            });
        }
        let correction_factor = match (major, minor) {
            (4, _) => true,
            (3, 6..) => false,
            _ => {
                return Err(SealError::Version {
                    object,
                    major,
                    minor,
                });
            }
        };
        Ok(Self {
            correction_factor,
            version: [major, minor],
            compression,
            size: u64::from_le_bytes(size),
        })
    }
}

/// Returns the version of the SEAL that wrote a file, from its header.
pub(super) fn version(object: Object, bytes: &[u8]) -> Result<Version, SealError> {
    let head = bytes.first_chunk().ok_or(SealError::Truncated {
        object,
        needed: HEADER_BYTES as u64,
        left: bytes.len() as u64,
    })?;
    Ok(Header::parse(object, head)?.version)
}

enum Stream<'a> {
    Plain(&'a [u8]),
    Zlib(flate2::bufread::ZlibDecoder<&'a [u8]>),
    Zstd(Box<zstd::stream::read::Decoder<'a, &'a [u8]>>),
}

/// A saved SEAL object that is being read. Every read is checked against the remaining bytes. Compressed bytes are
/// decompressed when they are read, and count against the budget.
pub(super) struct Source<'a> {
    object: Object,
    header: Header,
    stream: Stream<'a>,
    /// The number of bytes that may still be read. For an uncompressed object, it is the number of bytes left; for
    /// a compressed one, it is what is left of the budget.
    left: u64,
    budget: u64,
    /// The number of bytes of the file, if it limits how much may be decompressed, otherwise `None`.
    packed: Option<u64>,
    /// The number of bytes of memory that the reader has allocated for residues so far.
    held: u64,
}

impl<'a> Source<'a> {
    /// Opens a file of key-switching keys as [`Source::open`] does. The residues of keys are uniform and hardly
    /// compress, so the length of the file bounds the decompressed size. Only the empty ones of the file's `slots`
    /// places for keys compress.
    pub(super) fn open_keys(
        object: Object,
        bytes: &'a [u8],
        budget: u64,
        slots: usize,
    ) -> Result<Self, SealError> {
        let mut source = Self::open(object, bytes, budget)?;
        let packed = bytes.len() as u64;
        let places = SLACK.saturating_add(size::of_words(slots) as u64);
        let most = packed.saturating_mul(MOST_UNPACKED).saturating_add(places);
        if !matches!(source.stream, Stream::Plain(_)) && most < budget {
            source.left = most;
            source.packed = Some(packed);
        }
        Ok(source)
    }

    /// Reads the header of the outermost object, which must fill all of `bytes`. At most `budget` bytes will be
    /// decompressed, and as many allocated for residues.
    pub(super) fn open(object: Object, bytes: &'a [u8], budget: u64) -> Result<Self, SealError> {
        let Some((head, body)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
            let left = bytes.len() as u64;
            return Err(SealError::Truncated {
                object,
                needed: HEADER_BYTES as u64,
                left,
            });
        };
        let header = Header::parse(object, head)?;
        if header.size != bytes.len() as u64 {
            return Err(SealError::Size {
                object,
                expected: bytes.len() as u64,
                found: header.size,
            });
        }
        let (stream, left) = match header.compression {
            0 => (Stream::Plain(body), body.len() as u64),
            ZLIB => (
                Stream::Zlib(flate2::bufread::ZlibDecoder::new(body)),
                budget,
            ),
            ZSTD => {
                let broken = |e: std::io::Error| SealError::Decompress {
                    object,
                    reason: e.to_string(),
                };
                let mut decoder = zstd::stream::read::Decoder::with_buffer(body).map_err(broken)?;
                decoder.window_log_max(WINDOW_LOG_MAX).map_err(broken)?;
                (Stream::Zstd(Box::new(decoder)), budget)
            }
            found => return Err(SealError::Compression { object, found }),
        };
        Ok(Self {
            object,
            header,
            stream,
            left,
            budget,
            packed: None,
            held: 0,
        })
    }

    /// Checks that no bytes of the outermost object are left.
    pub(super) fn finish(mut self) -> Result<(), SealError> {
        let unpacked = self.read_some(&mut [0])? as u64;
        let packed = match &self.stream {
            Stream::Plain(rest) => rest.len(),
            Stream::Zlib(decoder) => decoder.get_ref().len(),
            Stream::Zstd(decoder) => decoder.get_ref().len(),
        } as u64;
        match unpacked.saturating_add(packed) {
            0 => Ok(()),
            left => Err(SealError::Trailing {
                object: self.object,
                left,
            }),
        }
    }

    fn read_some(&mut self, out: &mut [u8]) -> Result<usize, SealError> {
        let got = match &mut self.stream {
            Stream::Plain(bytes) => bytes.read(out),
            Stream::Zlib(decoder) => decoder.read(out),
            Stream::Zstd(decoder) => decoder.read(out),
        };
        got.map_err(|e| SealError::Decompress {
            object: self.object,
            reason: e.to_string(),
        })
    }

    /// Checks that `count` more bytes of the object may be read, before memory is allocated for them.
    fn expect(&self, count: u64) -> Result<(), SealError> {
        if count <= self.left {
            return Ok(());
        }
        Err(match self.stream {
            Stream::Plain(_) => SealError::Truncated {
                object: self.object,
                needed: count,
                left: self.left,
            },
            _ => match self.packed {
                Some(packed) => SealError::Packed {
                    object: self.object,
                    packed,
                },
                None => self.over_budget(),
            },
        })
    }

    fn over_budget(&self) -> SealError {
        SealError::Budget {
            object: self.object,
            budget: self.budget,
        }
    }

    /// Checks that `words` more residues fit the budget, before memory is allocated for them.
    pub(super) fn hold(&mut self, words: usize) -> Result<(), SealError> {
        let bytes = (words as u64).saturating_mul(8);
        self.held = self.held.saturating_add(bytes);
        if self.held > self.budget {
            return Err(self.over_budget());
        }
        Ok(room("a file of SEAL's", bytes)?)
    }

    fn fill(&mut self, out: &mut [u8]) -> Result<(), SealError> {
        self.expect(out.len() as u64)?;
        let mut filled = 0;
        while let Some(rest) = out.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let needed = rest.len() as u64;
            match self.read_some(rest)? {
                0 => {
                    return Err(SealError::Truncated {
                        object: self.object,
                        needed,
                        left: 0,
                    });
                }
                got => filled = filled.saturating_add(got),
            }
        }
        self.left = self.left.saturating_sub(out.len() as u64);
        Ok(())
    }

    pub(super) fn bytes<const K: usize>(&mut self) -> Result<[u8; K], SealError> {
        let mut out = [0; K];
        self.fill(&mut out)?;
        Ok(out)
    }

    pub(super) fn u8(&mut self) -> Result<u8, SealError> {
        Ok(u8::from_le_bytes(self.bytes()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, SealError> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    pub(super) fn f64(&mut self) -> Result<f64, SealError> {
        Ok(f64::from_le_bytes(self.bytes()?))
    }

    pub(super) fn parms_id(&mut self) -> Result<ParmsId, SealError> {
        Ok(ParmsId(self.bytes()?))
    }

    /// Returns the header of the file's outermost object.
    pub(super) fn header(&self) -> Header {
        self.header
    }

    /// Reads the header of a nested object, which is never compressed.
    pub(super) fn nested(&mut self, object: Object) -> Result<Header, SealError> {
        let header = Header::parse(object, &self.bytes()?)?;
        match header.compression {
            0 => Ok(header),
            found => Err(SealError::field(
                object,
                "compression of a nested object",
                0,
                found,
            )),
        }
    }

    /// Reads one polynomial and appends it to `out`: `n` residues below each modulus of `moduli` in turn. `n` and
    /// `moduli` come from the parameters, so they bound how much memory is allocated.
    pub(super) fn residues(
        &mut self,
        object: Object,
        moduli: &[u64],
        n: usize,
        out: &mut Vec<u64>,
    ) -> Result<(), SealError> {
        let words = n.saturating_mul(moduli.len());
        self.expect((words as u64).saturating_mul(8))?;
        self.hold(words)?;
        out.reserve_exact(words);
        let mut chunk = [0; CHUNK_BYTES];
        let result = moduli
            .iter()
            .try_for_each(|&modulus| self.limb(object, modulus, n, &mut chunk, out));
        chunk.zeroize(); // it may have held a secret key
        result
    }

    fn limb(
        &mut self,
        object: Object,
        modulus: u64,
        n: usize,
        chunk: &mut [u8; CHUNK_BYTES],
        out: &mut Vec<u64>,
    ) -> Result<(), SealError> {
        let mut todo = n.saturating_mul(8);
        while todo > 0 {
            let take = todo.min(CHUNK_BYTES);
            let Some(bytes) = chunk.get_mut(..take) else {
                break;
            };
            self.fill(bytes)?;
            let (words, _) = bytes.as_chunks::<8>();
            for &word in words {
                let value = u64::from_le_bytes(word);
                if value >= modulus {
                    return Err(SealError::Residue {
                        object,
                        index: out.len() as u64,
                        value,
                        modulus,
                    });
                }
                out.push(value);
            }
            todo = todo.saturating_sub(take);
        }
        Ok(())
    }
}
