// SPDX-License-Identifier: Apache-2.0
//! A watch over one piece of work: it checks the memory limit and can stop the work.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::halt::Halt;
use crate::limits::Limits;
use crate::system;

/// The bytes that stay free beside every large allocation, for small ones that cannot fail: threads, lists, messages.
const CUSHION: u64 = 16 << 20;
/// The least time between two measurements of the process's memory by one watch, in milliseconds.
const INTERVAL: u64 = 5;
/// The greatest age of a measurement of memory with which work may begin.
const LATELY: Duration = Duration::from_millis(INTERVAL);
/// The value of [`Inner::looked`], the time of the last measurement of memory, before the first
/// measurement.
const NEVER: u64 = u64::MAX;

/// Tells long work whether it must stop, and whether there is memory for what it allocates next. All clones of a watch
/// share one state.
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
    /// The time of the last measurement of memory, in milliseconds from the beginning of the work.
    looked: AtomicU64,
    /// The resident memory of the process when the work began, in bytes.
    resident: u64,
    address_limit: Option<u64>,
}

impl Default for Watch {
    /// Makes a watch under the default limits, with a stop flag of its own.
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Watch {
    pub fn new(limits: Limits) -> Self {
        Self::stopped_by(limits, Arc::default())
    }

    /// Makes a watch that also stops when somebody else sets the flag `stop`, as a signal's handler does.
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

    /// Returns the flag that stops the work when it is set.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0.stop)
    }

    /// Asks the work under this watch to stop: its next [`Watch::check`] fails.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }

    /// Returns whether the work was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }

    /// Returns an error if the work must stop. Long work calls it every few milliseconds; a call costs tens of
    /// nanoseconds.
    ///
    /// # Errors
    /// [`Halt::Interrupted`] if the work was asked to stop. [`Halt::OverLimit`] if the process's resident memory has
    /// grown by more than the limit since the work began. [`Halt::NoMemory`] if the process has come within 16 MiB of
    /// its address-space limit. A measurement of memory counts for 5 milliseconds.
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

    /// Asks for leave to allocate `bytes` bytes, whose number comes from an input. `what` names their use in the error.
    ///
    /// # Errors
    /// [`Halt::OverLimit`] if `bytes` alone is above the limit; memory that the work has taken before does not count.
    /// [`Halt::NoMemory`] if the system refuses to reserve so much ([`room`]).
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

/// Checks that the system grants a reservation of `bytes` bytes and 16 MiB more, which it gives back untouched. A
/// system that overcommits may grant more than it has. `what` names their use in the error.
///
/// # Errors
/// [`Halt::NoMemory`] if the system refuses the reservation.
pub fn room(what: &str, bytes: u64) -> Result<(), Halt> {
    let wanted = usize::try_from(bytes.saturating_add(CUSHION)).unwrap_or(usize::MAX);
    let mut probe: Vec<u8> = Vec::new();
    // Taken and given back untouched. The black box keeps the pair from being optimised away.
    let given = probe.try_reserve_exact(wanted);
    black_box(&mut probe);
    given.map_err(|_| no_memory(what, bytes))
}

/// Returns a vector of `count` default values, which are zeros for numbers. `what` names its use in the error.
///
/// # Errors
/// [`Halt::NoMemory`] if the system cannot provide the memory.
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
