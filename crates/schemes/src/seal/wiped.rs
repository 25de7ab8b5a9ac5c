// SPDX-License-Identifier: Apache-2.0
//! Zstandard and zlib of secrets: what either holds on the way lies in memory that is wiped.
//!
//! Both read or write a whole object at once, so that neither keeps a window. Of what Zstandard keeps besides, it is told
//! where; zlib keeps the codes of symbols alone.

#![allow(unsafe_code)] // an allocation is grown and wiped by hand

use std::ffi::{c_int, c_void};

use flate2::{Decompress, FlushDecompress, Status};
use ringmill_limits::zeroed;
use zeroize::Zeroizing;
use zstd::zstd_safe::zstd_sys;

use super::error::{Object, SealError};
use super::sink::header;
use super::source::{HEADER_BYTES, Header, ZLIB, ZSTD};
use crate::size;

// Zstandard's functions for memory of its caller, which the library has and its bindings have under a feature alone.
unsafe extern "C" {
    fn ZSTD_estimateCCtxSize(level: c_int) -> usize;
    fn ZSTD_estimateDCtxSize() -> usize;
    fn ZSTD_initStaticCCtx(room: *mut c_void, bytes: usize) -> *mut zstd_sys::ZSTD_CCtx;
    fn ZSTD_initStaticDCtx(room: *mut c_void, bytes: usize) -> *mut zstd_sys::ZSTD_DCtx;
}

/// Memory for one of Zstandard's contexts, which it wants at a multiple of 8.
fn room(bytes: usize) -> Result<Zeroizing<Vec<u64>>, SealError> {
    Ok(Zeroizing::new(zeroed(
        "a file of SEAL's",
        bytes.div_ceil(8),
    )?))
}

/// What went wrong in one of Zstandard's functions, or what it gives.
fn checked(code: usize, object: Object) -> Result<usize, SealError> {
    // SAFETY: any number may be asked about.
    match unsafe { zstd_sys::ZSTD_isError(code) } {
        0 => Ok(code),
        _ => Err(broken(object, zstd::zstd_safe::get_error_name(code))),
    }
}

fn broken(object: Object, reason: impl ToString) -> SealError {
    SealError::Decompress {
        object,
        reason: reason.to_string(),
    }
}

/// One Zstandard frame of `members`.
pub(super) fn pack(
    object: Object,
    members: &[u8],
    level: i32,
) -> Result<Zeroizing<Vec<u8>>, SealError> {
    // SAFETY: a number is computed.
    let mut room = room(unsafe { ZSTD_estimateCCtxSize(level) })?;
    let bound = zstd::zstd_safe::compress_bound(members.len());
    let mut packed = Zeroizing::new(zeroed::<u8>("a file of SEAL's", bound)?);
    // SAFETY: the room is at a multiple of 8, as long as is said, and outlives the context, which is null where it is too
    // short; both slices are as long as is said, and what is written to one is initialised already.
    let code = unsafe {
        let context = ZSTD_initStaticCCtx(room.as_mut_ptr().cast(), size_of_val(room.as_slice()));
        if context.is_null() {
            return Err(broken(object, "too little memory was set aside"));
        }
        let (to, from) = (packed.as_mut_ptr().cast(), members.as_ptr().cast());
        zstd_sys::ZSTD_compressCCtx(context, to, packed.len(), from, members.len(), level)
    };
    packed.truncate(checked(code, object)?);
    Ok(packed)
}

/// One Zstandard frame's content, written to the beginning of `out`: its length.
fn unzstd(object: Object, packed: &[u8], out: &mut [u8]) -> Result<usize, SealError> {
    // SAFETY: a number is computed.
    let mut room = room(unsafe { ZSTD_estimateDCtxSize() })?;
    // SAFETY: as in `pack`.
    let code = unsafe {
        let context = ZSTD_initStaticDCtx(room.as_mut_ptr().cast(), size_of_val(room.as_slice()));
        if context.is_null() {
            return Err(broken(object, "too little memory was set aside"));
        }
        let (to, from) = (out.as_mut_ptr().cast(), packed.as_ptr().cast());
        zstd_sys::ZSTD_decompressDCtx(context, to, out.len(), from, packed.len())
    };
    checked(code, object)
}

/// One zlib stream's content, written to the beginning of `out`: its length.
fn unzlib(object: Object, packed: &[u8], out: &mut [u8]) -> Result<usize, SealError> {
    let mut stream = Decompress::new(true);
    // All at once and to the end: the content is its own window.
    let status = stream.decompress(packed, out, FlushDecompress::Finish);
    let left = (packed.len() as u64).saturating_sub(stream.total_in());
    match status.map_err(|e| broken(object, e))? {
        Status::StreamEnd if left == 0 => Ok(stream.total_out() as usize),
        Status::StreamEnd => Err(SealError::Trailing { object, left }),
        Status::Ok | Status::BufError => Err(broken(
            object,
            "the stream does not end, or holds more than the object may",
        )),
    }
}

/// The object with its members as they are, where they are compressed: of at most `most` bytes. `None` for an object that
/// is not compressed, and for what has no header to tell or is of another length than that says: its reader refuses it.
pub(super) fn unpacked(
    object: Object,
    bytes: &[u8],
    most: u64,
) -> Result<Option<Zeroizing<Vec<u8>>>, SealError> {
    let Some((head, packed)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return Ok(None);
    };
    let found = Header::parse(object, head)?;
    let unpack = match found.compression {
        ZLIB if found.size == bytes.len() as u64 => unzlib,
        ZSTD if found.size == bytes.len() as u64 => unzstd,
        _ => return Ok(None),
    };
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut whole = Zeroizing::new(zeroed(
        "a file of SEAL's",
        most.saturating_add(HEADER_BYTES),
    )?);
    let (head, members) = whole.split_at_mut(HEADER_BYTES);
    let size = size::sum([HEADER_BYTES, unpack(object, packed, members)?]);
    head.copy_from_slice(&header(found.version, 0, size as u64));
    whole.truncate(size);
    Ok(Some(whole))
}
