// SPDX-License-Identifier: Apache-2.0
//! Asks the operating system about the process's memory. A function returns `None` on a system that does not tell, and
//! no limit follows from that. Only Linux tells the memory in use, and only Unix systems have a limit of the address
//! space.

use std::fs;
use std::io::Read;
use std::time::Duration;

use crate::lately::Lately;

/// Returns the soft limit of the process's address space in bytes (`ulimit -v`), or `None` without a limit.
pub fn address_limit() -> Option<u64> {
    #[cfg(unix)]
    {
        rustix::process::getrlimit(rustix::process::Resource::As).current
    }
    #[cfg(not(unix))]
    {
        None
    }
}

/// The resident memory and the address space that the process uses now, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub address_space: u64,
    pub resident: u64,
}

/// Returns the memory that the process uses, from a measurement less than `most` ago if there is
/// one. Otherwise it measures now. Returns `None` on systems other than Linux.
pub fn usage_lately(most: Duration) -> Option<Use> {
    static LAST: Lately<Use> = Lately::new();
    LAST.get(most, usage)
}

/// Measures the memory that the process uses, which takes some microseconds. Returns `None` on systems other than
/// Linux.
pub fn usage() -> Option<Use> {
    let mut text = [0; 128];
    let mut file = fs::File::open("/proc/self/statm").ok()?;
    let length = file.read(&mut text).ok()?;
    let text = std::str::from_utf8(text.get(..length)?).ok()?;
    let mut pages = text.split_whitespace().map(str::parse::<u64>);
    let page = page_size();
    Some(Use {
        address_space: pages.next()?.ok()?.checked_mul(page)?,
        resident: pages.next()?.ok()?.checked_mul(page)?,
    })
}

fn page_size() -> u64 {
    #[cfg(unix)]
    {
        rustix::param::page_size() as u64
    }
    #[cfg(not(unix))]
    {
        4096
    }
}
