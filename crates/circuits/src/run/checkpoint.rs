// SPDX-License-Identifier: Apache-2.0
//! Checkpoints of a circuit's run. A checkpoint holds the lookups that are done, and those of their results that the
//! rest of the run needs.
//!
//! The file begins with a mark with the version and the hashes of circuit and inputs. The number of lookups follows (8
//! bytes, little-endian), then a bit for each lookup: 1 if the lookup is done. The lowest bit of a byte comes first,
//! and zeros fill the last byte. The needed ciphertexts come next, in the form of a file of several ciphertexts
//! (docs/files.md). A SHA-256 of all these ends the file. A reader checks all hashes, the number of lookups, the number
//! of ciphertexts, their parameters and that they have one key.
#![deny(clippy::arithmetic_side_effects)]

use std::io;
use std::path::Path;

use ringmill_device::CheckpointError;
use ringmill_device::checkpoint::hash_words;
use ringmill_device::whole_file::{self, Contents, ReadError};
use ringmill_limits::Watch;
use sha2::{Digest, Sha256};

use super::CircuitRunError;
use crate::circuit::Graph;
use crate::circuit::graph::Basis;
use crate::circuit::sum::Sum;
use crate::tfhe::{LweCiphertext, Params, file};

const MARK: [u8; 8] = *b"RINGCIR1";
const HASH: usize = 32;

/// The owner of a checkpoint: the hashes of the circuit and of the input ciphertexts to which it belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Whose {
    circuit: [u8; HASH],
    inputs: [u8; HASH],
}

impl Whose {
    pub fn of(graph: &Graph, inputs: &[LweCiphertext]) -> Self {
        let mut circuit = Sha256::new();
        circuit.update([match graph.basis {
            Basis::Digits => 0,
            Basis::Bits => 1,
        }]);
        circuit.update(graph.inputs.to_le_bytes());
        let mut sum = |sum: &Sum, table: &[i8]| {
            for &(wire, factor) in sum.terms() {
                circuit.update(wire.0.to_le_bytes());
                circuit.update(factor.to_le_bytes());
            }
            circuit.update(u32::MAX.to_le_bytes());
            circuit.update(sum.halves().to_le_bytes());
            circuit.update((table.len() as u8).to_le_bytes());
            table.iter().for_each(|x| circuit.update(x.to_le_bytes()));
        };
        for lookup in &graph.lookups {
            sum(&lookup.operand, &lookup.table);
        }
        graph.outputs.iter().for_each(|output| sum(output, &[]));
        for lookup in &graph.lookups {
            circuit.update([u8::from(lookup.shared)]);
        }
        let mut data = Sha256::new();
        for input in inputs {
            hash_words(&mut data, input.words());
        }
        Self {
            circuit: circuit.finalize().into(),
            inputs: data.finalize().into(),
        }
    }
}

/// Returns for each wire of a circuit the number of sums that will still read it, if the lookups marked in `done` are
/// computed.
pub fn uses(graph: &Graph, done: &[bool]) -> Vec<usize> {
    let mut uses = vec![0usize; graph.wires()];
    let left = graph.lookups.iter().zip(done).filter(|(_, done)| !**done);
    let sums = left
        .map(|(lookup, _)| &lookup.operand)
        .chain(&graph.outputs);
    for (wire, _) in sums.flat_map(Sum::terms) {
        let uses = &mut uses[wire.0 as usize];
        *uses = uses.saturating_add(1);
    }
    uses
}

/// Returns the numbers of the lookups whose results a checkpoint stores: they are computed, and a later lookup or an
/// output reads them.
pub fn kept(graph: &Graph, done: &[bool]) -> Vec<usize> {
    let uses = uses(graph, done).into_iter().skip(graph.inputs as usize);
    let each = done.iter().zip(uses).enumerate();
    let needed = each.filter(|&(_, (&done, uses))| done && uses > 0);
    needed.map(|(at, _)| at).collect()
}

/// The progress of a circuit's run: for each lookup whether it is computed, and the results that later lookups or
/// outputs need.
pub struct Reached {
    pub done: Vec<bool>,
    /// The results of the lookups whose numbers [`kept`] returns, in the same order.
    pub ciphertexts: Vec<LweCiphertext>,
}

