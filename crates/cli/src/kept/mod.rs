// SPDX-License-Identifier: Apache-2.0
//! The folder of `--checkpoint`, which holds all data that another process needs to continue a run.
//!
//! The command is client and server in one, so the client's secret key is in the folder, too. Only the owner can read
//! the run's files, and the folder unless it also holds other files. A complete run removes its files.

pub(crate) mod asked;
pub mod circuit;
pub mod scheme;

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ringmill_device::Saving;
use ringmill_device::whole_file::{self, Contents};
use ringmill_limits::Watch;
use zeroize::Zeroizing;

use self::asked::{Asked, Key};
use crate::error::CliError;
use crate::inputs;

/// The name that messages about memory give to a file of the folder.
const FILE: &str = "a file of the checkpoint's folder";
const SECRET: &str = "secret.key";
/// The name of the file with the key of the digest in [`ASKED`].
const KEY: &str = "asked.key";
const CHECKPOINT: &str = "run.checkpoint";
/// The name of the file with the digest that identifies the run. It is written last, so a folder with this file has all
/// keys and inputs of the run.
const ASKED: &str = "asked";

pub struct Folder {
    path: PathBuf,
    key: Key,
    asked: Asked,
    /// Whether the folder already holds keys and inputs of this run.
    held: bool,
    /// Whether the run continues from a checkpoint in the folder.
    pub goes_on: bool,
    /// The names of the folder's files that hold keys and inputs.
    files: Vec<String>,
}

impl Folder {
    /// Opens the checkpoint's folder, which need not exist. `asked` adds to the digest the parts that identify the run.
    fn open(
        path: &Path,
        asked: impl FnOnce(Asked) -> Asked,
        watch: &Watch,
    ) -> Result<Self, CliError> {
        let refused = |reason: &str| CliError::Input {
            path: path.to_owned(),
            reason: reason.to_owned(),
        };
        if path.exists() && !path.is_dir() {
            return Err(refused(
                "expected a folder, which is made where there is none; --checkpoint names it",
            ));
        }
        if path.exists() && !close(path)? {
            return Err(refused(
                "others may write into this folder, and it holds more than a run; name a new folder, which is then \
                 closed to others",
            ));
        }
        let mut files = Vec::new();
        let held = path.join(ASKED).exists();
        let key = match held {
            true if !path.join(KEY).exists() => {
                return Err(refused(
                    "the folder holds a run of an older version, whose file `asked` tells what the inputs were to whoever \
                     guesses them; remove the folder, and start the run anew",
                ));
            }
            true => {
                let bytes = get_secret(path, &mut files, KEY, watch)?;
                Key::read(&bytes).ok_or_else(|| CliError::Input {
                    path: path.join(KEY),
                    reason: format!(
                        "expected a key of {} bytes, got {}; remove the folder, and start the run anew",
                        Key::BYTES,
                        bytes.len()
                    ),
                })?
            }
            false => Key::draw()?,
        };
        let asked = asked(Asked::under(&key)?);
        if held && !asked.is(&get(path, &mut files, ASKED, watch)?) {
            return Err(refused(
                "the folder holds a run of another program, other parameters or other inputs; give that one its own \
                 arguments, or this one another folder",
            ));
        }
        Ok(Self {
            goes_on: held && path.join(CHECKPOINT).exists(),
            path: path.to_owned(),
            key,
            asked,
            held,
            files,
        })
    }

    fn get(&mut self, name: &str, watch: &Watch) -> Result<Vec<u8>, CliError> {
        get(&self.path, &mut self.files, name, watch)
    }

    /// Reads the file of the secret key. Its bytes are wiped on drop.
    fn get_secret(&mut self, watch: &Watch) -> Result<Zeroizing<Vec<u8>>, CliError> {
        get_secret(&self.path, &mut self.files, SECRET, watch)
    }

    /// Writes a file of the checkpoint's folder that only its owner can read. Encrypted inputs are kept as private as
    /// the keys.
    fn put(&mut self, name: &str, bytes: &[u8]) -> Result<(), CliError> {
        let made = whole_file::make_folder(&self.path, Contents::Secret);
        made.map_err(failed(&self.path))?;
        let path = self.path.join(name);
        self.files.push(name.to_owned());
        whole_file::write(&path, Contents::Secret, bytes).map_err(failed(&path))
    }

