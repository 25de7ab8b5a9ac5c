//! Limb buffers: 64-byte aligned, reused, counted.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use ringmill_isa::limits;
use ringmill_limits::{Halt, zeroed};
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
    /// log2 of the words there are from `offset` on.
    class: u8,
}

impl Buf {
    fn new(class: u8) -> Result<Self, Halt> {
        let len = 1 << class;
        let words: Vec<u64> = zeroed("a limb", len + WORDS - 1)?;
        let offset = words.as_ptr().align_offset(ALIGNMENT).min(WORDS - 1);
        Ok(Self {
            words,
            offset,
            len,
            class,
        })
    }

    fn bytes(&self) -> u64 {
        bytes_of(1 << self.class)
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

/// Buffers on their way back from outputs that were dropped.
type Returned = Arc<Mutex<Vec<Arc<Buf>>>>;

/// Sizes of buffers: powers of two up to the largest limb, and for the longest LWE vectors.
const CLASSES: usize = MAX_CLASS as usize + 1;
const MAX_CLASS: u8 = {
    let vectors = limits::MAX_LWE_DIMENSION.ilog2() as u8 + 1;
    if vectors > Ring::MAX_LOG_N {
        vectors
    } else {
        Ring::MAX_LOG_N
    }
};

/// A free list of buffers for each size. One run owns a pool at a time; it is not synchronised.
#[derive(Default)]
pub struct Pool {
    free: [Vec<Arc<Buf>>; CLASSES],
    usage: PoolUse,
    returned: Returned,
}

/// A limb that a run gives out. Its buffer goes back to the device when it is dropped, so that runs in a row neither copy
/// nor allocate outputs.
pub struct OutputLimb(Held);

enum Held {
    /// `None` only while being dropped.
    Pooled(Option<Arc<Buf>>, Returned),
    /// An input or a seed's limb that is an output as it is.
    Shared(Arc<[u64]>),
}

impl OutputLimb {
    pub(crate) fn shared(residues: Arc<[u64]>) -> Self {
        Self(Held::Shared(residues))
    }
}

impl Deref for OutputLimb {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        match &self.0 {
            Held::Pooled(buf, _) => buf.as_ref().map_or(&[], |b| b.as_slice()),
            Held::Shared(residues) => residues,
        }
    }
}

impl PartialEq for OutputLimb {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl PartialEq<Vec<u64>> for OutputLimb {
    fn eq(&self, other: &Vec<u64>) -> bool {
        **self == **other
    }
}

impl fmt::Debug for OutputLimb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Drop for OutputLimb {
    fn drop(&mut self) {
        if let Held::Pooled(buf, returned) = &mut self.0 {
            returned
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend(buf.take());
        }
    }
}

impl Pool {
    /// A buffer of so many words of unspecified content, referred to once. They are those of a limb or an LWE vector that
    /// the verifier allows; more are treated as the most there are. Fails where memory ends.
    pub fn take(&mut self, words: usize) -> Result<Arc<Buf>, Halt> {
        let class = words.next_power_of_two().ilog2().min(MAX_CLASS.into()) as u8;
        let mut buf = match self.free[usize::from(class)].pop() {
            Some(buf) => buf,
            None => {
                let buf = Arc::new(Buf::new(class)?);
                self.usage.held += buf.bytes();
                buf
            }
        };
        self.usage.live += buf.bytes();
        // Free buffers have no other reference.
        if let Some(buf) = Arc::get_mut(&mut buf) {
            buf.len = words.min(1 << class);
        }
        self.usage.peak = self.usage.peak.max(self.usage.live);
        Ok(buf)
    }

    /// Gives one reference back; the buffer becomes free with its last reference. References are only made and given
    /// back by the owner of the pool, so the count cannot change meanwhile.
    pub fn give(&mut self, buf: Arc<Buf>) {
        if Arc::strong_count(&buf) == 1 {
            self.usage.live -= buf.bytes();
            self.free[usize::from(buf.class)].push(buf);
        }
    }

    /// Gives a limb out of the pool's hands until it is dropped.
    pub fn lend(&self, buf: Arc<Buf>) -> OutputLimb {
        OutputLimb(Held::Pooled(Some(buf), self.returned.clone()))
    }

    /// Takes back what was lent and dropped since.
    fn collect(&mut self) {
        let returned =
            std::mem::take(&mut *self.returned.lock().unwrap_or_else(PoisonError::into_inner));
        for buf in returned {
            self.give(buf);
        }
    }

    /// Lent limbs that were dropped count as given back.
    pub fn usage(&mut self) -> PoolUse {
        self.collect();
        self.usage
    }

    /// Takes back lent limbs that were dropped, and starts a new peak at what is in use now.
    pub fn reset_peak(&mut self) {
        self.collect();
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
        let a = pool.take(16).unwrap();
        let b = pool.take(16).unwrap();
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
        assert_eq!(pool.take(16).unwrap().as_slice().as_ptr(), first);
        assert_eq!(pool.usage().held, 256);
    }

    #[test]
    fn vectors_of_other_lengths_share_buffers() {
        let mut pool = Pool::default();
        let vector = pool.take(9).unwrap();
        assert_eq!(vector.as_slice().len(), 9);
        pool.give(vector);
        assert_eq!(pool.take(16).unwrap().as_slice().len(), 16);
        assert_eq!(pool.usage().held, 128);
        let longest = limits::MAX_LWE_DIMENSION as usize + 1;
        assert_eq!(pool.take(longest).unwrap().as_slice().len(), longest);
    }

    #[test]
    fn lent_limbs_come_back_when_they_are_dropped() {
        let mut pool = Pool::default();
        let buf = pool.take(16).unwrap();
        let (once, twice) = (pool.lend(buf.clone()), pool.lend(buf));
        drop(once);
        assert_eq!(pool.usage().live, 128, "one is still out");
        assert_eq!(twice.len(), 16);
        drop(twice);
        assert_eq!(
            pool.usage(),
            PoolUse {
                live: 0,
                peak: 128,
                held: 128
            }
        );
    }
}
