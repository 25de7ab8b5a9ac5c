// SPDX-License-Identifier: Apache-2.0
//! Tests how much memory the computer and its control groups leave, from made-up files of the system.

use std::fs;
use std::path::PathBuf;

use ringmill_limits::internals::{of_computer, of_groups};

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

/// Writes a tree of control groups to a temporary folder, and returns the folder. Each entry of `files` is a group's
/// folder, a file name and the file's content.
fn tree(name: &str, files: &[(&str, &str, &str)]) -> PathBuf {
    let root = std::env::temp_dir().join(format!("ringmill-groups-{}-{name}", std::process::id()));
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
    // In a container, the path is one of the computer outside it. No such folder exists here.
    assert_eq!(
        of_groups(&root, "4:cpu,memory:/docker/0123\n0::/\n"),
        Some(400)
    );
    fs::remove_dir_all(root).unwrap();
}
