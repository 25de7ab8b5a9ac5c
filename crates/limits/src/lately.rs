// SPDX-License-Identifier: Apache-2.0
//! A cache for an answer of the operating system, which is valid for a short time.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The last answer of the operating system to one question, with its time. While it is young
/// enough, a caller uses it and does not read the system's file again.
pub struct Lately<T>(Mutex<Option<(Instant, T)>>);

impl<T: Copy> Lately<T> {
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Returns the operating system's last answer if it is younger than `most`. Otherwise, or if another thread is in
    /// this method, it returns what `ask` answers now. It is `None` if `ask` answers `None`.
    pub fn get(&self, most: Duration, ask: impl FnOnce() -> Option<T>) -> Option<T> {
        // If another thread holds the lock, this thread asks the system itself. In a process that was forked while the
        // lock was held, a wait would never end.
        let Ok(mut last) = self.0.try_lock() else {
            return ask();
        };
        let now = Instant::now();
        if let Some((at, known)) = *last
            && now.duration_since(at) < most
        {
            return Some(known);
        }
        let found = ask()?;
        *last = Some((now, found));
        Some(found)
    }
}
