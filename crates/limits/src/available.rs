// SPDX-License-Identifier: Apache-2.0
//! The memory that the process may still take: what the computer has available, what its control groups leave and what its
//! address-space limit leaves.

use std::fs;
use std::path::{Path, PathBuf};

use crate::system;

/// Where the control groups' files are mounted.
const GROUPS: &str = "/sys/fs/cgroup";

/// The names of one version of control groups.
struct Version {
    /// Below [`GROUPS`].
    mounted: &'static str,
    limit: &'static str,
    usage: &'static str,
    /// Lines of `memory.stat`: the cache of files, which the kernel takes back where memory is short.
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

/// In bytes, the least of the three; `None` where the system says nothing.
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

/// From `/proc/meminfo`. Kernels before 3.14 do not say what is available.
fn of_computer(meminfo: &str) -> Option<u64> {
    let line = |name| meminfo.lines().find_map(|line| line.strip_prefix(name));
    let kib = line("MemAvailable:").or_else(|| line("MemTotal:"))?;
    let kib: u64 = kib.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

/// What the process's group and all groups above it leave. `member` is `/proc/self/cgroup`: a line `number:controllers:path`
/// for each hierarchy. A container may see its own group at the mount, whatever the path says; so the mount counts, too.
fn of_groups(mount: &Path, member: &str) -> Option<u64> {
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

/// What one group leaves; `None` without a limit.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_counts_before_total() {
        let text = "MemTotal: 100 kB\nMemFree: 10 kB\nMemAvailable:  60 kB\n";
        assert_eq!(of_computer(text), Some(60 << 10));
        assert_eq!(of_computer("MemTotal: 100 kB\n"), Some(100 << 10));
        for text in [
            "",
            "MemAvailable:\n",
            "MemAvailable: much kB\n",
            "MemTotal: 99999999999999999999 kB",
        ] {
            assert_eq!(of_computer(text), None, "{text:?}");
        }
    }

    /// A tree of groups: (folder, file, content).
    fn tree(name: &str, files: &[(&str, &str, &str)]) -> PathBuf {
        let root =
            std::env::temp_dir().join(format!("ringmill-groups-{}-{name}", std::process::id()));
        for (folder, file, content) in files {
            let folder = root.join(folder);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(file), content).unwrap();
        }
        root
    }

    #[test]
    fn the_tightest_group_above_counts_less_what_it_uses() {
        let root = tree(
            "two",
            &[
                ("a", "memory.max", "1000\n"),
                ("a", "memory.current", "700\n"),
                (
                    "a",
                    "memory.stat",
                    "anon 400\ninactive_file 250\nactive_file 50\nfile 300\n",
                ),
                ("a/b", "memory.max", "max\n"),
                ("a/b", "memory.current", "100\n"),
                ("c", "memory.max", "5\n"),
            ],
        );
        assert_eq!(of_groups(&root, "0::/a/b\n"), Some(600));
        assert_eq!(of_groups(&root, "0::/a\n"), Some(600));
        assert_eq!(of_groups(&root, "0::/\n"), None);
        assert_eq!(of_groups(&root, "0::/c/../../..\n"), Some(5));
        assert_eq!(of_groups(&root, "nonsense\n3:cpu:/a\n"), None);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn groups_of_the_first_version_count_too() {
        let root = tree(
            "one",
            &[
                ("memory", "memory.limit_in_bytes", "800\n"),
                ("memory", "memory.usage_in_bytes", "900\n"),
                (
                    "memory",
                    "memory.stat",
                    "inactive_file 1\ntotal_inactive_file 400\ntotal_active_file 100\n",
                ),
            ],
        );
        // A container whose path is that of the computer outside it.
        assert_eq!(
            of_groups(&root, "4:cpu,memory:/docker/0123\n0::/\n"),
            Some(400)
        );
        fs::remove_dir_all(root).unwrap();
    }
}
