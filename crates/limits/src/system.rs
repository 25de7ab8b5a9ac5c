// SPDX-License-Identifier: Apache-2.0
//! What the operating system says of memory. Where it says nothing (systems other than Linux), nothing is assumed.

use std::fs;
use std::io::Read;
use std::time::Duration;

use crate::lately::Lately;

/// The soft limit of the address space (`ulimit -v`), if there is one.
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

/// What the process has now, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub address_space: u64,
    pub resident: u64,
}

/// What the last look at the process found, or another look where that is older than `most`.
pub fn usage_lately(most: Duration) -> Option<Use> {
    static LAST: Lately<Use> = Lately::new();
    LAST.get(most, usage)
}

/// A look at the process: some microseconds.
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
