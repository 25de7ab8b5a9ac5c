// SPDX-License-Identifier: Apache-2.0
//! Writes files whole or not at all, through links, devices and pipes, with secrets readable by their owner alone.
//!
//! A regular file is written under another name beside its own, flushed to the disk and renamed. So a reader sees the
//! old contents or the new. A symbolic link is followed: the link stays, and its target changes. Devices, pipes and
//! `/dev/stdout` are written into.
//!
//! The other name is `.ringmill-<16 hexadecimal digits>.part`, locked (`flock`) while it is written. The lock ends with
//! its process, so a file of that name without a lock is left over from a run that was killed. The next write into the
//! folder removes it.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::{
    DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown,
};
use std::path::{Path, PathBuf};

use ringmill_limits::{Halt, Watch};
use ringmill_math::Prng;
use zeroize::Zeroizing;

/// The readers that a file may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contents {
    /// A public file. A replaced file keeps its mode and owner; a new file has the process's default mode.
    Public,
    /// A secret file: mode 0600 from the first byte, for every umask and every file that it replaces.
    Secret,
}

const OWNER_ONLY: u32 = 0o600;
const OWNERS_FOLDER: u32 = 0o700;
/// The mode of a new file before the umask.
const ANYONE: u32 = 0o666;
const ANYONES_FOLDER: u32 = 0o777;
/// The most links to follow, as in Linux.
const MOST_LINKS: usize = 40;

/// Writes `bytes` to `path`; a failure leaves the old contents.
///
/// # Errors
/// An empty path, a folder, a missing folder, a file without write permission, and errors of the operating system.
pub fn write(path: &Path, contents: Contents, bytes: &[u8]) -> io::Result<()> {
    fill(path, contents, |out| out.write_all(bytes))
}

/// Writes a file piece by piece as [`write()`] does. An error of `fill` leaves the old contents, too.
pub fn fill<T, E: From<io::Error>>(
    path: &Path,
    contents: Contents,
    fill: impl FnOnce(&mut BufWriter<File>) -> Result<T, E>,
) -> Result<T, E> {
    match target(path)? {
        Target::Stream { path, truncate } => {
            let mut file = OpenOptions::new();
            file.write(true).truncate(truncate);
            filled(file.open(path)?, contents, fill)
        }
        Target::File { path, existing } => {
            let part = Part::beside(&path, contents, existing.as_ref())?;
            let value = filled(part.file.try_clone()?, contents, fill)?;
            part.become_file(&path)?;
            Ok(value)
        }
    }
}

/// Fills the file. Secrets are written unbuffered: a buffer would keep the last of them.
fn filled<T, E: From<io::Error>>(
    file: File,
    contents: Contents,
    fill: impl FnOnce(&mut BufWriter<File>) -> Result<T, E>,
) -> Result<T, E> {
    let mut out = match contents {
        Contents::Secret => BufWriter::with_capacity(0, file),
        Contents::Public => BufWriter::new(file),
    };
    let value = fill(&mut out)?;
    out.flush()?;
    Ok(value)
}

