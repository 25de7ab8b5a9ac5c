//! The folder of `--checkpoint`: all that a run needs to be gone on with by another process. The command is client and server in
//! one, so the client's secret key is there too, for its owner's eyes; what was complete is removed.

pub mod circuit;
pub mod scheme;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ringmill_devices::Saving;
use ringmill_limits::Watch;
use ringmill_schemes::whole_file::{self, Contents};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::error::CliError;

const SECRET: &str = "secret.key";
const CHECKPOINT: &str = "run.checkpoint";
/// What was asked: written last, so that a folder that has it has everything before it.
const ASKED: &str = "asked";

pub struct Folder {
    path: PathBuf,
    asked: String,
    /// Keys and inputs of the run are there.
    held: bool,
    /// The run goes on from a checkpoint.
    pub goes_on: bool,
    /// Keys and inputs, by name.
    files: Vec<String>,
}

impl Folder {
    /// The folder, which may be there or not; `asked` tells runs apart.
    fn open(path: &Path, asked: String, watch: &Watch) -> Result<Self, CliError> {
        let refused = |reason: &str| CliError::Input {
            path: path.to_owned(),
            reason: reason.to_owned(),
        };
        if path.exists() && !path.is_dir() {
            return Err(refused(
                "expected a folder, which is made where there is none; --checkpoint names it",
            ));
        }
        let held = path.join(ASKED).exists();
        let mut folder = Self {
            goes_on: held && path.join(CHECKPOINT).exists(),
            path: path.to_owned(),
            asked,
            held,
            files: Vec::new(),
        };
        if held && folder.get(ASKED, watch)? != folder.asked.as_bytes() {
            return Err(refused(
                "the folder holds a run of another program, other parameters or other inputs; give that one its own \
                 arguments, or this one another folder",
            ));
        }
        Ok(folder)
    }

    fn has(&self, name: &str) -> bool {
        self.path.join(name).exists()
    }

    fn get(&mut self, name: &str, watch: &Watch) -> Result<Vec<u8>, CliError> {
        let (path, _) = self.admitted(name, watch)?;
        fs::read(&path).map_err(|source| CliError::File { path, source })
    }

    /// The secret key's file.
    fn get_secret(&mut self, watch: &Watch) -> Result<Zeroizing<Vec<u8>>, CliError> {
        let (path, size) = self.admitted(SECRET, watch)?;
        whole_file::read_secret(&path, size).map_err(|source| CliError::File { path, source })
    }

    /// The path of a file that may be read, and its length.
    fn admitted(&mut self, name: &str, watch: &Watch) -> Result<(PathBuf, u64), CliError> {
        let path = self.path.join(name);
        let size = fs::metadata(&path).map_or(0, |data| data.len());
        watch.admit("a file of the checkpoint's folder", size)?;
        self.files.push(name.to_owned());
        Ok((path, size))
    }

    fn put(&mut self, name: &str, contents: Contents, bytes: &[u8]) -> Result<(), CliError> {
        let failed = |path: PathBuf| move |source| CliError::File { path, source };
        whole_file::make_folder(&self.path).map_err(failed(self.path.clone()))?;
        let path = self.path.join(name);
        self.files.push(name.to_owned());
        whole_file::write(&path, contents, bytes).map_err(failed(path))
    }

    /// Keys and inputs are all there.
    fn complete(&mut self) -> Result<(), CliError> {
        let asked = self.asked.clone();
        self.put(ASKED, Contents::Public, asked.as_bytes())
    }

    /// The error of a file of it that is not what was written.
    fn damaged(&self, name: &str, reason: impl ToString) -> CliError {
        CliError::Input {
            path: self.path.join(name),
            reason: reason.to_string(),
        }
    }

    /// What is told before the run.
    pub fn told(&self) -> &'static str {
        match self.goes_on {
            true => "going on from the checkpoint\n",
            false => "saved as it runs: the same command goes on after an interruption\n",
        }
    }

    pub fn saving(&self, every: Duration) -> Saving {
        Saving {
            path: self.path.join(CHECKPOINT),
            every,
        }
    }

    pub fn resume(&self) -> Option<PathBuf> {
        self.goes_on.then(|| self.path.join(CHECKPOINT))
    }

    /// The run is complete: nothing of it is kept.
    pub fn clear(self) -> Result<(), CliError> {
        // `asked` first: what is left without it is of no use.
        for name in [ASKED, CHECKPOINT]
            .into_iter()
            .chain(self.files.iter().map(String::as_str))
        {
            let path = self.path.join(name);
            match fs::remove_file(&path) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(CliError::File { path, source });
                }
                Ok(()) | Err(_) => {}
            }
        }
        // It stays where there is something of others in it.
        let _ = fs::remove_dir(&self.path);
        Ok(())
    }
}

/// A digest of a program and of its inputs, in hexadecimal digits.
struct Asked(Sha256);

impl Asked {
    fn of(program: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(program);
        Self(hash)
    }

    fn with(mut self, name: &str, bytes: &[u8]) -> Self {
        for part in [name.as_bytes(), bytes] {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
        self
    }

    fn finish(self) -> String {
        let digest = self.0.finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
