// SPDX-License-Identifier: Apache-2.0
//! Saves a run that stopped between two calls to a file, and reads it back. The file holds the limbs that the rest of
//! the run needs, the position in the program, and the identities of program and data.
//!
//! The file begins with a mark and a version. Then come the identities of program and data, the number of finished
//! calls, the number of limbs, and the limbs. Each limb is its number, its count of residues, and the residues. All
//! numbers are little-endian words of 64 bits. A SHA-256 of all these bytes ends the file. A reader checks that each
//! limb is alive after the finished calls, that its length is that of its type, and that its residues are below its
//! modulus.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use crate::whole_file::{Contents, fill};
use ringmill_isa::mid::{Called, LimbId, Stream, ValueType, Verified, text::print_program};
use ringmill_limits::{Watch, zeroed};
use sha2::{Digest, Sha256};

use crate::bindings::{Bindings, check_residues};
use crate::expanded::Usage;
use crate::saving::{Schedule, save_at_last};
use crate::{CheckpointError, DeviceError};

const MARK: [u8; 8] = *b"RINGCHK1";
type Identity = [u8; 32];

/// The identities of a program and of the data bound to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Whose {
    program: Identity,
    data: Identity,
}

impl Whose {
    /// Computes the identities of a program and of its bindings as hashes of their content.
    ///
    /// # Errors
    /// [`DeviceError`] if a constant of the bindings cannot be encoded, a memory limit forbids it, or the run is
    /// stopped.
    pub fn of(
        program: &Verified,
        bindings: &Bindings<'_>,
        usage: &Usage,
    ) -> Result<Self, DeviceError> {
        let mut text = Sha256::new();
        text.update(print_program(program));
        let mut data = Sha256::new();
        for limb in &bindings.limbs {
            let mut value = limb.value();
            value.read(usage)?;
            value.write_out();
            data.update((value.wide().len() as u64).to_le_bytes());
            hash_words(&mut data, value.wide());
        }
        for seed in &bindings.seeds {
            data.update(seed.seed());
        }
        Ok(Self {
            program: text.finalize().into(),
            data: data.finalize().into(),
        })
    }
}

/// The number of a limb's words that are converted to bytes at one time.
const CHUNK: usize = 1024;

pub fn hash_words(hash: &mut Sha256, words: &[u64]) {
    for chunk in words.chunks(CHUNK) {
        hash.update(bytes_of(chunk));
    }
}

fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A writer of the checkpoints of a run, at intervals.
pub struct Saver<'a> {
    schedule: Schedule<'a>,
    whose: Whose,
}

impl<'a> Saver<'a> {
    pub fn new(schedule: Schedule<'a>, whose: Whose) -> Self {
        Self { schedule, whose }
    }

    /// Returns whether a checkpoint is due, because its interval has passed or the run was asked to stop. The run then
    /// saves itself as soon as no call of a procedure is in progress.
    pub fn is_due(&self, watch: &Watch) -> bool {
        watch.is_stopped() || self.schedule.is_due()
    }

    /// Writes a checkpoint after `calls` finished calls, as a whole file or not at all. `last` says that the run ends
    /// with this checkpoint.
    ///
    /// # Errors
    /// [`CheckpointError::File`] if the last checkpoint cannot be written. If an earlier checkpoint cannot be written,
    /// the run's progress is told, and [`Saver::is_due`] soon asks for another try.
    pub fn save(
        &mut self,
        calls: u64,
        limbs: &[(LimbId, &[u64])],
        last: bool,
    ) -> Result<(), CheckpointError> {
        let (whose, path) = (self.whose, &self.schedule.saving().path);
        let write = || whose.write(path, calls, limbs);
        match last {
            true => save_at_last(write),
            false => self.schedule.save(write),
        }
    }
}

impl Whose {
    fn write(
        self,
        path: &Path,
        calls: u64,
        limbs: &[(LimbId, &[u64])],
    ) -> Result<(), CheckpointError> {
        let written = fill(path, Contents::Secret, |out| {
            let mut out = Hashed::new(out);
            out.write_all(&MARK)?;
            out.write_all(&self.program)?;
            out.write_all(&self.data)?;
            out.write_all(&calls.to_le_bytes())?;
            out.write_all(&(limbs.len() as u64).to_le_bytes())?;
            for (limb, residues) in limbs {
                out.write_all(&limb.0.to_le_bytes())?;
                out.write_all(&(residues.len() as u64).to_le_bytes())?;
                for chunk in residues.chunks(CHUNK) {
                    out.write_all(&bytes_of(chunk))?;
                }
            }
            let digest = out.hash.finalize();
            out.inner.write_all(&digest)
        });
        written.map_err(|source: io::Error| CheckpointError::File {
            what: "write",
            path: path.to_owned(),
            source,
        })
    }
}

/// A reader or writer that feeds all bytes that pass through it to a hash.
struct Hashed<T> {
    inner: T,
    hash: Sha256,
}

