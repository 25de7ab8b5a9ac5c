// SPDX-License-Identifier: Apache-2.0
//! Finds how much memory the process may still take. It is the least of what the computer has available, what the
//! process's control groups leave, and what its address-space limit leaves.

use std::fs;
use std::path::{Path, PathBuf};

use crate::system;

/// The folder in which the system mounts the files of control groups.
const GROUPS: &str = "/sys/fs/cgroup";

/// The file names of one version of Linux control groups.
struct Version {
    /// The folder, below [`GROUPS`], with the control groups that limit memory.
    mounted: &'static str,
    limit: &'static str,
    usage: &'static str,
    /// The names of lines in `memory.stat` that count the bytes of cached files. The kernel takes these back if memory
    /// is short.
    cache: [&'static str; 2],
}

const V1: Version = Version {
    mounted: "memory",
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    cache: ["total_active_file", "total_inactive_file"],
};

const V2: Version = Version {
    mounted: "",
    limit: "memory.max",
    usage: "memory.current",
    cache: ["active_file", "inactive_file"],
};

/// Returns the bytes that the process may still take: the least of what the computer, the process's
/// control groups and its address-space limit leave. It is `None` if the system tells none of the
/// three.
pub fn memory() -> Option<u64> {
    let computer = fs::read_to_string("/proc/meminfo").ok();
    let member = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let parts = [
        computer.as_deref().and_then(of_computer),
        of_groups(Path::new(GROUPS), &member),
        of_address_space(),
    ];
    parts.into_iter().flatten().min()
}

/// Returns the bytes that the computer has available, from the text of `/proc/meminfo`. Kernels before 3.14 tell only
/// the total, which is returned then. Returns `None` if the text has neither number.
pub fn of_computer(meminfo: &str) -> Option<u64> {
    let line = |name| meminfo.lines().find_map(|line| line.strip_prefix(name));
    let kib = line("MemAvailable:").or_else(|| line("MemTotal:"))?;
    let kib: u64 = kib.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

/// Returns the least number of bytes that the process's control group and the groups above it leave, or `None` without
/// a limit. `mount` is the folder that holds the files of all control groups. `member` is the text of
/// `/proc/self/cgroup`: a line `number:controllers:path` for each hierarchy. A container may see its own group at the
/// mount, whatever the path says, so the limit at the mount counts, too.
pub fn of_groups(mount: &Path, member: &str) -> Option<u64> {
    let mut left = None;
    for line in member.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let version = match controllers {
            "" => &V2,
            _ if controllers.split(',').any(|name| name == "memory") => &V1,
            _ => continue,
        };
        let top = mount.join(version.mounted);
        let own = path
            .split('/')
            .filter(|part| !matches!(*part, "" | ".."))
            .collect::<PathBuf>();
        let own = top.join(own);
        let groups = own.ancestors().take_while(|group| group.starts_with(&top));
        left = groups
            .filter_map(|group| left_of(group, version))
            .chain(left)
            .min();
    }
    left
}

/// Returns the bytes that the control group in the folder `group` leaves, read from the files of
/// `version`, or `None` if it has no limit. Cached files do not count as used.
fn left_of(group: &Path, version: &Version) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    let number = |text: String| text.trim().parse::<u64>().ok();
    // `max` is no number and no limit.
    let limit = read(version.limit).and_then(number)?;
    let usage = read(version.usage).and_then(number).unwrap_or(0);
    let stat = read("memory.stat").unwrap_or_default();
    let cache = stat.lines().filter_map(|line| {
        let (name, bytes) = line.split_once(' ')?;
        let counts = version.cache.contains(&name);
        counts.then(|| bytes.trim().parse::<u64>().ok()).flatten()
    });
    let cache = cache.fold(0, u64::saturating_add);
    Some(limit.saturating_sub(usage.saturating_sub(cache)))
}

fn of_address_space() -> Option<u64> {
    let limit = system::address_limit()?;
    let taken = system::usage().map_or(0, |usage| usage.address_space);
    Some(limit.saturating_sub(taken))
}
