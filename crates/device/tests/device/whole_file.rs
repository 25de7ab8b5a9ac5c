// SPDX-License-Identifier: Apache-2.0
//! Tests that files appear whole or not at all, with the right mode and owner.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use ringmill_device::whole_file::{
    Contents, close_to_others, fill, is_left_over, make_folder, others_only_look, probe,
    read_secret, write,
};

/// A folder for one test, which its drop removes.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ringmill-whole-file-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(&self.0)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn a_file_appears_whole_or_stays_as_it_was() {
    let folder = Folder::new();
    let path = folder.0.join("a");
    probe(&path, Contents::Public).unwrap();
    assert!(folder.names().is_empty());
    write(&path, Contents::Public, b"first").unwrap();
    let failed: io::Result<()> = fill(&path, Contents::Public, |out| {
        out.write_all(b"half")?;
        Err(io::Error::other("stop"))
    });
    assert!(failed.is_err());
    assert_eq!(fs::read(&path).unwrap(), b"first");
    assert_eq!(folder.names(), ["a"]);
    write(&path, Contents::Public, b"second").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"second");
}

#[test]
fn empty_paths_and_missing_folders_are_refused() {
    let folder = Folder::new();
    let missing = folder.0.join("no/such");
    for path in [
        Path::new(""),
        Path::new("/"),
        Path::new(".."),
        &folder.0,
        &folder.0.join("a/"),
        &missing,
        &folder.0.join("no/../a"),
    ] {
        assert!(write(path, Contents::Public, b"x").is_err(), "{path:?}");
        assert!(probe(path, Contents::Public).is_err(), "{path:?}");
    }
    let said = write(&missing, Contents::Public, b"x").unwrap_err();
    assert!(said.to_string().contains("make it first"), "{said}");
    assert!(make_folder(Path::new(""), Contents::Public).is_err());
    assert!(make_folder(&missing, Contents::Secret).is_err());
    assert!(folder.names().is_empty());
    make_folder(&folder.0.join("new"), Contents::Public).unwrap();
    make_folder(&folder.0.join("new"), Contents::Public).unwrap();
}

#[test]
fn secrets_are_their_owners_from_the_first_byte() {
    let folder = Folder::new();
    let path = folder.0.join("secret");
    for before in [None, Some(0o666), Some(0o400)] {
        if let Some(before) = before {
            fs::set_permissions(&path, Permissions::from_mode(before)).unwrap();
        }
        let written: io::Result<()> = fill(&path, Contents::Secret, |out| {
            let parts: Vec<_> = folder
                .names()
                .into_iter()
                .filter(|n| n != "secret")
                .collect();
            assert_eq!(parts.len(), 1);
            assert!(is_left_over(OsStr::new(&parts[0])));
            assert_eq!(mode(&folder.0.join(&parts[0])), 0o600);
            out.write_all(b"s")
        });
        // A file without write permission is refused, except if the test runs as root.
        if written.is_ok() {
            assert_eq!(mode(&path), 0o600, "{before:?}");
        } else {
            assert_eq!(before, Some(0o400));
        }
    }
}

#[test]
fn a_secrets_folder_is_its_owners_and_another_is_closed_when_asked() {
    let folder = Folder::new();
    let (new, wide) = (folder.0.join("new"), folder.0.join("wide"));
    make_folder(&new, Contents::Secret).unwrap();
    make_folder(&wide, Contents::Public).unwrap();
    assert_eq!(mode(&new), 0o700);
    fs::set_permissions(&wide, Permissions::from_mode(0o777)).unwrap();
    make_folder(&wide, Contents::Secret).unwrap();
    assert!(mode(&wide) == 0o777 && !others_only_look(&wide).unwrap());
    close_to_others(&wide).unwrap();
    assert!(mode(&wide) == 0o700 && others_only_look(&wide).unwrap());
    let file = wide.join("file");
    fs::write(&file, "x").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o664)).unwrap();
    close_to_others(&file).unwrap();
    assert_eq!(mode(&file), 0o600);
}

#[test]
fn a_replaced_file_keeps_its_mode() {
    let folder = Folder::new();
    let path = folder.0.join("a");
    write(&path, Contents::Public, b"1").unwrap();
    for kept in [0o640, 0o600, 0o755] {
        fs::set_permissions(&path, Permissions::from_mode(kept)).unwrap();
        write(&path, Contents::Public, b"2").unwrap();
        assert_eq!(mode(&path), kept);
    }
}

