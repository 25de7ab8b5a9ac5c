// SPDX-License-Identifier: Apache-2.0
//! Maps netlists onto lookups. A gate with a single reader is merged into that reader if both together have at most
//! four inputs.

use ringmill_limits::{Halt, Watch};

use super::{Bus, Driver, Gate, Netlist};
use crate::circuit::error::CircuitError;
use crate::circuit::graph::{BITS, ENTRIES};
use crate::circuit::lower::{Circuit, Part, Port};
use crate::circuit::program::Type;
use crate::circuit::small::{Lookups, Small};

/// A gate of a netlist during merging: a truth table of at most four signals, or a sum of products too wide for a
/// table.
#[derive(Clone)]
pub(super) enum Node {
    Table { inputs: Vec<usize>, table: u64 },
    Wide(Gate),
}

/// Lowers a netlist to lookups. Each lookup's operand is a sum of wires times factors, and its sum of squared factors
/// stays at or below `limit`.
///
/// # Errors
/// [`CircuitError::Noise`], [`CircuitError::Halt`].
pub fn lower(netlist: &Netlist, limit: u64, watch: &Watch) -> Result<Circuit, CircuitError> {
    let nodes = merged(netlist, |inputs, _| inputs <= BITS as usize, watch)?;
    let mut l = Lookups::new(limit, watch);
    let mut values: Vec<Small> = vec![Small::constant(0); netlist.drivers.len()];
    let mut inputs = Vec::new();
    let mut number = 0;
    for bus in &netlist.inputs {
        let mut parts = Vec::new();
        for (at, &bit) in (0..).zip(&bus.bits) {
            values[bit] = l.input(1);
            parts.push(Part::Encrypted {
                number,
                at,
                bits: 1,
            });
            number += 1;
        }
        inputs.push(port(bus, parts)?);
    }
    for &signal in &netlist.order {
        match (&netlist.drivers[signal], &nodes[signal]) {
            (Driver::Input, _) | (Driver::Gate(_), None) => {}
            (Driver::Known(value), _) => values[signal] = Small::constant((*value).into()),
            (Driver::Gate(_), Some(Node::Table { inputs, table })) => {
                let factors = (0..).map(|i| 1i64 << i);
                let terms: Vec<_> = factors.zip(inputs.iter().map(|&i| &values[i])).collect();
                let entry = |x: i64| (table >> x & 1) as i64;
                values[signal] = l.lookup(&terms, entry)?.known_within(0, 1);
            }
            (Driver::Gate(_), Some(Node::Wide(gate))) => {
                values[signal] = wide(&mut l, gate, &values)?;
            }
        }
    }
    let mut sums = Vec::new();
    let mut outputs = Vec::new();
    for bus in &netlist.outputs {
        let parts = (0..)
            .zip(&bus.bits)
            .map(|(at, &bit)| match values[bit].known() {
                Some(value) => Part::Known {
                    value: value as u64,
                    at,
                },
                None => {
                    sums.push(values[bit].sum().clone());
                    Part::Encrypted {
                        number: sums.len() as u32 - 1,
                        at,
                        bits: 1,
                    }
                }
            });
        let parts = parts.collect();
        outputs.push(port(bus, parts)?);
    }
    Ok(Circuit {
        graph: l.finish(sums)?,
        inputs,
        outputs,
    })
}

pub(super) fn port(bus: &Bus, parts: Vec<Part>) -> Result<Port, CircuitError> {
    Ok(Port {
        name: bus.name.clone(),
        kind: Type::new(bus.bits.len() as u32, false)?,
        parts,
    })
}

/// Computes a gate that is a sum of products of more than four bits. The result is `gate.value` if any product holds,
/// else the opposite. For each product, tables count the matching bits, fifteen at a time.
fn wide(l: &mut Lookups, gate: &Gate, values: &[Small]) -> Result<Small, CircuitError> {
    let mut any: Vec<Small> = Vec::new();
    for product in &gate.products {
        let mut all: Vec<Small> = Vec::new();
        for (wanted, &input) in product.iter().zip(&gate.inputs) {
            match wanted {
                Some(true) => all.push(values[input].clone()),
                Some(false) => all.push(values[input].inverted_bit()),
                None => {}
            }
        }
        any.push(counted(l, all, |count, of| count == of)?);
    }
    let holds = counted(l, any, |count, _| count > 0)?;
    Ok(if gate.value {
        holds
    } else {
        holds.inverted_bit()
    })
}

