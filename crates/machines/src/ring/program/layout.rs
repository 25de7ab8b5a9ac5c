// SPDX-License-Identifier: Apache-2.0
//! What every call of a procedure has in common: where its arguments and results live, and which of them are keys.

use ringmill_isa::Poly;
use ringmill_isa::mid::{ParamRole, Procedure};

use crate::ring::graph::Graph;

/// Arguments that travel together: operand, polynomial, and which of the moduli that share an RPAU.
pub type Travel = (u16, Poly, usize);

/// An argument that has slots.
#[derive(Debug)]
pub struct Value {
    /// Which of the arguments.
    pub at: usize,
    pub rpau: u8,
    pub travel: Travel,
}

/// An argument that is a key limb.
#[derive(Debug)]
pub struct Key {
    pub at: usize,
    /// Key index of its first piece.
    pub base: u8,
}

/// Bytes of a command: where its words and tables begin, its ring degree, its numbers.
const COMMAND: usize = 64;
/// Bytes of a generator's seed.
const SEED: usize = 32;

/// Of one procedure on one machine.
#[derive(Debug)]
pub struct Layout {
    pub values: Vec<Value>,
    /// By RPAU.
    pub keys: Vec<Vec<Key>>,
    /// RPAU of each result.
    pub results: Vec<u8>,
}

impl Layout {
    /// Bytes that tell the machine of a call: a command, its key table's entries and its seeds.
    pub fn call_bytes(&self, pieces: u8, seeds: usize) -> u64 {
        let keys = self.keys.iter().map(Vec::len).sum::<usize>();
        (COMMAND + keys * usize::from(pieces) + SEED * seeds) as u64
    }

    pub fn new(procedure: &Procedure, graph: &Graph, rpaus: usize) -> Self {
        let (mut values, mut keys) = (Vec::new(), Vec::new());
        keys.resize_with(rpaus, Vec::new);
        let params = procedure.params.iter().zip(procedure.param_types());
        for ((at, (param, ty)), base) in params.enumerate().zip(&graph.keys) {
            // What was legalised has limbs alone.
            let modulus = usize::from(ty.modulus().map_or(0, |id| id.0));
            if let (&Some(base), Some(&home)) = (base, graph.key_homes.get(at)) {
                keys[usize::from(home)].push(Key { at, base });
            }
            let (operand, poly) = match param.role {
                ParamRole::Cipher { arg, poly } => (arg, poly),
                ParamRole::Plain { arg } => (arg, Poly::FIRST),
                ParamRole::Key { .. } | ParamRole::Exponent { .. } => continue,
            };
            values.push(Value {
                at,
                rpau: (modulus % rpaus) as u8,
                travel: (operand, poly, modulus / rpaus),
            });
        }
        let results = procedure.result_types();
        let results =
            results.map(|ty| (usize::from(ty.modulus().map_or(0, |id| id.0)) % rpaus) as u8);
        Self {
            values,
            keys,
            results: results.collect(),
        }
    }
}