#[test]
fn links_are_followed_and_stay() {
    let folder = Folder::new();
    let (file, near, far) = (
        folder.0.join("file"),
        folder.0.join("near"),
        folder.0.join("far"),
    );
    std::os::unix::fs::symlink("file", &near).unwrap();
    std::os::unix::fs::symlink(&near, &far).unwrap();
    // The link has no target before the first write, and a file as its target after that.
    for text in ["first", "second"] {
        write(&far, Contents::Public, text.as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert!(fs::symlink_metadata(&far).unwrap().is_symlink());
        assert!(fs::symlink_metadata(&near).unwrap().is_symlink());
    }
    let ring = folder.0.join("ring");
    std::os::unix::fs::symlink("ring", &ring).unwrap();
    let said = write(&ring, Contents::Public, b"x").unwrap_err();
    assert!(said.to_string().contains("links"), "{said}");
    assert_eq!(folder.names(), ["far", "file", "near", "ring"]);
}

#[test]
fn devices_and_open_files_are_written_into() {
    let before = fs::metadata("/dev/null").unwrap();
    write(Path::new("/dev/null"), Contents::Public, b"x").unwrap();
    let after = fs::metadata("/dev/null").unwrap();
    assert!(after.file_type().is_char_device());
    assert_eq!(before.ino(), after.ino());
    let folder = Folder::new();
    let path = folder.0.join("open");
    let file = File::create(&path).unwrap();
    let number = fs::metadata(&path).unwrap().ino();
    let link = {
        use std::os::fd::AsRawFd;
        format!("/proc/self/fd/{}", file.as_raw_fd())
    };
    write(Path::new(&link), Contents::Public, b"through").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"through");
    assert_eq!(fs::metadata(&path).unwrap().ino(), number);
}

#[test]
fn what_killed_runs_left_is_removed_and_what_others_write_is_not() {
    let folder = Folder::new();
    let dead = folder.0.join(".ringmill-0123456789abcdef.part");
    let near = folder.0.join(".ringmill-0123456789abcdeX.part");
    let alive = folder.0.join(".ringmill-fedcba9876543210.part");
    for path in [&dead, &near, &alive] {
        fs::write(path, "x").unwrap();
    }
    let held = File::open(&alive).unwrap();
    held.lock().unwrap();
    write(&folder.0.join("a"), Contents::Public, b"x").unwrap();
    assert_eq!(
        folder.names(),
        [
            ".ringmill-0123456789abcdeX.part",
            ".ringmill-fedcba9876543210.part",
            "a"
        ]
    );
    drop(held);
    write(&folder.0.join("a"), Contents::Public, b"x").unwrap();
    assert!(!alive.exists() && near.exists());
}

#[test]
fn many_writers_of_one_file_get_in_nobodys_way() {
    let folder = Folder::new();
    let path = folder.0.join("a");
    std::thread::scope(|scope| {
        for writer in 0..8u8 {
            let path = &path;
            scope.spawn(move || {
                for _ in 0..20 {
                    write(path, Contents::Public, &[writer; 4096]).unwrap();
                    let read = fs::read(path).unwrap();
                    assert!(read.len() == 4096 && read.iter().all(|&b| b == read[0]));
                }
            });
        }
    });
    assert_eq!(folder.names(), ["a"]);
}

#[test]
fn secrets_are_read_whole_up_to_their_limit() {
    let folder = Folder::new();
    let path = folder.0.join("secret");
    let bytes: Vec<u8> = (0..70_000u32).map(|i| (i % 251) as u8).collect();
    write(&path, Contents::Secret, &bytes).unwrap();
    for most in [70_000, 70_001, u64::MAX] {
        assert_eq!(*read_secret(&path, most).unwrap(), bytes);
    }
    let kind = |path: &Path, most| read_secret(path, most).unwrap_err().kind();
    assert_eq!(kind(&path, 69_999), io::ErrorKind::FileTooLarge);
    // A file without a length is read piece by piece.
    assert!(read_secret(Path::new("/dev/null"), 9).unwrap().is_empty());
    let endless = kind(Path::new("/dev/zero"), 200_000);
    assert_eq!(endless, io::ErrorKind::FileTooLarge);
    // An error of the system ends the read.
    assert_eq!(kind(&folder.0, 9), io::ErrorKind::IsADirectory);
}
