// SPDX-License-Identifier: Apache-2.0
//! A cache of the tools' results. The name of a result is a hash of all its inputs.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::HdlError;

/// The hash under which a result is stored in the cache.
pub struct Key(Sha256);

impl Key {
    /// Begins the hash of a result's inputs. `kind` is the kind of result, which is the first
    /// input.
    pub fn new(kind: &str) -> Self {
        let mut key = Self(Sha256::new());
        key.text(kind);
        key
    }

    /// Adds a text with its length to the hash, so that the hash knows where one text ends and the next begins.
    pub fn text(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
    }

    /// Adds a list of texts with its length to the hash.
    pub fn texts(&mut self, texts: impl IntoIterator<Item = impl AsRef<str>>) {
        let mut count = 0u64;
        for text in texts {
            self.text(text.as_ref());
            count += 1;
        }
        self.0.update(count.to_le_bytes());
    }

    pub fn hex(self) -> String {
        let digest = self.0.finalize();
        digest.iter().take(16).map(|b| format!("{b:02x}")).collect()
    }
}

/// Returns the answer in the cache under `key`, or computes one with `make` and stores it. A stored answer that
/// cannot be read is computed again.
pub fn remembered<A: Serialize + DeserializeOwned>(
    cache: &Path,
    key: Key,
    make: impl FnOnce() -> Result<A, HdlError>,
) -> Result<A, HdlError> {
    let path = cache.join(format!("{}.json", key.hex()));
    let kept = std::fs::read(&path).ok();
    if let Some(answer) = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
        return Ok(answer);
    }
    let answer = make()?;
    let work = Scratch::new(cache)?;
    let part = work.0.join("answer.json");
    let text = serde_json::to_vec(&answer).map_err(|e| HdlError::Answer {
        tool: "serde_json",
        message: e.to_string(),
    })?;
    std::fs::write(&part, text).map_err(HdlError::io("write", &part))?;
    std::fs::rename(&part, &path).map_err(HdlError::io("write", &path))?;
    Ok(answer)
}

/// A temporary directory inside the cache, which is deleted on drop.
pub(crate) struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(cache: &Path) -> Result<Self, HdlError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = cache.join(format!("work-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(HdlError::io("create", &path))?;
        // Absolute, because Verilator and the compiler name it in what they write.
        let path = std::fs::canonicalize(&path).map_err(HdlError::io("resolve", &path))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A directory left behind costs disk space only, and there is no caller to report to.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A lock on a file of the cache. One holder has it at a time, among all processes that share the cache. The file is
/// unlocked when the lock is dropped or its process ends.
pub struct Lock(#[expect(dead_code, reason = "open for as long as it is held")] File);

impl Lock {
    /// Waits until no other holder has the file, and locks it.
    pub fn hold(path: &Path) -> Result<Self, HdlError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(HdlError::io("create", folder))?;
        }
        let file = File::create(path).map_err(HdlError::io("create", path))?;
        file.lock().map_err(HdlError::io("lock", path))?;
        Ok(Self(file))
    }
}
