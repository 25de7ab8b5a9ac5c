//! The folder of `ringmill run --checkpoint`: all that a run needs to be gone on with by another process. The command is
//! client and server in one, so the client's secret key is there too, for its owner's eyes; what was complete is removed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ringmill_compiler::Compiled;
use ringmill_devices::Saving;
use ringmill_devices::runtime::{Client, EvaluationKeys};
use ringmill_isa::macros::Visibility;
use ringmill_limits::Watch;
use ringmill_schemes::file;
use ringmill_schemes::rlwe::RingParams;
use ringmill_schemes::whole_file::{self, Contents};
use sha2::{Digest, Sha256};

use crate::error::CliError;
use crate::scheme::{Ciphers, Messages, Served};

const SECRET: &str = "secret.key";
const RELIN: &str = "relin.key";
const GALOIS: &str = "galois.keys";
const CHECKPOINT: &str = "run.checkpoint";
/// What was asked: written last, so that a folder that has it has everything before it.
const ASKED: &str = "asked";

/// Keys and inputs of a run, and the folder that keeps them.
pub struct Prepared<S: Served> {
    pub client: Client<S>,
    pub keys: EvaluationKeys,
    pub ciphers: Ciphers<S>,
    pub folder: Option<Folder>,
}

pub struct Folder {
    path: PathBuf,
    /// The run goes on from a checkpoint.
    pub goes_on: bool,
    inputs: usize,
}

impl Folder {
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
        let inputs = (0..self.inputs).map(cipher_name);
        let fixed = [ASKED, CHECKPOINT, SECRET, RELIN, GALOIS].map(str::to_owned);
        for name in fixed.into_iter().chain(inputs) {
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

fn cipher_name(input: usize) -> String {
    format!("input{input}.ct")
}

/// Keys and encrypted inputs: fresh ones, or those of the folder where it holds a run of this program and these inputs.
pub fn prepare<S: Served>(
    compiled: &Arc<Compiled<S>>,
    encrypted: &Messages<S>,
    plains: &Messages<S>,
    folder: Option<&Path>,
    watch: &Watch,
) -> Result<Prepared<S>, CliError> {
    if let Some(path) = folder
        && path.exists()
        && !path.is_dir()
    {
        return Err(CliError::Input {
            path: path.to_owned(),
            reason: "expected a folder, which is made where there is none; --checkpoint names it"
                .to_owned(),
        });
    }
    let folder = folder.map(|path| (path, asked(compiled, encrypted, plains)));
    if let Some((path, asked)) = &folder
        && path.join(ASKED).exists()
    {
        return read(compiled, asked, path, watch);
    }
    let client = Client::new(Arc::clone(compiled))?.watched(watch);
    let keys = client.evaluation_keys()?;
    let ciphers = client.encrypt(encrypted)?;
    let written =
        |(path, asked): (&Path, String)| write(compiled, &asked, path, (&client, &keys, &ciphers));
    let folder = folder.map(written).transpose()?;
    Ok(Prepared {
        client,
        keys,
        ciphers,
        folder,
    })
}

/// What tells runs apart: the program as compiled, and the inputs.
fn asked<S: Served>(
    compiled: &Compiled<S>,
    encrypted: &Messages<S>,
    plains: &Messages<S>,
) -> String {
    let mut hash = Sha256::new();
    hash.update(ringmill_isa::mid::text::print_program(&compiled.program));
    for (name, values) in encrypted.iter().chain(plains) {
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name);
        let bytes = S::bytes(values);
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    let digest = hash.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write<S: Served>(
    compiled: &Compiled<S>,
    asked: &str,
    path: &Path,
    (client, keys, ciphers): (&Client<S>, &EvaluationKeys, &Ciphers<S>),
) -> Result<Folder, CliError> {
    let failed = |path: PathBuf| move |source| CliError::File { path, source };
    whole_file::make_folder(path).map_err(failed(path.to_owned()))?;
    let put = |name: &str, contents, bytes: &[u8]| {
        let path = path.join(name);
        whole_file::write(&path, contents, bytes).map_err(failed(path))
    };
    let secret = file::write_secret_key_in_the_clear(client.secret_key());
    put(SECRET, Contents::Secret, &secret)?;
    if let Some(relin) = &keys.relin {
        put(RELIN, Contents::Public, &file::write_relin_key(relin))?;
    }
    let galois = file::write_galois_keys(compiled.params.ring_params(), &keys.galois);
    let galois = galois.map_err(|e| CliError::Internal(e.to_string()))?;
    put(GALOIS, Contents::Public, &galois)?;
    for (number, cipher) in ciphers.values().enumerate() {
        let bytes = S::write_ciphertext(cipher);
        put(&cipher_name(number), Contents::Public, &bytes)?;
    }
    put(ASKED, Contents::Public, asked.as_bytes())?;
    Ok(Folder {
        path: path.to_owned(),
        goes_on: false,
        inputs: ciphers.len(),
    })
}

fn read<S: Served>(
    compiled: &Arc<Compiled<S>>,
    asked: &str,
    path: &Path,
    watch: &Watch,
) -> Result<Prepared<S>, CliError> {
    let get = |name: &str| {
        let path = path.join(name);
        let size = fs::metadata(&path).map_or(0, |data| data.len());
        watch.admit("a file of the checkpoint's folder", size)?;
        fs::read(&path).map_err(|source| CliError::File { path, source })
    };
    if get(ASKED)? != asked.as_bytes() {
        let reason = "the folder holds a run of another program, other parameters or other inputs; give that one its own \
                      arguments, or this one another folder";
        return Err(CliError::Input {
            path: path.to_owned(),
            reason: reason.to_owned(),
        });
    }
    let damaged = |name: &str, reason: String| CliError::Input {
        path: path.join(name),
        reason,
    };
    let params = compiled.params.ring_params();
    let secret = zeroize::Zeroizing::new(get(SECRET)?);
    let secret = file::read_secret_key_in_the_clear(&secret, params);
    let secret = secret.map_err(|e| damaged(SECRET, e.to_string()))?;
    let relin = path.join(RELIN).exists().then(|| {
        file::read_relin_key(&get(RELIN)?, params).map_err(|e| damaged(RELIN, e.to_string()))
    });
    let galois = file::read_galois_keys(&get(GALOIS)?, params);
    let keys = EvaluationKeys {
        relin: relin.transpose()?,
        galois: galois.map_err(|e| damaged(GALOIS, e.to_string()))?,
    };
    let mut ciphers = Ciphers::<S>::new();
    let inputs = compiled.inputs.iter();
    let encrypted = inputs.filter(|input| input.visibility == Visibility::Encrypted);
    let mut names: Vec<&String> = encrypted.map(|input| &input.name).collect();
    // As a map of ciphertexts has them.
    names.sort_unstable();
    for (number, name) in names.into_iter().enumerate() {
        let file = cipher_name(number);
        let cipher = S::read_ciphertext(&get(&file)?, &compiled.params);
        let cipher = cipher.map_err(|e| damaged(&file, e.to_string()))?;
        ciphers.insert(name.clone(), cipher);
    }
    Ok(Prepared {
        client: Client::with_secret_key(Arc::clone(compiled), secret)?.watched(watch),
        keys,
        folder: Some(Folder {
            path: path.to_owned(),
            goes_on: path.join(CHECKPOINT).exists(),
            inputs: ciphers.len(),
        }),
        ciphers,
    })
}