/// Computes f(number of 1s, number of bits) of a list of encrypted bits. Groups of bits are looked up first, then the
/// groups' results, so f must give the same for the results as for all bits at once.
fn counted(
    l: &mut Lookups,
    mut bits: Vec<Small>,
    f: impl Fn(i64, i64) -> bool,
) -> Result<Small, CircuitError> {
    loop {
        let mut groups = Vec::new();
        for group in bits.chunks(ENTRIES - 1) {
            let terms: Vec<_> = group.iter().map(|bit| (1, bit)).collect();
            let of = group.len() as i64;
            groups.push(
                l.lookup(&terms, |count| f(count, of).into())?
                    .known_within(0, 1),
            );
        }
        match <[Small; 1]>::try_from(groups) {
            Ok([one]) => return Ok(one),
            Err(groups) if groups.is_empty() => return Ok(Small::constant(f(0, 0).into())),
            Err(groups) => bits = groups,
        }
    }
}

/// Merges gates that have a single reader into that reader, if `one` accepts the merged function. Returns for each
/// signal of the netlist the function that drives it, or `None` for an input, a constant, a gate that was merged away
/// and a gate that no output needs. `one` tells whether one bootstrap computes a function, by its number of inputs and
/// its truth table. It accepts no function of more than four inputs.
///
/// # Errors
/// [`Halt`].
pub(super) fn merged(
    netlist: &Netlist,
    one: impl Fn(usize, u64) -> bool,
    watch: &Watch,
) -> Result<Vec<Option<Node>>, Halt> {
    let mut readers = vec![0; netlist.drivers.len()];
    for bit in netlist.outputs.iter().flat_map(|bus| &bus.bits) {
        readers[*bit] += 1;
    }
    for &signal in &netlist.order {
        if let Driver::Gate(gate) = &netlist.drivers[signal] {
            gate.inputs.iter().for_each(|&input| readers[input] += 1);
        }
    }
    let mut nodes: Vec<Option<Node>> = vec![None; netlist.drivers.len()];
    for &signal in &netlist.order {
        watch.check()?;
        let Driver::Gate(gate) = &netlist.drivers[signal] else {
            continue;
        };
        let mut inputs = gate.inputs.clone();
        inputs.sort_unstable();
        inputs.dedup();
        if inputs.len() > BITS as usize {
            nodes[signal] = Some(Node::Wide(gate.clone()));
            continue;
        }
        let place = |inputs: &[usize], of: usize| inputs.iter().position(|&i| i == of).unwrap_or(0);
        let rows = (0..1u64 << inputs.len())
            .filter(|row| gate.holds(|i| row >> place(&inputs, gate.inputs[i]) & 1 == 1));
        let mut table = rows.map(|row| 1u64 << row).sum();
        while let Some((gone, together)) = absorbable(&inputs, table, &nodes, &readers, &one) {
            (inputs, table) = together;
            nodes[gone] = None;
        }
        nodes[signal] = Some(Node::Table { inputs, table });
    }
    Ok(nodes)
}

/// Looks for an input of a function that a gate drives and that no other function reads. Returns this input, and the
/// function into which its gate is merged, if `one` accepts the merged function. Otherwise returns `None`.
fn absorbable(
    inputs: &[usize],
    table: u64,
    nodes: &[Option<Node>],
    readers: &[usize],
    one: impl Fn(usize, u64) -> bool,
) -> Option<(usize, (Vec<usize>, u64))> {
    inputs.iter().find_map(|&input| {
        let Some(Node::Table {
            inputs: own,
            table: inner,
        }) = &nodes[input]
        else {
            return None;
        };
        let more = own.iter().filter(|i| !inputs.contains(i)).count();
        if readers[input] != 1 || inputs.len() - 1 + more > BITS as usize {
            return None;
        }
        let together = absorbed(inputs, table, input, own, *inner);
        one(together.0.len(), together.1).then_some((input, together))
    })
}

/// Returns a function whose input `into` is replaced by the gate that drives it. That gate has the inputs `own` and the
/// truth table `inner`.
fn absorbed(
    inputs: &[usize],
    table: u64,
    into: usize,
    own: &[usize],
    inner: u64,
) -> (Vec<usize>, u64) {
    let mut all: Vec<usize> = inputs.iter().copied().filter(|&i| i != into).collect();
    all.extend(own.iter().filter(|i| !inputs.contains(i)));
    let bit = |row: u64, of: usize| {
        let place = all.iter().position(|&i| i == of).unwrap_or(0);
        row >> place & 1
    };
    let index = |names: &[usize], of: &dyn Fn(usize) -> u64| -> u64 {
        names
            .iter()
            .enumerate()
            .map(|(i, &name)| of(name) << i)
            .sum()
    };
    let rows = (0..1u64 << all.len()).filter(|&row| {
        let value = inner >> index(own, &|name| bit(row, name)) & 1;
        let outer = |name| if name == into { value } else { bit(row, name) };
        table >> index(inputs, &outer) & 1 == 1
    });
    let table = rows.map(|row| 1u64 << row).sum();
    (all, table)
}
