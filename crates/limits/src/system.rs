//! What the operating system says of memory. Where it says nothing (systems other than Linux), nothing is assumed.

use std::fs;
use std::io::Read;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The memory that this process may have at most: the computer's, the control group's or the address-space limit.
pub fn memory() -> Option<u64> {
    [physical(), control_group(), address_limit()]
        .into_iter()
        .flatten()
        .min()
}

fn physical() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

/// The least limit of the control groups whose files are mounted where containers see them.
fn control_group() -> Option<u64> {
    const FILES: [&str; 2] = [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ];
    let limits = FILES
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok());
    // `max` is no number and no limit.
    limits.filter_map(|text| text.trim().parse().ok()).min()
}

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

/// What the last look at the process found, or another look where that is older than `most`: work that takes less than a
/// look is not to begin with one.
pub fn usage_lately(most: Duration) -> Option<Use> {
    static LAST: Mutex<Option<(Instant, Use)>> = Mutex::new(None);
    // Whoever else looks has what is wanted, and is not waited for: a process forked meanwhile would wait for ever.
    let Ok(mut last) = LAST.try_lock() else {
        return usage();
    };
    let now = Instant::now();
    match *last {
        Some((at, known)) if now.duration_since(at) < most => Some(known),
        _ => {
            let found = usage()?;
            *last = Some((now, found));
            Some(found)
        }
    }
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
