// SPDX-License-Identifier: Apache-2.0
//! One piece of work under limits.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::halt::Halt;
use crate::limits::Limits;
use crate::system;

/// What stays free beside every large allocation, for the small ones that cannot fail: threads, lists, messages.
const CUSHION: u64 = 16 << 20;
/// Between two looks at the process's memory, in milliseconds.
const INTERVAL: u64 = 5;
/// How old a look may be that work begins with.
const LATELY: Duration = Duration::from_millis(INTERVAL);
/// Where there has been no look yet.
const NEVER: u64 = u64::MAX;

/// Asked by long work as it goes: whether it is to stop, and whether there is memory for what comes. Clones are one watch.
///
/// ```
/// use ringmill_limits::{Halt, Limits, Watch};
/// let watch = Watch::new(Limits { memory: 1 << 20 });
/// assert_eq!(watch.check(), Ok(()));
/// assert!(matches!(watch.admit("a table", 2 << 20), Err(Halt::OverLimit { .. })));
/// watch.stop();
/// assert_eq!(watch.check(), Err(Halt::Interrupted));
/// ```
#[derive(Clone, Debug)]
pub struct Watch(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limits: Limits,
    stop: Arc<AtomicBool>,
    begin: Instant,
    /// Milliseconds from the beginning to the last look at memory.
    looked: AtomicU64,
    /// Resident when the work began.
    resident: u64,
    address_limit: Option<u64>,
}

impl Default for Watch {
    /// Under the default limits, stopped by nobody.
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Watch {
    pub fn new(limits: Limits) -> Self {
        Self::stopped_by(limits, Arc::default())
    }

    /// Stops when the flag is set, as a signal's handler does.
    pub fn stopped_by(limits: Limits, stop: Arc<AtomicBool>) -> Self {
        Self(Arc::new(Inner {
            limits,
            stop,
            begin: Instant::now(),
            looked: AtomicU64::new(NEVER),
            resident: system::usage_lately(LATELY).map_or(0, |u| u.resident),
            address_limit: system::address_limit(),
        }))
    }

    pub fn limits(&self) -> Limits {
        self.0.limits
    }

    /// What stops the work when it is set.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0.stop)
    }

    /// Asks the work to stop: its next [`Watch::check`] fails.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }

    /// To be asked every few milliseconds of work at least; costs tens of nanoseconds.
    ///
    /// # Errors
    /// [`Halt::Interrupted`]; [`Halt::OverLimit`] and [`Halt::NoMemory`] when the process has grown by more than the
    /// limit, or to the end of its address space, since the work began.
    pub fn check(&self) -> Result<(), Halt> {
        if self.is_stopped() {
            return Err(Halt::Interrupted);
        }
        let inner = &*self.0;
        let now = inner.begin.elapsed().as_millis() as u64;
        let looked = inner.looked.load(Ordering::Relaxed);
        if looked != NEVER && now < looked + INTERVAL {
            return Ok(());
        }
        inner.looked.store(now, Ordering::Relaxed);
        let found = if looked == NEVER {
            system::usage_lately(LATELY)
        } else {
            system::usage()
        };
        let Some(usage) = found else {
            return Ok(());
        };
        let taken = usage.resident.saturating_sub(inner.resident);
        if taken > inner.limits.memory {
            return Err(Halt::OverLimit {
                what: "what has been done so far".to_owned(),
                needed: taken,
                limit: inner.limits.memory,
            });
        }
        let end = inner.address_limit.unwrap_or(u64::MAX);
        if usage.address_space.saturating_add(CUSHION) > end {
            let what = "what is left to do".to_owned();
            let needed = CUSHION;
            return Err(Halt::NoMemory { what, needed });
        }
        Ok(())
    }

    /// Asked before `bytes` are allocated, where an input says how many.
    ///
    /// # Errors
    /// [`Halt::OverLimit`] beyond the limit, [`Halt::NoMemory`] where the system would not give them now.
    pub fn admit(&self, what: &str, bytes: u64) -> Result<(), Halt> {
        let limit = self.0.limits.memory;
        if bytes > limit {
            return Err(Halt::OverLimit {
                what: what.to_owned(),
                needed: bytes,
                limit,
            });
        }
        room(what, bytes)
    }
}

/// Whether the system would give `bytes` now, and leave some for the small things beside them.
///
/// # Errors
/// [`Halt::NoMemory`].
pub fn room(what: &str, bytes: u64) -> Result<(), Halt> {
    let wanted = usize::try_from(bytes.saturating_add(CUSHION)).unwrap_or(usize::MAX);
    let mut probe: Vec<u8> = Vec::new();
    // Taken and given back untouched. The black box keeps the pair from being optimised away.
    let given = probe.try_reserve_exact(wanted);
    black_box(&mut probe);
    given.map_err(|_| no_memory(what, bytes))
}

/// `count` zeros.
///
/// # Errors
/// [`Halt::NoMemory`].
pub fn zeroed<T: Clone + Default>(what: &str, count: usize) -> Result<Vec<T>, Halt> {
    let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
    room(what, bytes)?;
    let mut values = Vec::new();
    values
        .try_reserve_exact(count)
        .map_err(|_| no_memory(what, bytes))?;
    values.resize(count, T::default());
    Ok(values)
}

fn no_memory(what: &str, needed: u64) -> Halt {
    let what = what.to_owned();
    Halt::NoMemory { what, needed }
}
