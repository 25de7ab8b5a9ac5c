//! Limb buffers: 64-byte aligned, reused, counted.

use std::sync::Arc;

use ringmill_math::Ring;

/// Bytes that every buffer is aligned to: one cache line, and the widest SIMD load.
pub const ALIGNMENT: usize = 64;
const WORDS: usize = ALIGNMENT / size_of::<u64>();

/// One limb's storage, aligned to [`ALIGNMENT`].
pub struct Buf {
    // Over-allocated by one cache line, so that an aligned start exists whatever the allocator returned. A vector's heap
    // block does not move when the vector does, so the offset stays right.
    words: Vec<u64>,
    offset: usize,
    len: usize,
}

impl Buf {
    fn new(len: usize) -> Self {
        let words = vec![0u64; len + WORDS - 1];
        let offset = words.as_ptr().align_offset(ALIGNMENT).min(WORDS - 1);
        Self { words, offset, len }
    }

    /// The residues.
    #[inline]
    pub fn as_slice(&self) -> &[u64] {
        &self.words[self.offset..self.offset + self.len]
    }

    /// The residues, to be written.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [u64] {
        &mut self.words[self.offset..self.offset + self.len]
    }
}

/// What a pool did, in bytes of limb data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PoolUse {
    /// Handed out now.
    pub live: u64,
    /// Most handed out at one time since [`Pool::reset_peak`].
    pub peak: u64,
    /// Held in all, in use or waiting to be reused.
    pub held: u64,
}

/// A free list of buffers for each limb size. One run owns a pool at a time; it is not synchronised.
#[derive(Default)]
pub struct Pool {
    free: [Vec<Arc<Buf>>; Ring::MAX_LOG_N as usize + 1],
    usage: PoolUse,
}

impl Pool {
    /// A buffer of 2^log_n residues of unspecified content, referred to once. `log_n` must be a supported ring degree's
    /// (the verifier's condition); larger ones are treated as the largest.
    pub fn take(&mut self, log_n: u8) -> Arc<Buf> {
        let class = usize::from(log_n.min(Ring::MAX_LOG_N));
        let bytes = bytes_of(1 << class);
        self.usage.live += bytes;
        self.usage.peak = self.usage.peak.max(self.usage.live);
        self.free[class].pop().unwrap_or_else(|| {
            self.usage.held += bytes;
            Arc::new(Buf::new(1 << class))
        })
    }

    /// Gives one reference back; the buffer becomes free with its last reference. References are only made and given
    /// back by the owner of the pool, so the count cannot change meanwhile.
    pub fn give(&mut self, buf: Arc<Buf>) {
        if Arc::strong_count(&buf) == 1 {
            self.usage.live -= bytes_of(buf.len);
            self.free[buf.len.trailing_zeros() as usize].push(buf);
        }
    }

    pub fn usage(&self) -> PoolUse {
        self.usage
    }

    /// Starts a new peak at what is in use now.
    pub fn reset_peak(&mut self) {
        self.usage.peak = self.usage.live;
    }
}

fn bytes_of(len: usize) -> u64 {
    (len * size_of::<u64>()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_reused() {
        let mut pool = Pool::default();
        let a = pool.take(4);
        let b = pool.take(4);
        assert_eq!(a.as_slice().len(), 16);
        assert_eq!(a.as_slice().as_ptr() as usize % ALIGNMENT, 0);
        assert_eq!(b.as_slice().as_ptr() as usize % ALIGNMENT, 0);
        let first = a.as_slice().as_ptr();
        let again = a.clone();
        pool.give(a);
        assert_eq!(pool.usage().live, 2 * 128, "still referred to once");
        pool.give(again);
        assert_eq!(
            pool.usage(),
            PoolUse {
                live: 128,
                peak: 256,
                held: 256
            }
        );
        assert_eq!(pool.take(4).as_slice().as_ptr(), first);
        assert_eq!(pool.usage().held, 256);
    }
}