/// Returns the contents of a checkpoint file for a run of this circuit and these inputs.
///
/// # Errors
/// [`CircuitRunError::Tfhe`] for ciphertexts of different keys or of other parameters.
pub fn bytes(whose: Whose, params: &Params, reached: &Reached) -> Result<Vec<u8>, CircuitRunError> {
    let ciphertexts = file::write_ciphertexts(params, &reached.ciphertexts)?;
    let mut bytes = MARK.to_vec();
    bytes.extend(whose.circuit);
    bytes.extend(whose.inputs);
    bytes.extend((reached.done.len() as u64).to_le_bytes());
    bytes.extend(reached.done.chunks(8).map(|bits| {
        let each = bits.iter().enumerate();
        let ones = each.filter(|&(_, &bit)| bit);
        ones.filter_map(|(i, _)| 1u8.checked_shl(i as u32))
            .sum::<u8>()
    }));
    bytes.extend(ciphertexts);
    let hash = Sha256::digest(&bytes);
    bytes.extend(hash);
    Ok(bytes)
}

/// Writes the contents of a checkpoint to its file.
///
/// # Errors
/// [`CheckpointError::File`] if the file cannot be written.
pub fn put(path: &Path, bytes: &[u8]) -> Result<(), CheckpointError> {
    let written = whole_file::write(path, Contents::Secret, bytes);
    written.map_err(|source| failed("write", path, source))
}

fn failed(what: &'static str, path: &Path, source: io::Error) -> CheckpointError {
    CheckpointError::File {
        what,
        path: path.to_owned(),
        source,
    }
}

/// Reads a checkpoint of a run of this circuit on these inputs.
///
/// # Errors
/// [`CircuitRunError::Checkpoint`] if the file cannot be read, is no checkpoint, is damaged, or belongs to another
/// circuit or other inputs; [`CircuitRunError::Halt`].
pub fn read(
    path: &Path,
    whose: Whose,
    params: &Params,
    graph: &Graph,
    watch: &Watch,
) -> Result<Reached, CircuitRunError> {
    let bytes = whole_file::read(path, "a checkpoint and what is read of it", watch);
    let bytes = bytes.map_err(|error| match error {
        ReadError::Halt(halt) => CircuitRunError::Halt(halt),
        ReadError::Io(source) => failed("read", path, source).into(),
    })?;
    let path = path.to_owned();
    let Some(rest) = bytes.strip_prefix(&MARK) else {
        return Err(CheckpointError::NotOne { path }.into());
    };
    let damaged = |what: &str| CheckpointError::Damaged {
        path: path.clone(),
        what: what.to_owned(),
    };
    let Some((covered, hash)) = bytes.split_last_chunk::<HASH>() else {
        return Err(damaged("it is cut").into());
    };
    if Sha256::digest(covered)[..] != hash[..] {
        return Err(damaged("its checksum does not match").into());
    }
    let rest = &rest[..rest.len().saturating_sub(HASH)];
    let (Some((circuit, rest)), count) = (rest.split_first_chunk::<HASH>(), graph.lookups.len())
    else {
        return Err(damaged("it is cut").into());
    };
    if *circuit != whose.circuit {
        return Err(CheckpointError::OtherProgram { path }.into());
    }
    let Some((inputs, rest)) = rest.split_first_chunk::<HASH>() else {
        return Err(damaged("it is cut").into());
    };
    if *inputs != whose.inputs {
        return Err(CheckpointError::OtherData { path }.into());
    }
    let bits = rest.split_first_chunk::<8>().filter(|(length, rest)| {
        u64::from_le_bytes(**length) == count as u64 && rest.len() >= count.div_ceil(8)
    });
    let Some((_, rest)) = bits else {
        return Err(damaged("it has another number of lookups").into());
    };
    let (bits, ciphertexts) = rest.split_at(count.div_ceil(8));
    let done: Vec<bool> = (0..count)
        .map(|i| bits[i / 8].checked_shr((i % 8) as u32).unwrap_or(0) & 1 == 1)
        .collect();
    let ciphertexts =
        file::read_ciphertexts(ciphertexts, params).map_err(|e| damaged(&e.to_string()))?;
    let ordered = graph.lookups.iter().zip(&done).all(|(lookup, &done_here)| {
        let terms = lookup.operand.terms().iter();
        let mut sources = terms.filter_map(|&(wire, _)| graph.source(wire));
        !done_here || sources.all(|source| done[source])
    });
    let whole = graph.rotations().iter().all(|rotation| {
        let first = rotation.first().is_some_and(|&at| done[at]);
        rotation.iter().all(|&at| done[at] == first)
    });
    if !ordered || !whole || ciphertexts.len() != kept(graph, &done).len() {
        return Err(damaged("what is done and what is kept do not belong together").into());
    }
    Ok(Reached { done, ciphertexts })
}
