// SPDX-License-Identifier: Apache-2.0
//! A procedure as a graph of the ring machine's limb operations. Each operation has an RPAU and a ring degree that
//! the machine supports, and edges are data dependences.

use ringmill_isa::Galois;
use ringmill_math::RingKind;

use super::micro::{Opcode, Stream};

/// The index of a value in [`Graph::values`]: one limb of at most the native degree, on one RPAU or in host memory.
pub type ValueIndex = u32;
/// The index of an operation in [`Graph::nodes`].
pub type NodeIndex = u32;

/// The source of one operand of an operation of the ring machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    Value(ValueIndex),
    /// The operand is a limb of key memory, by its index in the call's key table.
    Key(u8),
    /// The operand is generated from a seed; the number is an index into [`Graph::streams`].
    Stream(u32),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Immediate {
    None,
    Scalar(u64),
    Galois(Galois),
    Stream(u32),
    /// The immediate is the number of a limb that waits in host memory.
    Host(u16),
    /// The immediate is the constants that a broadcast adds at its source and its receivers, by their row in
    /// [`Graph::addends`].
    Row(u32),
}

/// An operation on one RPAU, or a broadcast from the RPAU `rpau` to one or more RPAUs, which may include itself.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    pub op: Opcode,
    pub ring: RingKind,
    pub layer: u8,
    pub rpau: u8,
    pub sources: Vec<Source>,
    pub results: Vec<ValueIndex>,
    pub immediate: Immediate,
    /// The operation's position in the procedure. Scheduling policies that stay close to the procedure's order use
    /// it.
    pub order: u32,
}

impl Node {
    /// Returns whether the operation is a product, with or without an addend, with a limb of key memory or straight
    /// from the generator.
    pub fn is_keyed(&self) -> bool {
        matches!(self.op, Opcode::Mul | Opcode::Mac)
            && self.sources.iter().any(|s| !matches!(s, Source::Value(_)))
    }

    /// Returns those operands of the operation that are values. They lie in slots of polynomial memory, except the
    /// operand of a load, which lies on the host.
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
    /// The operations that read the value. Each is listed once, even if it reads the value twice.
    pub users: Vec<NodeIndex>,
    /// How many of the procedure's results are this value.
    pub results: u32,
    /// The number under which host memory holds the value, or `None` for a value in a slot of the
    /// machine.
    pub host: Option<u16>,
}

/// A procedure in operations of the ring machine.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Graph {
    pub name: String,
    /// log2 of the number of coefficients in one value.
    pub log_n: u8,
    pub nodes: Vec<Node>,
    pub values: Vec<Value>,
    pub streams: Vec<Stream>,
    /// For each broadcast that adds constants, pairs of an RPAU and the constant that this RPAU adds.
    pub addends: Vec<Vec<(u8, u64)>>,
    /// For each parameter of the procedure its values, one for each piece of the limb, as large as a memory slot. A
    /// parameter that is a key limb has none.
    pub params: Vec<Vec<ValueIndex>>,
    /// For each result of the procedure its values, one for each piece of the limb, as large as a
    /// memory slot.
    pub results: Vec<Vec<ValueIndex>>,
    /// For each parameter that is a key limb, the index of its first piece (as large as a memory slot) in the call's
    /// key table; `None` for others.
    pub keys: Vec<Option<u8>>,
    /// For each parameter of the procedure, the RPAU of its prime. For a key limb it is the RPAU that reads the limb
    /// from its key memory, which may be a stand-in.
    pub key_homes: Vec<u8>,
    /// For each RPAU, the index of the prime modulo which its instruction words of layer 0 compute. Layer 0 has one
    /// prime for each RPAU. An RPAU that helps another one (`stand_in`) has that RPAU's prime in place of its own.
    pub primes: Vec<u8>,
    /// The most key limbs that one RPAU reads in the procedure if no stand-in takes a share of its work. Each piece of
    /// the native degree counts as a limb.
    pub key_slots: usize,
    /// The use of key memory on each RPAU that reads more key limbs in the procedure than its key memory holds.
    pub key_plans: Vec<KeyPlan>,
    /// Pairs of operations of which the second must not start before the first is done, even though it reads no
    /// result of the first.
    pub after: Vec<(NodeIndex, NodeIndex)>,
    /// Whether the procedure is spilled: its operands, and values for which there is no room in slots, wait in host
    /// memory. Every RPAU has room for its values if the operations run in their order. The scheduler may leave this
    /// order only as far as the policy's window allows.
    pub spilled: bool,
}

/// The use of one RPAU's key memory in a procedure that reads more key limbs than it holds. The plan numbers the key
/// slots from 0 in the order of first use. Each call maps these numbers to the slots in which its first limbs lie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyPlan {
    pub rpau: u8,
    /// Pairs of a key index and the key slot for its limb, in the order of first use. A key index is a position in the
    /// call's key table.
    pub slots: Vec<(u8, u8)>,
    /// For each key slot, the key index of the limb that is in it when the procedure starts. `exit` has the index
    /// when the procedure ends. A key index is a position in the call's key table.
    pub entry: Vec<u8>,
    pub exit: Vec<u8>,
}

impl Graph {
    /// Adds a value on the RPAU `rpau`, and returns its index.
    pub fn value(&mut self, rpau: u8) -> ValueIndex {
        self.values.push(Value {
            rpau,
            ..Value::default()
        });
        (self.values.len() - 1) as ValueIndex
    }

    /// Adds an operation and a value for its one result, and returns the value's index.
    pub fn node(&mut self, node: Node) -> ValueIndex {
        let result = self.value(node.rpau);
        self.nodes.push(Node {
            results: vec![result],
            ..node
        });
        result
    }

    /// Drops the operations on which no result of the procedure depends, and the receivers of a broadcast whose copies
    /// no result needs. Operations without results are dropped, too. Then calls [`Self::index`].
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

    /// Notes for each value the operation that computes it, the operations that read it, and how
    /// many results of the procedure it is.
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
