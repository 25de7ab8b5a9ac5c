// SPDX-License-Identifier: Apache-2.0
//! A procedure as a graph of the machine's limb operations: ring degrees that the machine supports, each operation on
//! its RPAU, with data dependences.

use ringmill_isa::Galois;
use ringmill_math::RingKind;

use super::micro::{Opcode, Stream};

/// The index of a value: one limb of at most the native degree on one RPAU.
pub type ValueIndex = u32;
/// The index of a node.
pub type NodeIndex = u32;

/// The source of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    Value(ValueIndex),
    /// A limb of key memory: an index into the call's key table.
    Key(u8),
    /// The generator, with an index into [`Graph::streams`].
    Stream(u32),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Immediate {
    None,
    Scalar(u64),
    Galois(Galois),
    Stream(u32),
    /// The host's place of a limb.
    Host(u16),
    /// The constants that a broadcast adds at its source and its receivers: a row of [`Graph::addends`].
    Row(u32),
}

/// One operation on one RPAU, or a broadcast from one RPAU to several.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    pub op: Opcode,
    pub ring: RingKind,
    pub layer: u8,
    pub rpau: u8,
    pub sources: Vec<Source>,
    pub results: Vec<ValueIndex>,
    pub immediate: Immediate,
    /// The position in the procedure, for policies that stay close to its order.
    pub order: u32,
}

impl Node {
    /// Returns whether the node is a product with a key limb or a generated limb.
    pub fn is_keyed(&self) -> bool {
        matches!(self.op, Opcode::Mul | Opcode::Mac)
            && self.sources.iter().any(|s| !matches!(s, Source::Value(_)))
    }

    /// Returns the operands that are values.
    pub fn values(&self) -> impl Iterator<Item = ValueIndex> + '_ {
        self.sources.iter().filter_map(|s| {
            if let Source::Value(v) = s {
                Some(*v)
            } else {
                None
            }
        })
    }
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Value {
    pub rpau: u8,
    pub def: Option<NodeIndex>,
    /// The nodes that read the value; one entry for each node.
    pub users: Vec<NodeIndex>,
    /// How many times the value is a result of the procedure.
    pub results: u32,
    /// The number of the value in host memory, if it waits there and in no slot.
    pub host: Option<u16>,
}

/// A procedure in the machine's operations.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Graph {
    pub name: String,
    /// log2 of the coefficients of one value.
    pub log_n: u8,
    pub nodes: Vec<Node>,
    pub values: Vec<Value>,
    pub streams: Vec<Stream>,
    /// The constants that source and receivers of a broadcast add, by RPAU.
    pub addends: Vec<Vec<(u8, u64)>>,
    /// The values of each parameter, one for each piece; none for a key limb.
    pub params: Vec<Vec<ValueIndex>>,
    /// The values of each result, one for each piece.
    pub results: Vec<Vec<ValueIndex>>,
    /// For each parameter that is a key limb, the key index of its first piece.
    pub keys: Vec<Option<u8>>,
    /// For each parameter that is a key limb, the RPAU whose key memory needs it.
    pub key_homes: Vec<u8>,
    /// The prime of each RPAU in layer 0: its own, or that of the RPAU for which it stands in.
    pub primes: Vec<u8>,
    /// The key limbs that one RPAU reads, at most.
    pub key_slots: usize,
    /// How key memory is shared on the RPAUs that read more key limbs than it holds.
    pub key_plans: Vec<KeyPlan>,
    /// Pairs of nodes of which the second must not start before the first is done, without regard to their values.
    pub after: Vec<(NodeIndex, NodeIndex)>,
    /// Whether operands, and values that do not fit, wait in host memory. The order of the nodes is then binding: in
    /// this order every RPAU has room for its values.
    pub spilled: bool,
}

/// The key memory of one RPAU during a procedure that reads more key limbs than it holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyPlan {
    pub rpau: u8,
    /// The slot of each key index, in the order of first use.
    pub slots: Vec<(u8, u8)>,
    /// The key index in each slot when the procedure starts, and when it ends.
    pub entry: Vec<u8>,
    pub exit: Vec<u8>,
}

impl Graph {
    /// Adds a value on `rpau`.
    pub fn value(&mut self, rpau: u8) -> ValueIndex {
        self.values.push(Value {
            rpau,
            ..Value::default()
        });
        (self.values.len() - 1) as ValueIndex
    }

    /// Adds a node and its one result.
    pub fn node(&mut self, node: Node) -> ValueIndex {
        let result = self.value(node.rpau);
        self.nodes.push(Node {
            results: vec![result],
            ..node
        });
        result
    }

    /// Drops nodes whose results nobody uses, and fills in the definition and the users of each value.
    pub fn finish(&mut self) {
        let mut live = vec![false; self.values.len()];
        for &v in self.results.iter().flatten() {
            live[v as usize] = true;
        }
        // Users follow every node, except broadcasts, which gain receivers late: the loop iterates to a fixed point.
        loop {
            let before = live.iter().filter(|l| **l).count();
            for node in self.nodes.iter().rev() {
                if node.results.iter().any(|&v| live[v as usize]) {
                    node.values().for_each(|v| live[v as usize] = true);
                }
            }
            if live.iter().filter(|l| **l).count() == before {
                break;
            }
        }
        self.nodes
            .retain(|n| n.results.iter().any(|&v| live[v as usize]));
        for node in &mut self.nodes {
            if node.op == Opcode::Bcast {
                node.results.retain(|&v| live[v as usize]);
            }
        }
        self.index();
    }

    /// Fills in the definition and the users of each value.
    pub fn index(&mut self) {
        for value in &mut self.values {
            value.def = None;
            value.users.clear();
            value.results = 0;
        }
        for &v in self.results.iter().flatten() {
            self.values[v as usize].results += 1;
        }
        for (index, node) in self.nodes.iter().enumerate() {
            let index = index as NodeIndex;
            for &v in &node.results {
                self.values[v as usize].def = Some(index);
            }
            for v in node.values() {
                let users = &mut self.values[v as usize].users;
                if !users.contains(&index) {
                    users.push(index);
                }
            }
        }
    }
}
