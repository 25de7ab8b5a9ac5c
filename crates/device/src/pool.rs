// SPDX-License-Identifier: Apache-2.0
//! A pool of limb buffers, which are aligned to 64 bytes and reused. The pool counts its memory.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ringmill_isa::limits;
use ringmill_isa::mid::{TableModulus, ValueType};
use ringmill_limits::{Halt, zeroed};
use ringmill_math::{Residues, ResiduesMut, Ring, is_short};

/// The alignment of every buffer in bytes: one cache line, and the widest SIMD load.
pub const ALIGNMENT: usize = 64;

/// The words of a buffer: all have 64 bits, or all have 32 bits.
enum Words {
    Wide(Vec<u64>),
    Short(Vec<u32>),
}

/// The memory of one limb or LWE vector, aligned to [`ALIGNMENT`].
pub struct Buf {
    // The vector has one cache line more than the limb, so an aligned start exists in every allocation. A vector's heap
    // block does not move when the vector does, so the offset stays right.
    words: Words,
    offset: usize,
    len: usize,
    /// log2 of the number of usable words, which begin at word `offset` of the memory.
    class: u8,
}

impl Buf {
    fn new(class: u8, short: bool) -> Result<Self, Halt> {
        fn aligned<T: Clone + Default>(len: usize) -> Result<(Vec<T>, usize), Halt> {
            let more = ALIGNMENT / size_of::<T>() - 1;
            let words: Vec<T> = zeroed("a limb", len + more)?;
            let offset = words.as_ptr().align_offset(ALIGNMENT).min(more);
            Ok((words, offset))
        }
        let len = 1 << class;
        let (words, offset) = match short {
            true => aligned(len).map(|(words, offset)| (Words::Short(words), offset))?,
            false => aligned(len).map(|(words, offset)| (Words::Wide(words), offset))?,
        };
        Ok(Self {
            words,
            offset,
            len,
            class,
        })
    }

    /// Returns whether the words of the buffer have 32 bits.
    pub fn is_short(&self) -> bool {
        matches!(self.words, Words::Short(_))
    }

    fn bytes(&self) -> u64 {
        bytes_of(1 << self.class, self.is_short())
    }

    /// Returns the residues in the buffer.
    #[inline]
    pub fn residues(&self) -> Residues<'_> {
        let at = self.offset..self.offset + self.len;
        match &self.words {
            Words::Wide(words) => Residues::Wide(&words[at]),
            Words::Short(words) => Residues::Short(&words[at]),
        }
    }

    /// Returns the residues in the buffer for writing.
    #[inline]
    pub fn residues_mut(&mut self) -> ResiduesMut<'_> {
        let at = self.offset..self.offset + self.len;
        match &mut self.words {
            Words::Wide(words) => ResiduesMut::Wide(&mut words[at]),
            Words::Short(words) => ResiduesMut::Short(&mut words[at]),
        }
    }
}

/// The memory of a pool of limb buffers in bytes. A buffer counts with its length rounded up to a power of two words,
/// and without the words that align it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PoolUse {
    /// The bytes of the buffers that users of the pool have now.
    pub live: u64,
    /// The most bytes that users of the pool had at one time since [`Pool::reset_peak`]. A dropped output limb counts
    /// until [`Pool::usage`] or [`Pool::reset_peak`] collects its buffer.
    pub peak: u64,
    /// The bytes of all buffers of the pool, in use or free.
    pub held: u64,
}

/// The buffers of outputs that the caller dropped, until the pool collects them.
type Returned = Arc<Mutex<Vec<Arc<Buf>>>>;

/// The number of buffer sizes of a pool: the powers of two up to the largest limb or the longest LWE vector.
const CLASSES: usize = MAX_CLASS as usize + 1;
const MAX_CLASS: u8 = {
    let vectors = limits::MAX_LWE_DIMENSION.ilog2() as u8 + 1;
    if vectors > Ring::MAX_LOG_N {
        vectors
    } else {
        Ring::MAX_LOG_N
    }
};

/// A pool of limb buffers: one list of free buffers for each size and each width of words (64 and 32 bits). One run
/// owns a pool at a time, so a pool has no lock.
#[derive(Default)]
pub struct Pool {
    free: [[Vec<Arc<Buf>>; CLASSES]; 2],
    usage: PoolUse,
    returned: Returned,
}

/// An output limb of a run, in words of 32 bits if its modulus is below 2^32. If its buffer belongs to a pool of the
/// device, the drop returns the buffer there, so runs in a row neither copy nor allocate outputs.
pub struct OutputLimb(Held);

enum Held {
    /// A buffer that belongs to a pool, and the list to which its drop returns it. The buffer is `None` only during
    /// the drop.
    Pooled(Option<Arc<Buf>>, Returned),
    /// Residues in words of 64 bits that belong to no pool. They are a copy of an output that is no buffer of the pool
    /// with such words: an input, a limb expanded from a seed, or an output of a device without a pool.
    Wide(Arc<[u64]>),
    Short(Arc<[u32]>),
}

