// SPDX-License-Identifier: Apache-2.0
//! The choices of the ring machine's scheduler, and the order in which it prefers operations.

use super::description::Description;
use super::graph::{Graph, Node, Source};
use super::legalise::{Rewrites, Unfuse};
use super::micro::{OpWord, Opcode, Operand, Unit};
use super::timing;

/// One way to schedule a procedure. The scheduler tries several and takes the fastest that fits. If nothing runs and no
/// operation can be issued, the scheduler ignores all rules but the window of a spilled procedure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    pub rewrites: Rewrites,
    /// Whether products with keys that have no addend run on the main cores only. These are the first products of the
    /// key-switch sums, and those that [`Unfuse`] parts from their additions. A product with a generated limb runs on
    /// the dyadic cores anyway if the generator is slower than the main cores' lanes.
    pub first_products_on_main: bool,
    /// The number of slots that a broadcast must leave free on every receiver.
    pub reserve: u32,
    /// The unit and the urgency of coefficient-wise operations without keys.
    pub light: Light,
    /// Whether a broadcast may write only to slots that share their port with no other slot.
    pub own_ports: bool,
    /// The number of operations of an RPAU that a later operation may overtake, counted from the RPAU's first operation
    /// that was not issued.
    pub window: u32,
    /// A seed of a pseudorandom bonus on the urgency of each operation, which is below the cycles of two passes over a
    /// limb. With the seed 0 there is no bonus, and between operations of equal urgency their order in the procedure
    /// decides.
    pub draw: u32,
}

/// The number of seeds of [`Policy::draw`] that the search tries, from 0 on. Each puts operations of similar urgency
/// into another order.
const DRAWS: u32 = 8;

/// The unit and the urgency of coefficient-wise operations without keys. The bonus on the urgency also counts for
/// splits and joins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Light {
    /// Whether the operations, except products of two limbs, run on the main cores only. Otherwise they run on the unit
    /// on which they end first, as products of two limbs do. Accumulations run on the dyadic cores if the main cores
    /// cannot accumulate, and a machine without dyadic cores runs all on the main cores.
    pub on_main: bool,
    /// A bonus on the urgency of an operation, in multiples of the cycles of a transform. The urgency is the length in
    /// cycles of the operation's path to the procedure's end. With the bonus 0 these operations have no advantage over
    /// transforms; with a large bonus they go ahead of every transform.
    pub bonus: u64,
}

impl Light {
    const SEEDS: [Light; 3] = [
        Light {
            on_main: true,
            bonus: 8,
        },
        Light {
            on_main: true,
            bonus: 1,
        },
        Light {
            on_main: false,
            bonus: 1,
        },
    ];
}

/// Returns the policies from which the search starts. The first ones restrict the order of operations least, and
/// the last ones need the fewest memory slots.
pub fn seeds(g: &Graph) -> Vec<Policy> {
    let keyed: &[bool] = if g.nodes.iter().any(Node::is_keyed) {
        &[true, false]
    } else {
        &[false]
    };
    let mut list = Vec::new();
    for (reserve, window) in [(1, u32::MAX), (0, 12), (0, 5), (0, 2), (0, 0)] {
        for &retransform in keyed {
            for &first_products_on_main in keyed {
                for light in Light::SEEDS {
                    let rewrites = Rewrites {
                        retransform,
                        unfuse: Unfuse::None,
                    };
                    let own_ports = true;
                    list.push(Policy {
                        rewrites,
                        first_products_on_main,
                        reserve,
                        light,
                        own_ports,
                        window,
                        draw: 0,
                    });
                }
            }
        }
    }
    list
}

/// Returns the policies for a spilled procedure: one whose values cross the link for lack of room. Its operations and
/// their order are fixed already. `window` is [`Policy::window`] of these policies.
pub fn spilled(window: u32) -> impl Iterator<Item = Policy> {
    Light::SEEDS.into_iter().map(move |light| Policy {
        rewrites: Rewrites::default(),
        first_products_on_main: false,
        reserve: 0,
        light,
        own_ports: false,
        window,
        draw: 0,
    })
}

