// SPDX-License-Identifier: Apache-2.0
//! The layout that all calls of a procedure share on the ring machine: the RPAUs of arguments and results, and the
//! arguments that are keys.

use ringmill_isa::Poly;
use ringmill_isa::mid::{ParamRole, Procedure};

use crate::ring::graph::Graph;

/// The identifier of a group of arguments that cross the link together, one limb to each RPAU. It
/// has the operand, the polynomial, and the index of the limb's modulus among the moduli of one
/// RPAU.
pub type Travel = (u16, Poly, usize);

/// An argument that has slots in polynomial memory.
#[derive(Debug)]
pub struct Value {
    /// The index of the argument in the call.
    pub at: usize,
    pub rpau: u8,
    pub travel: Travel,
}

/// An argument that is a key limb.
#[derive(Debug)]
pub struct Key {
    pub at: usize,
    /// The index of the limb's first piece (as large as a memory slot) in the call's key table.
    pub base: u8,
}

/// The bytes of the command that starts a call: where its instruction words and tables begin, its
/// ring degree and the numbers of table entries.
const COMMAND: usize = 64;
/// The bytes of one seed that crosses the link with a call.
const SEED: usize = 32;

/// The RPAU of each argument and result of one procedure on one ring machine, and the key index of each argument that
/// is a key limb.
#[derive(Debug)]
pub struct Layout {
    pub values: Vec<Value>,
    /// For each RPAU, the arguments of the procedure that are key limbs.
    pub keys: Vec<Vec<Key>>,
    /// For each result of the procedure, the RPAU on which it is computed.
    pub results: Vec<u8>,
}

impl Layout {
    /// Returns the bytes that describe one call over the link: a command, the entries of its key table and its seeds.
    /// `pieces` is the number of pieces of a limb, each as large as a memory slot.
    pub fn call_bytes(&self, pieces: u8, seeds: usize) -> u64 {
        let keys = self.keys.iter().map(Vec::len).sum::<usize>();
        (COMMAND + keys * usize::from(pieces) + SEED * seeds) as u64
    }

    pub fn new(procedure: &Procedure, graph: &Graph, rpaus: usize) -> Self {
        let (mut values, mut keys) = (Vec::new(), Vec::new());
        keys.resize_with(rpaus, Vec::new);
        let params = procedure.params.iter().zip(procedure.param_types());
        for ((at, (param, ty)), base) in params.enumerate().zip(&graph.keys) {
            // A legalised procedure has limbs alone.
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
