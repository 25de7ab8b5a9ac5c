// SPDX-License-Identifier: Apache-2.0
//! Tests that every operation lowered to gates gives the values of the program, both evaluated without encryption.

use ringmill_limits::Watch;

use super::operations::{
    Dice, agree, every_pair_of_four_bits, kind, of_sixteen, of_two, operations, other_widths,
    random_program, random_tables,
};
use ringmill_circuits::circuit::gates::{Limits, lower};
use ringmill_circuits::circuit::graph::eighths;
use ringmill_circuits::circuit::program::Program;
use ringmill_circuits::circuit::{Circuit, CircuitError};

/// The approximate limits on the sum of squared factors in a bootstrap's operand, for the parameter set `circuit_bits`
/// and a failure probability of 2^-64 for each bootstrap.
const WIDE: Limits = Limits { near: 39, far: 90 };
/// Limits on the sum of squared factors in a bootstrap's operand that allow the gates of two bits,
/// and no larger gates.
const TIGHT: Limits = Limits { near: 2, far: 8 };

fn checked(program: &Program, limits: Limits) -> Circuit {
    let circuit = lower(program, limits, &Watch::default()).unwrap();
    for lookup in &circuit.graph.lookups {
        let limit = match eighths(&lookup.operand) {
            1 => limits.near,
            _ => limits.far,
        };
        assert!(lookup.operand.norm() <= limit);
    }
    circuit
}

#[test]
fn every_operation_on_every_pair_of_four_bits() {
    every_pair_of_four_bits(|program| [WIDE, TIGHT].map(|limits| checked(program, limits)).into());
}

#[test]
fn every_operation_at_other_widths() {
    let limits = [WIDE, TIGHT, Limits { near: 3, far: 12 }];
    let widths = [1, 2, 3, 5, 8, 16, 33, 64];
    other_widths(&mut Dice(11), &widths, [20, 3], |program, random| {
        checked(program, limits[random % 3])
    });
}

#[test]
fn tables_of_up_to_eight_bits() {
    random_tables(&mut Dice(12), &[1, 9], |program| checked(program, WIDE));
}

/// Tests programs of a dozen operations, in which the sums of one operation are operands of the next.
#[test]
fn random_programs() {
    let mut dice = Dice(13);
    for round in 0..100 {
        let bits = 1 + dice.next() as u32 % 10;
        let of = kind(bits, dice.next().is_multiple_of(2));
        let program = random_program(&mut dice, of);
        let circuit = checked(&program, if round % 2 == 0 { WIDE } else { TIGHT });
        for _ in 0..8 {
            let inputs = [dice.value(bits), dice.value(bits)];
            agree(&program, &circuit, &inputs, "random program");
        }
    }
}

/// Tests that parameters with too much noise for a gate are refused. The error names the parameters' limit and the
/// gate's norm, the sum of its squared factors. AND lies one eighth of the torus from a change of sign,
/// XOR two eighths.
#[test]
fn gates_that_are_too_noisy_are_refused() {
    let of = kind(4, false);
    let all = operations(of);
    for (name, limits, refused) in [
        ("And", Limits { near: 1, far: 8 }, (1, 2)),
        ("Xor", Limits { near: 5, far: 7 }, (7, 8)),
    ] {
        let (_, make) = all.iter().find(|(n, _)| n == name).unwrap();
        let error = lower(&of_two(of, make), limits, &Watch::default()).unwrap_err();
        let (limit, needed) = refused;
        assert_eq!(error, CircuitError::Noise { limit, needed });
        let said = error.to_string();
        assert!(said.contains(&format!("at most {limit} times")), "{said}");
        assert!(said.contains(&format!("it is {needed} times")), "{said}");
    }
}

/// Tests the number of bootstraps of operations on 16 bits as gates, which docs/tfhe.md lists.
#[test]
fn bootstraps_of_sixteen_bits() {
    let cost = |name| {
        lower(&of_sixteen(name), WIDE, &Watch::default())
            .unwrap()
            .graph
            .cost()
    };
    for (name, bootstraps) in [
        ("Add", 31),
        ("Sub", 31),
        ("Less", 16),
        ("Equal", 31),
        ("Max", 48),
        ("Xor", 16),
        ("Left by 3", 0),
    ] {
        assert_eq!(cost(name).bootstraps, bootstraps, "{name}");
    }
    for (name, most) in [("Mul", 376), ("Div", 600)] {
        let cost = cost(name);
        assert!(cost.bootstraps <= most, "{name}: {cost:?}");
    }
}