/// Returns the policies that the search tries after `p`. Each differs from `p` in one choice. `forms` are the rewrites
/// of the procedure to choose from.
pub fn neighbours(p: Policy, g: &Graph, forms: impl IntoIterator<Item = Rewrites>) -> Vec<Policy> {
    let mut list = Vec::new();
    let keyed = g.nodes.iter().any(Node::is_keyed);
    list.push(Policy {
        light: Light {
            on_main: !p.light.on_main,
            ..p.light
        },
        ..p
    });
    list.extend([0, 1, 2, 8].map(|bonus| Policy {
        light: Light { bonus, ..p.light },
        ..p
    }));
    if g.nodes.iter().any(|n| n.op == Opcode::Bcast) {
        list.push(Policy {
            own_ports: !p.own_ports,
            ..p
        });
        list.extend((0..4).map(|reserve| Policy { reserve, ..p }));
    }
    if keyed {
        list.push(Policy {
            first_products_on_main: !p.first_products_on_main,
            ..p
        });
        list.extend(forms.into_iter().map(|rewrites| Policy { rewrites, ..p }));
    }
    let windows = [u32::MAX, 40, 28, 20, 16, 14, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1];
    list.extend(windows.map(|window| Policy { window, ..p }));
    list.extend((0..DRAWS).map(|draw| Policy { draw, ..p }));
    list.retain(|q| *q != p);
    list
}

/// Returns for each operation its urgency: the cycles from its start to the end of the procedure,
/// along its longest chain of users, and the bonuses that `policy` adds.
pub fn priorities(d: &Description, g: &Graph, policy: &Policy) -> Vec<u64> {
    let groups = d.slot_groups();
    let own: Vec<u64> = g
        .nodes
        .iter()
        .map(|n| cycles(d, &groups, g.log_n, n))
        .collect();
    let mut open: Vec<u32> = vec![0; g.nodes.len()];
    for value in g.values.iter().filter(|v| v.def.is_some()) {
        if let Some(def) = value.def {
            open[def as usize] += value.users.len() as u32;
        }
    }
    let mut path = own.clone();
    let mut stack: Vec<usize> = (0..g.nodes.len()).filter(|&n| open[n] == 0).collect();
    while let Some(n) = stack.pop() {
        let mut values: Vec<u32> = g.nodes[n].values().collect();
        values.sort_unstable();
        values.dedup();
        for def in values.into_iter().filter_map(|v| g.values[v as usize].def) {
            let def = def as usize;
            path[def] = path[def].max(own[def] + path[n]);
            open[def] -= 1;
            if open[def] == 0 {
                stack.push(def);
            }
        }
    }
    let bonus = policy.light.bonus;
    if bonus > 0 {
        for (n, node) in g.nodes.iter().enumerate() {
            let light =
                node.op.is_coefficient_wise() || matches!(node.op, Opcode::Split | Opcode::Join);
            if light && !node.is_keyed() {
                path[n] += bonus * timing::transform(d, g.log_n);
            }
        }
    }
    if policy.first_products_on_main {
        // They are short there, and the sums wait for them.
        for (n, node) in g.nodes.iter().enumerate() {
            if node.is_keyed() && node.op == Opcode::Mul {
                path[n] += timing::transform(d, g.log_n);
            }
        }
    }
    if policy.draw > 0 {
        // The bonus is below two passes over a limb, so that a clearly more urgent operation stays more urgent.
        let pass = timing::rows(d, g.log_n).max(1);
        for (n, path) in path.iter_mut().enumerate() {
            let mixed = (n as u64 + 1)
                .wrapping_mul(u64::from(policy.draw))
                .wrapping_mul(MIX);
            *path += (mixed >> 32) % (2 * pass);
        }
    }
    path
}

/// An odd number near 2^64 over the golden ratio, whose multiples modulo 2^64 are spread evenly.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the cycles of an operation on the unit that usually executes it.
fn cycles(d: &Description, groups: &[u8], log_n: u8, node: &Node) -> u64 {
    let generated = node.sources.iter().any(|s| matches!(s, Source::Stream(_)));
    let dyadic = generated || node.op == Opcode::Prng || (node.op == Opcode::Mac && !d.main.mac);
    let dyadic = dyadic && d.cores.dyadic > 0;
    let word = OpWord {
        op: node.op,
        controller: 0,
        unit: if dyadic { Unit::Dyadic } else { Unit::Main },
        mask: 1 << node.rpau,
        ring: node.ring,
        layer: node.layer,
        dst: 0,
        a: 0,
        b: if generated {
            Operand::Generator
        } else {
            Operand::None
        },
        c: if node.op == Opcode::Bcast {
            node.rpau
        } else {
            0
        },
        imm: 0,
    };
    timing::duration(d, groups, log_n, &word).total
}