impl OutputLimb {
    /// Makes an output limb of residues that are below `modulus`; `None` stands for the modulus of a value that is no
    /// limb.
    pub fn of(residues: Residues<'_>, modulus: Option<TableModulus>) -> Self {
        Self(match (holds_short(modulus), residues) {
            (true, Residues::Wide(words)) => Held::Short(words.iter().map(|&x| x as u32).collect()),
            (true, Residues::Short(words)) => Held::Short(words.into()),
            (false, Residues::Wide(words)) => Held::Wide(words.into()),
            (false, Residues::Short(words)) => Held::Wide(Residues::Short(words).wide().into()),
        })
    }

    /// Returns the residues of the output limb, in words of 32 or 64 bits as the run holds them.
    pub fn residues(&self) -> Residues<'_> {
        match &self.0 {
            Held::Pooled(buf, _) => buf.as_ref().map_or(Residues::Wide(&[]), |b| b.residues()),
            Held::Wide(words) => Residues::Wide(words),
            Held::Short(words) => Residues::Short(words),
        }
    }

    /// Returns the residues of the output limb in words of 64 bits.
    pub fn wide(&self) -> Cow<'_, [u64]> {
        self.residues().wide()
    }

    /// Returns the number of residues of the output limb.
    pub fn len(&self) -> usize {
        self.residues().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Returns the modulus of a limb of type `ty` from the program's table `moduli`, or `None` for a
/// type that is no limb.
pub fn limb_modulus(ty: ValueType, moduli: &[TableModulus]) -> Option<TableModulus> {
    let id = ty.limb()?.modulus;
    moduli.get(usize::from(id.0)).copied()
}

/// Returns whether limbs of a modulus are held in words of 32 bits. `None` stands for a value that is no limb, which
/// has 64 bits.
pub fn holds_short(modulus: Option<TableModulus>) -> bool {
    modulus.is_some_and(|modulus| is_short(modulus.value()))
}

impl PartialEq for OutputLimb {
    fn eq(&self, other: &Self) -> bool {
        self.residues() == other.residues()
    }
}

impl PartialEq<Vec<u64>> for OutputLimb {
    fn eq(&self, other: &Vec<u64>) -> bool {
        self.residues() == Residues::Wide(other)
    }
}

impl fmt::Debug for OutputLimb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.residues().iter()).finish()
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
    /// Returns a buffer of `words` words of unspecified content, with one reference; the words have 32 bits if
    /// `short` is set. `words` is the length of a limb or an LWE vector that the verifier allows. The pool takes a
    /// larger number as the largest allowed.
    ///
    /// # Errors
    /// [`Halt`] if memory ends.
    pub fn take(&mut self, words: usize, short: bool) -> Result<Arc<Buf>, Halt> {
        let class = words.next_power_of_two().ilog2().min(MAX_CLASS.into()) as u8;
        let mut buf = match self.free[usize::from(short)][usize::from(class)].pop() {
            Some(buf) => buf,
            None => {
                let buf = Arc::new(Buf::new(class, short)?);
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

    /// Returns one reference to a buffer to the pool; the buffer becomes free with its last reference. Only the
    /// pool's owner makes references, so no other thread changes their count meanwhile.
    pub fn give(&mut self, buf: Arc<Buf>) {
        if Arc::strong_count(&buf) == 1 {
            self.usage.live -= buf.bytes();
            self.free[usize::from(buf.is_short())][usize::from(buf.class)].push(buf);
        }
    }

    /// Lends a buffer to the caller as an output limb. It comes back to the pool when the output is dropped.
    pub fn lend(&self, buf: Arc<Buf>) -> OutputLimb {
        OutputLimb(Held::Pooled(Some(buf), self.returned.clone()))
    }

    /// Collects the buffers of output limbs that were dropped.
    fn collect(&mut self) {
        let returned =
            std::mem::take(&mut *self.returned.lock().unwrap_or_else(PoisonError::into_inner));
        for buf in returned {
            self.give(buf);
        }
    }

    /// Returns the memory of the pool. The buffers of dropped output limbs count as free.
    pub fn usage(&mut self) -> PoolUse {
        self.collect();
        self.usage
    }

    /// Collects the buffers of dropped output limbs, and sets the peak to the bytes in use now.
    pub fn reset_peak(&mut self) {
        self.collect();
        self.usage.peak = self.usage.live;
    }
}

/// Returns the bytes that `words` words take: 4 bytes a word if `short` is set, otherwise 8.
pub fn bytes_of(words: usize, short: bool) -> u64 {
    let bytes = match short {
        true => size_of::<u32>(),
        false => size_of::<u64>(),
    };
    (words * bytes) as u64
}

/// Returns the bytes of a buffer that holds `words` words. Its number of words is rounded up to a
/// power of two; a word has 4 bytes if `short` is set, otherwise 8.
pub fn buffer_bytes(words: usize, short: bool) -> u64 {
    bytes_of(words.next_power_of_two(), short)
}
