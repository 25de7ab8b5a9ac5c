// SPDX-License-Identifier: Apache-2.0
//! The count of decryptions that were shared under a secret key (docs/security.md). All copies of the key in a process
//! share the count. The first regular file to which the key is saved, or from which it was read if the caller names it,
//! stores the count.

mod account;
mod home;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

pub use account::{Account, Charge};
use home::Home;
use thiserror::Error;

use crate::file;
use crate::rlwe::SecretKey;

/// The reason for which a decryption under a key may not be shared with others.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LedgerError {
    #[error(
        "{so_far} decryptions were shared under this secret key, and {asked} more are above the limit of {limit} \
         (decryptions=); make new keys, and name from the first decryption on as many as will be shared"
    )]
    Count { so_far: u64, asked: u64, limit: u64 },
    #[error(
        "the {so_far} decryptions that were shared under this secret key, with fewer bits or for fewer decryptions, leave \
         no room for {asked} more with {bits} statistical bits for {limit} decryptions; make new keys, and name the same \
         bits and decryptions each time"
    )]
    Spent {
        so_far: u64,
        asked: u64,
        bits: u32,
        limit: u64,
    },
    #[error(
        "decryptions were shared under this secret key with {promised} statistical bits, and one with {got} would break \
         that promise; ask for at least {promised}, or make new keys"
    )]
    Weaker { promised: u32, got: u32 },
    #[error(
        "how many decryptions were shared under this secret key is not known: it came from a file or from bytes that do \
         not say; name the count so far (decrypted_so_far=), or make new keys"
    )]
    Unknown,
    #[error(
        "the count of decryptions that were shared under this secret key is kept in {path}, which cannot be read or \
         written: {reason}; make the file and its folder writable, or name the count so far (decrypted_so_far=)"
    )]
    Unkept { path: String, reason: String },
    #[error(
        "this process was forked after the secret key was made or loaded, and its copy of the key would count apart; save \
         the key before, or load it in this process"
    )]
    Forked,
}

/// The account of the decryptions shared with others that a process has in memory.
struct Memory {
    account: Account,
    /// Whether the account includes all decryptions that were shared with others under the key. It does if this process
    /// made the key, or once the caller has named a count.
    complete: bool,
}

impl Memory {
    fn charge(&mut self, charge: &Charge, refusal: LedgerError) -> Result<(), LedgerError> {
        if !self.complete && charge.decrypted_so_far.is_none() {
            return Err(refusal);
        }
        self.account = self.account.charged(charge)?;
        self.complete = true;
        Ok(())
    }
}

/// The count of the decryptions under a secret key that were shared with others, with what they reveal. It is in
/// memory, and also in the key's file if the key has one.
pub(super) struct Ledger {
    /// The identifier of the process whose memory holds the account. A forked child does not lock that memory, because
    /// the thread that holds the lock may not exist in the child.
    owner: u32,
    memory: Mutex<Memory>,
    /// The path of the secret key's file that stores the account of shared decryptions, if there is one.
    home: OnceLock<PathBuf>,
}

impl Ledger {
    fn new(complete: bool) -> Self {
        Self {
            owner: std::process::id(),
            memory: Mutex::new(Memory {
                account: Account::default(),
                complete,
            }),
            home: OnceLock::new(),
        }
    }

    /// Makes the account of a key that was made just now: no decryption under it was shared with others.
    pub fn of_new_key() -> Self {
        Self::new(true)
    }

    /// Makes the account of a secret key that existed before. It is not known how many decryptions under the key
    /// were shared with others.
    pub fn of_known_key() -> Self {
        Self::new(false)
    }

    /// Makes the account of shared decryptions of a key that was read from the file `path`, which stores the account.
    pub fn kept_in(path: &Path) -> Self {
        let ledger = Self::of_known_key();
        ledger.settle(path);
        ledger
    }

    /// Makes the file `path` the one that stores the account of shared decryptions from now on. Nothing changes if it
    /// is no regular file, or if another file stores the account already.
    fn settle(&self, path: &Path) {
        if let Some(path) = home::regular(path) {
            self.home.get_or_init(|| path);
        }
    }

