// SPDX-License-Identifier: Apache-2.0
//! Writes objects in SEAL's binary format.

use zeroize::Zeroizing;

use super::chain::ParmsId;
use super::error::{Object, SealError};
use super::source::{HEADER_BYTES, MAGIC, ZSTD};
use super::wiped;
use crate::size;

/// A version of SEAL, as major and minor number, in the form that headers of its files have.
pub(super) type Version = [u8; 2];

/// The SEAL version that the headers of written files name. Every SEAL from 3.6 to 4.x loads files of this version.
/// SEAL 4.0 to 4.3 load no files of a version 4.x except their own.
const VERSION: Version = [3, 6];

/// The Zstandard compression level that SEAL uses.
const ZSTD_LEVEL: i32 = 3;

/// The compression of the outermost object in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Compression {
    None,
    /// The compression is Zstandard, SEAL's default. It is never faster than [`Compression::None`]. It saves the
    /// unused upper bits of the words that hold residues.
    #[default]
    Zstd,
}

/// The bytes of a SEAL object that is being written. They may be secret, so they are wiped.
pub struct Sink {
    version: Version,
    bytes: Zeroizing<Vec<u8>>,
}

impl Sink {
    /// Begins a SEAL object. `members` is the exact number of bytes of its fields, without the header.
    pub fn new(members: usize) -> Self {
        Self::of_version(VERSION, members)
    }

    /// Begins a SEAL object in the form of one SEAL version. `members` is the exact number of bytes of its fields,
    /// without the header.
    pub(super) fn of_version(version: Version, members: usize) -> Self {
        let mut bytes = Zeroizing::new(Vec::with_capacity(members.saturating_add(HEADER_BYTES)));
        bytes.extend_from_slice(&[0; HEADER_BYTES]);
        Self { version, bytes }
    }

    pub(super) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn f64(&mut self, value: f64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn parms_id(&mut self, id: &ParmsId) {
        self.bytes.extend_from_slice(&id.0);
    }

    /// Writes the header of a nested SEAL object whose fields have `members` bytes.
    pub(super) fn nested(&mut self, members: usize) {
        self.bytes.extend_from_slice(&header(
            self.version,
            0,
            size::sum([members, HEADER_BYTES]) as u64,
        ));
    }

    pub fn words(&mut self, words: &[u64]) {
        for &word in words {
            self.u64(word);
        }
    }

    /// Returns the bytes of the written SEAL object, with its header, for a file that anybody may read.
    pub fn finish(self, object: Object, compression: Compression) -> Result<Vec<u8>, SealError> {
        let finished = self.finish_secret(object, compression);
        finished.map(|mut bytes| std::mem::take(&mut *bytes))
    }

    /// Returns the bytes of the written SEAL object, with its header, in memory that is wiped on drop. It is for
    /// objects that may be secret.
    pub(super) fn finish_secret(
        mut self,
        object: Object,
        compression: Compression,
    ) -> Result<Zeroizing<Vec<u8>>, SealError> {
        match compression {
            Compression::None => {
                let head = header(self.version, 0, self.bytes.len() as u64);
                if let Some(place) = self.bytes.first_chunk_mut() {
                    *place = head;
                }
                Ok(self.bytes)
            }
            Compression::Zstd => {
                let members = self.bytes.get(HEADER_BYTES..).unwrap_or_default();
                let packed = wiped::pack(object, members, ZSTD_LEVEL)?;
                let size = size::sum([packed.len(), HEADER_BYTES]);
                let mut out = Zeroizing::new(Vec::with_capacity(size));
                out.extend_from_slice(&header(self.version, ZSTD, size as u64));
                out.extend_from_slice(&packed);
                Ok(out)
            }
        }
    }
}

pub(super) fn header(version: Version, compression: u8, size: u64) -> [u8; HEADER_BYTES] {
    let mut out = [0; HEADER_BYTES];
    let [m0, m1] = MAGIC.to_le_bytes();
    let [s0, s1, s2, s3, s4, s5, s6, s7] = size.to_le_bytes();
    let [major, minor] = version;
    out.copy_from_slice(&[
        m0,
        m1,
        HEADER_BYTES as u8,
        major,
        minor,
        compression,
        0,
        0,
        s0,
        s1,
        s2,
        s3,
        s4,
        s5,
        s6,
        s7,
    ]);
    out
}
