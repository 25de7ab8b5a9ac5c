// SPDX-License-Identifier: Apache-2.0
//! Maps netlists onto gates of bits. A gate with a single reader is merged into that reader if one bootstrap computes
//! both.

use ringmill_limits::Watch;

use super::map::{Node, merged, port};
use super::{Driver, Gate, Netlist};
use crate::circuit::error::CircuitError;
use crate::circuit::gates::add::{all, any};
use crate::circuit::gates::form::{INPUTS, form};
use crate::circuit::gates::{Bit, Gates, Limits, parts};
use crate::circuit::lower::{Circuit, Part};

/// Lowers a netlist to gates, for parameters whose bootstraps read operands with noise within `limits`.
///
/// # Errors
/// [`CircuitError::Noise`], [`CircuitError::Halt`].
pub fn lower_to_gates(
    netlist: &Netlist,
    limits: Limits,
    watch: &Watch,
) -> Result<Circuit, CircuitError> {
    let one = |inputs: usize, table: u64| {
        let table = u16::try_from(table).ok().filter(|_| inputs <= INPUTS);
        let form = table.and_then(|table| form(inputs, table));
        form.is_some_and(|form| form.norm() <= limits.at(form.eighths()))
    };
    let nodes = merged(netlist, one, watch)?;
    let mut g = Gates::new(limits, watch);
    let mut values = vec![Bit::constant(false); netlist.drivers.len()];
    let mut inputs = Vec::new();
    let mut number = 0;
    for bus in &netlist.inputs {
        let mut parts = Vec::new();
        for (at, &bit) in (0..).zip(&bus.bits) {
            values[bit] = g.input();
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
            (Driver::Known(value), _) => values[signal] = Bit::constant(*value),
            (Driver::Gate(_), Some(Node::Table { inputs, table })) => {
                let bits: Vec<Bit> = inputs.iter().map(|&i| values[i].clone()).collect();
                values[signal] = g.table(&bits, *table as u16)?;
            }
            (Driver::Gate(_), Some(Node::Wide(gate))) => {
                values[signal] = wide(&mut g, gate, &values)?;
            }
        }
    }
    let mut sums = Vec::new();
    let mut outputs = Vec::new();
    for bus in &netlist.outputs {
        let bits: Vec<Bit> = bus.bits.iter().map(|&bit| values[bit].clone()).collect();
        outputs.push(port(bus, parts(&bits, &mut sums))?);
    }
    Ok(Circuit {
        graph: g.finish(sums)?,
        inputs,
        outputs,
    })
}

/// Computes a gate that is a sum of products of more than four bits. The result is `gate.value` if any product holds,
/// else the opposite.
fn wide(g: &mut Gates, gate: &Gate, values: &[Bit]) -> Result<Bit, CircuitError> {
    let mut products = Vec::new();
    for product in &gate.products {
        let literals = product.iter().zip(&gate.inputs);
        let literals = literals.filter_map(|(wanted, &input)| match wanted {
            Some(true) => Some(values[input].clone()),
            Some(false) => Some(values[input].inverted()),
            None => None,
        });
        products.push(all(g, literals.collect())?);
    }
    let holds = any(g, products)?;
    Ok(if gate.value { holds } else { holds.inverted() })
}
