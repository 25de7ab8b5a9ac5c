// SPDX-License-Identifier: Apache-2.0
//! Compresses and decompresses secrets by Zstandard and zlib, and wipes all intermediate memory.
//!
//! Both libraries process a whole object at once, so neither keeps a window of earlier bytes. Zstandard keeps its
//! other state in memory that this module provides and wipes. zlib keeps only its code tables.

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

// Zstandard's functions for memory of the caller. The library has them, but its bindings only under a feature.
unsafe extern "C" {
    fn ZSTD_estimateCCtxSize(level: c_int) -> usize;
    fn ZSTD_estimateDCtxSize() -> usize;
    fn ZSTD_initStaticCCtx(room: *mut c_void, bytes: usize) -> *mut zstd_sys::ZSTD_CCtx;
    fn ZSTD_initStaticDCtx(room: *mut c_void, bytes: usize) -> *mut zstd_sys::ZSTD_DCtx;
}

/// Allocates memory of at least `bytes` bytes for a Zstandard context, which must be aligned to 8 bytes.
fn room(bytes: usize) -> Result<Zeroizing<Vec<u64>>, SealError> {
    Ok(Zeroizing::new(zeroed(
        "a file of SEAL's",
        bytes.div_ceil(8),
    )?))
}

/// Returns the result `code` of a Zstandard function, or the error that it stands for.
fn checked(code: usize, object: Object) -> Result<usize, SealError> {
    // SAFETY: the function accepts any number.
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

/// Compresses the bytes behind an object's header to one Zstandard frame.
pub(super) fn pack(
    object: Object,
    members: &[u8],
    level: i32,
) -> Result<Zeroizing<Vec<u8>>, SealError> {
    // SAFETY: the function only computes a number.
    let mut room = room(unsafe { ZSTD_estimateCCtxSize(level) })?;
    let bound = zstd::zstd_safe::compress_bound(members.len());
    let mut packed = Zeroizing::new(zeroed::<u8>("a file of SEAL's", bound)?);
    // SAFETY: the room is aligned to 8 bytes, has the stated length and outlives the context. The context is null if
    // the room is too short. Both slices have the stated lengths, and the one that is written to is already
    // initialised.
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

/// Decompresses Zstandard frames to the beginning of `out`. Returns the number of decompressed bytes.
///
/// # Errors
/// [`SealError::Decompress`] for damaged frames, and for more than `out` holds.
fn unzstd(object: Object, packed: &[u8], out: &mut [u8]) -> Result<usize, SealError> {
    // SAFETY: the function only computes a number.
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

/// Decompresses one zlib stream to the beginning of `out`. Returns the number of decompressed bytes.
fn unzlib(object: Object, packed: &[u8], out: &mut [u8]) -> Result<usize, SealError> {
    let mut stream = Decompress::new(true);
    // All at once and to the end, so that the content is its own window.
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

/// Returns a SEAL object with the bytes behind its header decompressed, at most `most` bytes. Returns `None` for an
/// object that is not compressed. Also returns `None` for one without a header, of another length than its header says,
/// or with an unknown method of compression. The reader of the object refuses these later.
///
/// # Errors
/// Fails for a header that is not SEAL's, and for bytes that cannot be decompressed to at most `most` bytes.
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
