// SPDX-License-Identifier: Apache-2.0
//! Runs SEAL for the decryption study. A script (`seal.py`) writes a key and a ciphertext to SEAL's files, decrypts the
//! ciphertext and measures the time. This module reads the files.

use std::path::{Path, PathBuf};
use std::process::Command;

use ringmill_schemes::seal::bfv::{BfvContext, read_ciphertext};
use ringmill_schemes::seal::read_single_prime_secret_key;
use serde::{Deserialize, Serialize};

use super::sample::{Sample, Set, T};
use crate::error::PaperError;

const SCRIPT: &str = include_str!("seal.py");
/// The environment variable that names a virtual environment whose Python can import SEAL's binding. The hardware's
/// tools use the same one.
const VENV: &str = "RINGMILL_VENV";

/// SEAL's own times in microseconds, its ciphertext, key and message.
pub struct Seal {
    pub times: Times,
    pub version: String,
    pub sample: Sample,
}

/// SEAL's times in microseconds, each the mean of separate runs.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Times {
    #[serde(rename(deserialize = "decrypt_us"))]
    decrypt: f64,
    /// Microseconds to transform one polynomial to evaluation form and back: SEAL's NTT_MULTIPLY without the products.
    #[serde(rename(deserialize = "transforms_us"))]
    transforms: f64,
}

/// The JSON that the script prints for one parameter set.
#[derive(Deserialize)]
struct Printed {
    version: String,
    message: Vec<u64>,
    #[serde(flatten)]
    times: Times,
}

/// Returns SEAL's times and files for every parameter set, or the reason why there are none: Python does not start, or
/// the script fails, for example without SEAL's binding.
///
/// # Errors
/// Fails if the folder cannot be made, or if SEAL's output or files are not as expected.
pub fn run(sets: &[Set], runs: u32) -> Result<Result<Vec<Seal>, String>, PaperError> {
    let folder = Folder::new()?;
    let mut command = Command::new(python());
    command.args(["-c", SCRIPT]).arg(&folder.0);
    command.args([runs.to_string(), T.to_string()]);
    for set in sets {
        command.args([set.n.to_string(), set.bits.to_string()]);
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(e) => return Ok(Err(format!("Python did not start: {e}"))),
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or("it said nothing");
        return Ok(Err(format!("SEAL's binding did not run: {last}")));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let printed = text.lines().map(serde_json::from_str::<Printed>);
    let printed = printed.collect::<Result<Vec<_>, _>>()?;
    if printed.len() != sets.len() {
        let (got, want) = (printed.len(), sets.len());
        return Err(PaperError::Internal(format!(
            "{got} sets of SEAL's, not {want}"
        )));
    }
    let read = sets.iter().zip(printed);
    let read = read.map(|(&set, printed)| folder.read(set, printed));
    Ok(Ok(read.collect::<Result<_, _>>()?))
}

/// Returns the Python of the virtual environment that `RINGMILL_VENV` names, else of one in this folder or above, else
/// the system's.
fn python() -> PathBuf {
    let of = |venv: PathBuf| venv.join("bin/python");
    if let Some(named) = std::env::var_os(VENV) {
        return of(named.into());
    }
    let here = std::env::current_dir().unwrap_or_default();
    let mut above = here.ancestors().map(|folder| of(folder.join(".venv")));
    let found = above.find(|python| python.is_file());
    found.unwrap_or_else(|| "python3".into())
}

/// A temporary folder with SEAL's files. It is removed on drop.
struct Folder(PathBuf);

impl Folder {
    /// Makes a temporary folder that no other user can read. Its key is made for the study alone, but it is a key.
    fn new() -> Result<Self, PaperError> {
        use std::os::unix::fs::DirBuilderExt;
        let bits = ringmill_math::Prng::from_os()?.next_u64();
        let path = std::env::temp_dir().join(format!("ringmill-seal-{bits:016x}"));
        let made = std::fs::DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|source| PaperError::File {
            path: path.clone(),
            source,
        })?;
        Ok(Self(path))
    }

    fn file(&self, set: Set, what: &str) -> Result<zeroize::Zeroizing<Vec<u8>>, PaperError> {
        let path = self.0.join(format!("{}-{}.{what}", set.n, set.bits));
        let read = std::fs::read(&path).map(zeroize::Zeroizing::new);
        read.map_err(|source| PaperError::File { path, source })
    }

    fn read(&self, set: Set, printed: Printed) -> Result<Seal, PaperError> {
        // SEAL names parameters by a hash of degree, prime and plain modulus, so the reader refuses other ones.
        let params = set.params()?;
        let context = BfvContext::new(params.clone())?;
        let cipher = read_ciphertext(&context, &self.file(set, "cipher")?)?;
        let key = read_single_prime_secret_key(&context, &self.file(set, "secret")?)?;
        Ok(Seal {
            times: printed.times,
            version: printed.version,
            sample: Sample::of(&params, &cipher, key, printed.message)?,
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Files that cannot be removed stay in the system's folder of temporary files.
        let _ = std::fs::remove_dir_all::<&Path>(&self.0);
    }
}