impl<T> Hashed<T> {
    fn new(inner: T) -> Self {
        Self {
            inner,
            hash: Sha256::new(),
        }
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.hash.update(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(bytes)?;
        self.hash.update(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }
}

/// The content of a checkpoint file.
pub struct Saved {
    /// The number of calls that the saved run had finished.
    pub calls: u64,
    pub limbs: HashMap<LimbId, Vec<u64>>,
    /// The results of the finished calls that are still alive after these calls, but are not in the file.
    pub absent: Vec<LimbId>,
}

/// Returns the error of a checkpoint file at `path` that lacks the limb `limb`, which a later call
/// of the program reads.
pub fn lacks(path: &Path, limb: LimbId) -> CheckpointError {
    CheckpointError::Damaged {
        path: path.to_owned(),
        what: format!("limb {} is wanted and not in it", limb.0),
    }
}

/// Reads a checkpoint of this program and these bindings, and advances `stream`, the program's stream of calls, past
/// the calls that the saved run had finished. The callback `done` receives the procedure's number for each of these
/// calls.
///
/// # Errors
/// [`DeviceError::Checkpoint`] for a file that cannot be read, is damaged or belongs to another program or other data;
/// [`DeviceError::Halt`].
pub fn read(
    path: &Path,
    whose: Whose,
    program: &Verified,
    stream: &mut Stream<'_>,
    watch: &Watch,
    mut done: impl FnMut(u32),
) -> Result<Saved, DeviceError> {
    let mut saved = open(path, whose, watch)?;
    let damaged = |what: String| CheckpointError::Damaged {
        path: path.to_owned(),
        what,
    };
    let mut alive: HashMap<LimbId, ValueType> = HashMap::new();
    for number in 0..saved.calls {
        watch.check()?;
        let Some(Called { call, dies, .. }) = stream.next_call()? else {
            let what = format!("it says that {} calls were done, of {number}", saved.calls);
            return Err(damaged(what).into());
        };
        let procedure = program.bound_procs().get(call.proc as usize);
        let types = procedure.into_iter().flat_map(|p| p.result_types());
        alive.extend(call.results.into_iter().zip(types));
        for limb in dies {
            alive.remove(&limb);
        }
        done(call.proc);
    }
    for (limb, residues) in &saved.limbs {
        let Some(ty) = alive.get(limb) else {
            return Err(damaged(format!("limb {} is not alive there", limb.0)).into());
        };
        let top = ty.modulus();
        let modulus = top.and_then(|id| program.moduli.get(usize::from(id.0)).copied());
        // No call makes an exponent, so no modulus means a bad file.
        let sound = modulus.is_some_and(|modulus| check_residues(residues, modulus).is_ok());
        if residues.len() != ty.words() || !sound {
            return Err(damaged(format!("limb {} is not what its type says", limb.0)).into());
        }
    }
    let absent = alive.into_keys();
    saved.absent = absent
        .filter(|limb| !saved.limbs.contains_key(limb))
        .collect();
    Ok(saved)
}

fn open(path: &Path, whose: Whose, watch: &Watch) -> Result<Saved, DeviceError> {
    let not_read = |source| CheckpointError::File {
        what: "read",
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(not_read)?;
    let size = file.metadata().map_err(not_read)?.len();
    watch.admit("the checkpoint", size)?;
    let mut file = Hashed::new(BufReader::new(file));
    let damaged = |what: &str| CheckpointError::Damaged {
        path: path.to_owned(),
        what: what.to_owned(),
    };
    let ends = |source: io::Error| match source.kind() {
        io::ErrorKind::UnexpectedEof => damaged("it ends too early"),
        _ => not_read(source),
    };
    let mut mark = [0; MARK.len()];
    let marked = file.read_exact(&mut mark);
    if marked.is_err() || mark != MARK {
        return Err(CheckpointError::NotOne {
            path: path.to_owned(),
        }
        .into());
    }
    let mut id = || {
        let mut id = Identity::default();
        file.read_exact(&mut id).map_err(ends)?;
        Ok::<_, CheckpointError>(id)
    };
    let (program, data) = (id()?, id()?);
    if program != whose.program {
        let path = path.to_owned();
        return Err(CheckpointError::OtherProgram { path }.into());
    }
    if data != whose.data {
        let path = path.to_owned();
        return Err(CheckpointError::OtherData { path }.into());
    }
    let word = |file: &mut Hashed<BufReader<File>>| {
        let mut bytes = [0; 8];
        file.read_exact(&mut bytes).map_err(ends)?;
        Ok::<_, CheckpointError>(u64::from_le_bytes(bytes))
    };
    let (calls, count) = (word(&mut file)?, word(&mut file)?);
    let mut limbs = HashMap::new();
    for _ in 0..count {
        let (limb, length) = (LimbId(word(&mut file)?), word(&mut file)?);
        // A length that the file is too short for is refused before memory is taken.
        if length > size / 8 {
            return Err(damaged("a limb is longer than the file").into());
        }
        let mut residues: Vec<u64> = zeroed("a limb of the checkpoint", length as usize)?;
        let mut bytes = [0; 8 * CHUNK];
        for chunk in residues.chunks_mut(CHUNK) {
            let some = bytes
                .get_mut(..chunk.len().saturating_mul(8))
                .unwrap_or_default();
            file.read_exact(some).map_err(ends)?;
            for (residue, bytes) in chunk.iter_mut().zip(some.chunks_exact(8)) {
                *residue = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
            }
        }
        limbs.insert(limb, residues);
    }
    let expected: Identity = file.hash.clone().finalize().into();
    let mut found = Identity::default();
    file.read_exact(&mut found).map_err(ends)?;
    if found != expected {
        return Err(damaged("its checksum is another").into());
    }
    if file.read(&mut [0; 1]).map_err(not_read)? != 0 {
        return Err(damaged("there is more after its end").into());
    }
    Ok(Saved {
        calls,
        limbs,
        absent: Vec::new(),
    })
}