/// The reason for which a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{0}")]
    Halt(#[from] Halt),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The bytes between two looks at the watch.
const LOOK: u64 = 1 << 20;

/// Reads a file, also one that has no length or never ends. The bytes, and as much again for later processing, must be
/// within the limit of `watch`; `what` names them in the refusal.
///
/// # Errors
/// Errors of the operating system; [`Halt`].
pub fn read(path: &Path, what: &str, watch: &Watch) -> Result<Vec<u8>, ReadError> {
    let limit = watch.limits().memory;
    let largest = limit / 2;
    let mut file = File::open(path)?.take(largest.saturating_add(1));
    let mut bytes = Vec::new();
    // Grows fallibly, and no further than the limit.
    while file.by_ref().take(LOOK).read_to_end(&mut bytes)? > 0 {
        watch.check()?;
    }
    let read = bytes.len() as u64;
    if read > largest {
        let (what, needed) = (what.to_owned(), read.saturating_mul(2));
        return Err(Halt::OverLimit {
            what,
            needed,
            limit,
        }
        .into());
    }
    Ok(bytes)
}

/// The bytes read at a time from a file without a length.
const PIECE: usize = 1 << 16;

/// Reads a file that holds a secret. The bytes are wiped on drop, and no other copy of them is left.
///
/// # Errors
/// Errors of the operating system; [`ErrorKind::FileTooLarge`] for more than `most` bytes.
pub fn read_secret(path: &Path, most: u64) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut file = File::open(path)?;
    let length = usize::try_from(file.metadata()?.len().min(most)).unwrap_or(usize::MAX);
    let mut bytes = room(length.saturating_add(1))?;
    let mut read = 0;
    loop {
        if read as u64 > most {
            return Err(ErrorKind::FileTooLarge.into());
        }
        if read == bytes.len() {
            // A vector that grows by itself would leave a copy of its old contents in memory.
            let mut longer = room(bytes.len().saturating_add(bytes.len().max(PIECE)))?;
            longer
                .iter_mut()
                .zip(bytes.iter())
                .for_each(|(to, &from)| *to = from);
            bytes = longer;
        }
        match file.read(bytes.get_mut(read..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(fault) if fault.kind() == ErrorKind::Interrupted => {}
            Err(fault) => return Err(fault),
        }
    }
    bytes.truncate(read);
    Ok(bytes)
}

/// Returns `bytes` zeros.
fn room(bytes: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    let zeros = ringmill_limits::zeroed("a secret's file", bytes);
    Ok(Zeroizing::new(zeros.map_err(|_| ErrorKind::OutOfMemory)?))
}

/// Returns an error if [`write()`] could not write to the path now. The file stays as it is. Pipes and devices are not
/// opened.
///
/// # Errors
/// The errors of [`write()`].
pub fn probe(path: &Path, contents: Contents) -> io::Result<()> {
    match target(path)? {
        Target::Stream { .. } => Ok(()),
        Target::File { path, existing } => {
            Part::beside(&path, contents, existing.as_ref()).map(drop)
        }
    }
}

fn refused(kind: ErrorKind, reason: impl Into<String>) -> io::Error {
    io::Error::new(kind, reason.into())
}

/// The way in which a path is written.
enum Target {
    /// A file that is replaced.
    File {
        path: PathBuf,
        existing: Option<Metadata>,
    },
    /// A device or pipe that is written into. It is not opened yet: a pipe waits for its reader.
    Stream { path: PathBuf, truncate: bool },
}

fn target(path: &Path) -> io::Result<Target> {
    if path.as_os_str().is_empty() {
        let reason = "the path is empty; name a file to write";
        return Err(refused(ErrorKind::InvalidInput, reason));
    }
    let mut path = path.to_owned();
    for _ in 0..=MOST_LINKS {
        if path.file_name().is_none() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            let reason = "this names a folder; name a file to write";
            return Err(refused(ErrorKind::IsADirectory, reason));
        }
        let found = match fs::symlink_metadata(&path) {
            Ok(found) => found,
            Err(fault) if fault.kind() == ErrorKind::NotFound => {
                present(folder(&path))?;
                let existing = None;
                return Ok(Target::File { path, existing });
            }
            Err(fault) => return Err(fault),
        };
        let kind = found.file_type();
        if kind.is_dir() {
            let reason = "this is a folder; name a file to write";
            return Err(refused(ErrorKind::IsADirectory, reason));
        } else if kind.is_file() {
            // A file that may not be written in place is not replaced either.
            OpenOptions::new().write(true).open(&path)?;
            let existing = Some(found);
            return Ok(Target::File { path, existing });
        } else if kind.is_fifo() || kind.is_char_device() || kind.is_block_device() {
            let truncate = false;
            return Ok(Target::Stream { path, truncate });
        } else if !kind.is_symlink() {
            let reason = "this is a socket; name a file to write";
            return Err(refused(ErrorKind::InvalidInput, reason));
        }
        // The links to which /dev/stdout leads are those of open files, and name no path that could be followed.
        if folder(&path).canonicalize()?.starts_with("/proc") {
            let truncate = true;
            return Ok(Target::Stream { path, truncate });
        }
        path = folder(&path).join(fs::read_link(&path)?);
    }
    let reason = "too many symbolic links; do they lead in a circle?";
    Err(refused(ErrorKind::InvalidInput, reason))
}

/// Returns the folder of a file.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Refuses a folder that does not exist.
fn present(folder: &Path) -> io::Result<()> {
    match fs::metadata(folder) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => {
            let reason = format!("{} is not a folder", folder.display());
            Err(refused(ErrorKind::NotADirectory, reason))
        }
        Err(fault) if fault.kind() == ErrorKind::NotFound => {
            let reason = format!(
                "the folder {} does not exist; make it first",
                folder.display()
            );
            Err(refused(ErrorKind::NotFound, reason))
        }
        Err(fault) => Err(fault),
    }
}