    /// Marks the folder's keys and inputs as complete, by the file of the digest.
    fn complete(&mut self) -> Result<(), CliError> {
        let (key, tag) = (Zeroizing::new(self.key.bytes().to_vec()), self.asked.tag());
        self.put(KEY, &key)?;
        // A run that was killed while it removed its files may have left a checkpoint of other keys.
        remove(&self.path.join(CHECKPOINT))?;
        self.put(ASKED, &tag)
    }

    /// Returns the error for a file of the folder that differs from what was written.
    fn damaged(&self, name: &str, reason: impl ToString) -> CliError {
        CliError::Input {
            path: self.path.join(name),
            reason: reason.to_string(),
        }
    }

    /// Returns the message that the command prints before the run: whether the run continues from a checkpoint, or is
    /// saved while it runs.
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

    /// Removes the run's files after the run is complete, and then the folder if it is empty.
    ///
    /// # Errors
    /// Fails if a file cannot be removed.
    pub fn clear(self) -> Result<(), CliError> {
        // `asked` goes first: without it the other files are of no use.
        for name in [ASKED, CHECKPOINT]
            .into_iter()
            .chain(self.files.iter().map(String::as_str))
        {
            remove(&self.path.join(name))?;
        }
        // The folder stays if it holds other files.
        let _ = fs::remove_dir(&self.path);
        Ok(())
    }
}

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> CliError {
    let path = path.to_owned();
    |source| CliError::File { path, source }
}

/// Removes a file of the checkpoint's folder if it exists.
fn remove(path: &Path) -> Result<(), CliError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(failed(path)),
    }
}

/// Reads a file of the checkpoint's folder, and adds its name to the list `files` of the files that the run keeps
/// there.
fn get(
    folder: &Path,
    files: &mut Vec<String>,
    name: &str,
    watch: &Watch,
) -> Result<Vec<u8>, CliError> {
    let bytes = inputs::read_within(&folder.join(name), FILE, watch)?;
    files.push(name.to_owned());
    Ok(bytes)
}

/// Reads a file of the checkpoint's folder that holds a secret, and adds its name to the list `files` of the files that
/// the run keeps there. The bytes are wiped on drop.
fn get_secret(
    folder: &Path,
    files: &mut Vec<String>,
    name: &str,
    watch: &Watch,
) -> Result<Zeroizing<Vec<u8>>, CliError> {
    let path = folder.join(name);
    let size = fs::metadata(&path).map_or(0, |data| data.len());
    watch.admit(FILE, size)?;
    files.push(name.to_owned());
    whole_file::read_secret(&path, size).map_err(failed(&path))
}

/// Closes a checkpoint's folder, and the files of a run in it, to other users. A folder that also holds other files
/// keeps its mode, since other users may need it. Returns whether other users cannot write into the folder.
fn close(folder: &Path) -> Result<bool, CliError> {
    let mut alone = true;
    for entry in fs::read_dir(folder).map_err(failed(folder))? {
        let entry = entry.map_err(failed(folder))?;
        let is_file = entry.file_type().map_err(failed(folder))?.is_file();
        match is_file && is_of_a_run(&entry.file_name()) {
            true => match whole_file::close_to_others(&entry.path()) {
                // Another process may just have removed it: each write removes the files that killed runs left.
                Err(source) if source.kind() == ErrorKind::NotFound => {}
                closed => closed.map_err(failed(&entry.path()))?,
            },
            false => alone = false,
        }
    }
    if alone {
        whole_file::close_to_others(folder).map_err(failed(folder))?;
    }
    whole_file::others_only_look(folder).map_err(failed(folder))
}

/// Returns whether a run keeps a file of this name in the folder.
fn is_of_a_run(name: &OsStr) -> bool {
    let Some(text) = name.to_str() else {
        return false;
    };
    [SECRET, CHECKPOINT, KEY, ASKED].contains(&text)
        || circuit::is_kept(text)
        || scheme::is_kept(text)
        || whole_file::is_left_over(name)
}