    /// Returns the account of shared decryptions in memory, or `None` in a forked child of the process that made it.
    fn memory(&self) -> Option<MutexGuard<'_, Memory>> {
        let own = std::process::id() == self.owner;
        own.then(|| self.memory.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the account in memory if it is complete, so that no shared decryption is missing from it.
    fn remembered(&self) -> Option<Account> {
        let memory = self.memory()?;
        memory.complete.then_some(memory.account)
    }

    /// Returns how many decryptions under the key were shared with others, or `None` if that is not known.
    pub fn count(&self, key: &SecretKey) -> Option<u64> {
        let remembered = self.remembered();
        let kept = self.home.get().and_then(|path| {
            let home = Home::open(key, path).ok()?;
            home.account()
        });
        match (kept, remembered) {
            (Some(a), Some(b)) => Some(a.joined(b).count()),
            (Some(a), None) => Some(a.count()),
            (None, b) => b.map(|b| b.count()),
        }
    }

    /// Adds decryptions that are about to be shared to the account. If the key has a file, the file stores the new
    /// account before the call returns. If the file cannot be read or written, the account is in memory only. The call
    /// then succeeds only if no shared decryption is missing there, or if the charge names the count so far. Call this
    /// method before a decryption is shown to others.
    ///
    /// # Errors
    /// The errors of [`Account::charged`]. [`LedgerError::Unknown`] or [`LedgerError::Unkept`] if the earlier count is
    /// not known. In a forked child, [`LedgerError::Forked`] for a key without a file, and [`LedgerError::Unkept`] for
    /// a file that cannot be read or written.
    pub fn charge(&self, key: &SecretKey, charge: &Charge) -> Result<(), LedgerError> {
        if self.home.get().is_none() {
            let mut memory = self.memory().ok_or(LedgerError::Forked)?;
            // While the memory is locked no file becomes its home.
            if self.home.get().is_none() {
                return memory.charge(charge, LedgerError::Unknown);
            }
        }
        match self.home.get() {
            Some(path) => self.charge_at(path, key, charge),
            None => Err(LedgerError::Unknown),
        }
    }

    fn charge_at(&self, path: &Path, key: &SecretKey, charge: &Charge) -> Result<(), LedgerError> {
        let unkept = |known: Account, fault: io::Error| {
            let refusal = LedgerError::Unkept {
                path: path.display().to_string(),
                reason: fault.to_string(),
            };
            let Some(mut memory) = self.memory() else {
                return Err(refusal);
            };
            memory.account = memory.account.joined(known);
            memory.charge(charge, refusal)
        };
        let home = match Home::open(key, path) {
            Ok(home) => home,
            Err(fault) => return unkept(Account::default(), fault),
        };
        let remembered = self.remembered();
        let complete =
            home.account().is_some() || remembered.is_some() || charge.decrypted_so_far.is_some();
        if !complete {
            return Err(LedgerError::Unknown);
        }
        let kept = home.account().unwrap_or_default();
        let known = kept.joined(remembered.unwrap_or_default());
        let charged = known.charged(charge)?;
        if let Err(fault) = home.write(charged) {
            return unkept(known, fault);
        }
        // If the file is lost, this process still knows what it has shared.
        if let Some(mut memory) = self.memory() {
            memory.account = memory.account.joined(charged);
        }
        Ok(())
    }

    /// Writes the secret key to a file. If no file stores the account of shared decryptions yet, this one does from
    /// then on. It must be a regular file, and a forked child makes no file store the account. Other files have no
    /// account.
    pub fn save(&self, key: &SecretKey, path: &Path) -> io::Result<()> {
        let bare = || file::write_secret_key_in_the_clear(key);
        if self.home.get().is_none()
            && let Some(memory) = self.memory()
            && self.home.get().is_none()
        {
            let bytes = match memory.complete && !is_stream(path) {
                true => file::write_counted_secret_key(key, memory.account),
                false => bare(),
            };
            let written = home::put(path, &bytes);
            // After a fault that left a complete file, others may already count in it.
            let there = || home::regular(path).is_some_and(|path| Home::open(key, &path).is_ok());
            if written.is_ok() || there() {
                self.settle(path);
            }
            return written;
        }
        let own = self
            .home
            .get()
            .filter(|&own| home::regular(path).as_ref() == Some(own));
        match own.map(|own| Home::open(key, own)) {
            Some(Ok(home)) => home.write_again(),
            // A bare key in its place would lose the count.
            Some(Err(fault)) => Err(fault),
            None => home::put(path, &bare()),
        }
    }
}

/// Returns whether a path exists and is no regular file, but for example a pipe or a device.
fn is_stream(path: &Path) -> bool {
    path.exists() && home::regular(path).is_none()
}
