// SPDX-License-Identifier: Apache-2.0
//! Writes files whole or not at all, through links, devices and pipes. Only the owner can read a regular file with
//! secrets.
//!
//! A regular file is written under another name in its folder, flushed to the disk and renamed. So a reader sees the
//! old contents or the new. A symbolic link is followed: the link stays, and its target changes. Devices, pipes and
//! `/dev/stdout` are written directly.
//!
//! The other name is `.ringmill-<16 hexadecimal digits>.part`, locked (`flock`) while it is written. The lock ends with
//! its process, so a file of that name without a lock is left over from a run that was killed. The next write of the
//! same user into the folder removes it.

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

/// The readers that a regular file may have: those of its mode, or its owner alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contents {
    /// The file holds no secret. A replaced file keeps its mode, and its owner if the system allows that. A new file
    /// has mode 0666 without the bits of the umask.
    Public,
    /// Only the owner may read the file. It has mode 0600 from the first byte, for every umask and every file that it
    /// replaces.
    Secret,
}

const OWNER_ONLY: u32 = 0o600;
const OWNERS_FOLDER: u32 = 0o700;
/// The mode of a new public file, from which the umask removes bits.
const ANYONE: u32 = 0o666;
const ANYONES_FOLDER: u32 = 0o777;
/// The most symbolic links to follow from a path, as in Linux.
const MOST_LINKS: usize = 40;

/// Writes `bytes` to the file `path`, whole or not at all. A failure leaves the old contents of a regular file.
///
/// # Errors
/// Fails for an empty path, a folder, a missing folder, a socket, a circle of links, a file without write permission,
/// and errors of the operating system.
pub fn write(path: &Path, contents: Contents, bytes: &[u8]) -> io::Result<()> {
    fill(path, contents, |out| out.write_all(bytes))
}

/// Writes a file piece by piece, whole or not at all, with the function `fill`. An error of `fill` leaves the old
/// contents of a regular file.
///
/// # Errors
/// The errors of `fill`, and those of [`write()`].
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

/// Passes the file to `fill`. A secret is written without a buffer, because a buffer would keep its last bytes in
/// memory.
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

/// The number of bytes that are read between two checks for a stop.
const LOOK: u64 = 1 << 20;

/// Reads a whole file. It also reads a file without a length, such as a pipe, and fails at the limit if the file never
/// ends. The limit of `watch` must allow twice the bytes of the file, because a parser needs as much again. `what`
/// names the file's content in the error.
///
/// # Errors
/// [`ReadError::Io`] for errors of the operating system; [`ReadError::Halt`] if the limit is too small or the work is
/// stopped.
pub fn read(path: &Path, what: &str, watch: &Watch) -> Result<Vec<u8>, ReadError> {
    let limit = watch.limits().memory;
    let largest = limit / 2;
    let mut file = File::open(path)?.take(largest.saturating_add(1));
    let mut bytes = Vec::new();
    // The read fails if memory ends, and reads no further than one byte above the limit.
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

/// The least number of bytes by which the buffer for a secret's file grows.
const PIECE: usize = 1 << 16;

/// Reads a file that holds a secret. The returned bytes are wiped on drop, and no other copy of them is left.
///
/// # Errors
/// Errors of the operating system, [`ErrorKind::FileTooLarge`] for a file of more than `most` bytes, and
/// [`ErrorKind::OutOfMemory`] if memory ends.
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

/// Returns a buffer of `bytes` zeros that is wiped on drop.
fn room(bytes: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    let zeros = ringmill_limits::zeroed("a secret's file", bytes);
    Ok(Zeroizing::new(zeros.map_err(|_| ErrorKind::OutOfMemory)?))
}

/// Returns an error if [`write()`] could not write to the path now. The check leaves the file as it is. It opens no
/// pipe or device, so it finds no fault of these.
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

/// The way in which the file at a path is written.
enum Target {
    /// A regular file that is replaced by a new one.
    File {
        path: PathBuf,
        existing: Option<Metadata>,
    },
    /// A device or pipe that is written directly. It is not opened yet, because opening a pipe waits for its reader.
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

/// Returns the folder that contains a file.
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

/// Makes the folder `path` unless it exists; its parent must exist. An existing folder keeps its mode. A new folder for
/// [`Contents::Secret`] has mode 0700.
///
/// # Errors
/// Fails for an empty path, a missing parent, and errors of the operating system.
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

/// The mode bits that give permissions to the group and to others.
const OTHERS: u32 = 0o077;
/// The mode bits that let the group and others change a folder.
const OTHERS_WRITE: u32 = 0o022;

/// Removes all permissions of the group and of others from a file or folder.
///
/// # Errors
/// Errors of the operating system.
pub fn close_to_others(path: &Path) -> io::Result<()> {
    let mode = fs::metadata(path)?.mode();
    if mode & OTHERS == 0 {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(mode & 0o7777 & !OTHERS))
}

/// Returns whether nobody but the owner of a folder may change its entries, by its mode bits.
///
/// # Errors
/// Errors of the operating system.
pub fn others_only_look(folder: &Path) -> io::Result<bool> {
    Ok(fs::metadata(folder)?.mode() & OTHERS_WRITE == 0)
}

const PREFIX: &str = ".ringmill-";
const DIGITS: usize = 16;
const SUFFIX: &str = ".part";

/// A file that is being written under its temporary name, and locked. The drop removes it, unless it was renamed to its
/// final name.
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

    /// Sets the mode of the file, whatever the umask is. It also sets the owner of the replaced file, whose
    /// metadata are `kept`, if the system allows that.
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

    /// Removes temporary files that killed runs of this user left in the folder. If that fails, a later write tries
    /// again.
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

/// Returns whether a file name is that of a temporary file, which is being written or was left by a killed run.
pub fn is_left_over(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let number = name
        .strip_prefix(PREFIX.as_bytes())
        .and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()));
    number.is_some_and(|n| n.len() == DIGITS && n.iter().all(u8::is_ascii_hexdigit))
}

/// Removes a temporary file unless a process holds its lock. It does not even open files of other users, as they could
/// be pipes.
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