/// Makes the folder `path` if it is missing; its parent must exist. An existing folder keeps its mode. A new folder for
/// [`Contents::Secret`] has mode 0700.
pub fn make_folder(path: &Path, contents: Contents) -> io::Result<()> {
    if path.as_os_str().is_empty() {
        let reason = "the path is empty; name a folder to write into";
        return Err(refused(ErrorKind::InvalidInput, reason));
    }
    if path.is_dir() {
        return Ok(());
    }
    present(folder(path))?;
    let mode = match contents {
        Contents::Public => ANYONES_FOLDER,
        Contents::Secret => OWNERS_FOLDER,
    };
    fs::DirBuilder::new().mode(mode).create(path)
}

/// The mode bits of the group and of others.
const OTHERS: u32 = 0o077;
/// The bits among these that allow changes to a folder.
const OTHERS_WRITE: u32 = 0o022;

/// Removes all permissions of the group and of others from a file or folder.
pub fn close_to_others(path: &Path) -> io::Result<()> {
    let mode = fs::metadata(path)?.mode();
    if mode & OTHERS == 0 {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(mode & 0o7777 & !OTHERS))
}

/// Returns whether only its owner may change a folder's entries.
pub fn others_only_look(folder: &Path) -> io::Result<bool> {
    Ok(fs::metadata(folder)?.mode() & OTHERS_WRITE == 0)
}

const PREFIX: &str = ".ringmill-";
const DIGITS: usize = 16;
const SUFFIX: &str = ".part";

/// A file that is being written, locked. It is removed unless it is renamed to its final name.
struct Part {
    file: File,
    path: PathBuf,
    renamed: bool,
}

impl Part {
    fn beside(path: &Path, contents: Contents, existing: Option<&Metadata>) -> io::Result<Self> {
        let kept = existing.filter(|_| contents == Contents::Public);
        let mode = match contents {
            Contents::Secret => OWNER_ONLY,
            Contents::Public => kept.map_or(ANYONE, |m| m.mode() & 0o777),
        };
        loop {
            let number = Prng::from_os().map_err(io::Error::other)?.next_u64();
            let name = format!("{PREFIX}{number:0DIGITS$x}{SUFFIX}");
            let path = folder(path).join(name);
            let mut options = OpenOptions::new();
            let file = match options.write(true).create_new(true).mode(mode).open(&path) {
                Err(fault) if fault.kind() == ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            let part = Self {
                file,
                path,
                renamed: false,
            };
            // A file system without locks never counts a file as left over, so no lock is needed there.
            let _ = part.file.lock();
            // Another writer may have taken the file for left over before it was locked.
            if part.file.metadata()?.nlink() == 0 {
                continue;
            }
            if contents == Contents::Secret || kept.is_some() {
                part.give(mode, kept)?;
            }
            part.sweep();
            return Ok(part);
        }
    }

    /// Sets the mode independent of the umask, and the owner of the replaced file if that is allowed.
    fn give(&self, mode: u32, kept: Option<&Metadata>) -> io::Result<()> {
        if let Some(kept) = kept {
            let own = self.file.metadata()?;
            if (own.uid(), own.gid()) != (kept.uid(), kept.gid()) {
                // Only root may change the owner, and a file of another owner is no reason to fail.
                let _ = fchown(&self.file, Some(kept.uid()), Some(kept.gid()));
            }
        }
        self.file.set_permissions(Permissions::from_mode(mode))
    }

    /// Removes the files that killed runs of this user left in the folder. A later write tries again after a failure.
    fn sweep(&self) {
        let (Ok(own), Ok(entries)) = (self.file.metadata(), fs::read_dir(folder(&self.path)))
        else {
            return;
        };
        for entry in entries.flatten() {
            if is_left_over(&entry.file_name()) {
                let _ = remove_left_over(&entry.path(), own.uid());
            }
        }
    }

    fn become_file(mut self, path: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.path, path)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.renamed {
            // The first error is the one to report.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns whether a file of this name is being written or left over.
pub fn is_left_over(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let number = name
        .strip_prefix(PREFIX.as_bytes())
        .and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()));
    number.is_some_and(|n| n.len() == DIGITS && n.iter().all(u8::is_ascii_hexdigit))
}

/// Removes a file that no process holds locked. Files of other users are not even opened, as they could be pipes.
fn remove_left_over(path: &Path, user: u32) -> io::Result<()> {
    let named = fs::symlink_metadata(path)?;
    if !named.is_file() || named.uid() != user {
        return Ok(());
    }
    let file = File::open(path)?;
    let opened = file.metadata()?;
    if file.try_lock().is_ok() && (opened.dev(), opened.ino()) == (named.dev(), named.ino()) {
        fs::remove_file(path)?;
    }
    Ok(())
}
