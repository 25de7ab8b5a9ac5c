// SPDX-License-Identifier: Apache-2.0
//! The file of a secret key, which stores the account of shared decryptions. This process locks the file while it
//! changes it, and no reader sees it half written.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use super::Account;
use crate::file;
use crate::rlwe::SecretKey;
use ringmill_device::whole_file::{self, Contents};

/// The longest time for which this process waits for the lock of a key's file. [`PAUSE`] is the time between two
/// attempts to lock the file.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(2);

/// The file of a secret key, which this process has locked.
pub(super) struct Home<'a> {
    key: &'a SecretKey,
    path: &'a Path,
    file: File,
    account: Option<Account>,
}

impl<'a> Home<'a> {
    /// Locks the file of a secret key and reads its account of shared decryptions. The account is `None` if the
    /// file has none.
    ///
    /// # Errors
    /// Fails for a file that cannot be read or locked, that stays locked for 10 seconds, or that is not of this
    /// key.
    pub fn open(key: &'a SecretKey, path: &'a Path) -> io::Result<Self> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if !fs::metadata(path)?.is_file() {
                return Err(io::Error::other("it is no regular file"));
            }
            let file = File::open(path)?;
            lock(&file, deadline)?;
            let mut home = Self {
                key,
                path,
                file,
                account: None,
            };
            // The last holder of the lock has replaced the file, so the new one must be locked.
            if !home.is_current()? {
                continue;
            }
            home.account = home.read()?;
            return Ok(home);
        }
    }

    fn is_current(&self) -> io::Result<bool> {
        let (held, named) = (self.file.metadata()?, fs::metadata(self.path)?);
        Ok((held.dev(), held.ino()) == (named.dev(), named.ino()))
    }

    fn read(&self) -> io::Result<Option<Account>> {
        let longest = file::secret_key_bytes(self.key) as u64;
        let mut bytes = Zeroizing::new(Vec::with_capacity(longest as usize + 1));
        (&self.file).take(longest + 1).read_to_end(&mut bytes)?;
        file::account_of(&bytes, self.key).map_err(io::Error::other)
    }

    /// Returns the account of shared decryptions in the file, or `None` if it has none.
    pub fn account(&self) -> Option<Account> {
        self.account
    }

    /// Writes the account of shared decryptions to the key's file. Once the call returns, the account survives a crash.
    pub fn write(&self, account: Account) -> io::Result<()> {
        self.put(&file::write_counted_secret_key(self.key, account))
    }

    /// Writes the key's file again, with the account of shared decryptions that it has.
    pub fn write_again(&self) -> io::Result<()> {
        match self.account {
            Some(account) => self.write(account),
            None => self.put(&file::write_secret_key_in_the_clear(self.key)),
        }
    }

    fn put(&self, bytes: &[u8]) -> io::Result<()> {
        put(self.path, bytes)
    }
}

/// Releases the lock explicitly on drop, because a forked child would otherwise keep it with its copy of the file.
impl Drop for Home<'_> {
    fn drop(&mut self) {
        // A lock that cannot be released ends with the process.
        let _ = self.file.unlock();
    }
}

fn lock(file: &File, deadline: Instant) -> io::Result<()> {
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(PAUSE);
            }
            Err(TryLockError::WouldBlock) => {
                let held = "another process has held its lock for 10 seconds";
                return Err(io::Error::new(ErrorKind::TimedOut, held));
            }
            Err(TryLockError::Error(fault)) => return Err(fault),
        }
    }
}

/// Writes the file of a secret key so that its content and its entry in the folder survive a crash.
pub(super) fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    whole_file::write(path, Contents::Secret, bytes)?;
    let path = regular(path);
    let folder = path.as_deref().and_then(Path::parent);
    folder.map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// Returns the absolute path of a regular file, which stays valid if the process changes its folder. Returns `None` for
/// pipes, devices and missing files.
pub(super) fn regular(path: &Path) -> Option<PathBuf> {
    let path = fs::canonicalize(path).ok()?;
    path.is_file().then_some(path)
}
