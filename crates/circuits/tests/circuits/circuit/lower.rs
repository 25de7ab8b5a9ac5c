// SPDX-License-Identifier: Apache-2.0
//! Tests that every operation lowered to lookups gives the values of the program, both evaluated without encryption.

use ringmill_circuits::circuit::lower::{Circuit, lower};
use ringmill_circuits::circuit::program::{Program, ProgramBuilder};
use ringmill_limits::Watch;

use super::operations::{
    Dice, agree, every_pair_of_four_bits, kind, of_sixteen, other_widths, random_program,
    random_tables,
};

/// The approximate limit on the sum of squared factors in a lookup's operand, for the parameter set `message_2_carry_2`
/// and a failure probability of 2^-64 for each bootstrap.
const LIMIT: u64 = 2000;

fn lowered(program: &Program, limit: u64) -> Circuit {
    lower(program, limit, &Watch::default()).unwrap()
}

#[test]
fn every_operation_on_every_pair_of_four_bits() {
    every_pair_of_four_bits(|program| vec![lowered(program, LIMIT)]);
}

#[test]
fn every_operation_at_other_widths() {
    let widths = [1, 2, 3, 5, 6, 7, 8, 15, 16, 31, 33, 64];
    // A division takes thousands of lookups at 64 bits. A tight limit refreshes often.
    other_widths(&mut Dice(1), &widths, [30, 5], |program, random| {
        let limit = [LIMIT, 700, 300][random % 3];
        let circuit = lowered(program, limit);
        let cost = circuit.graph.cost();
        assert!(cost.norm <= limit && cost.bootstraps <= cost.tables);
        circuit
    });
}

#[test]
fn tables_of_one_and_of_two_limbs() {
    random_tables(&mut Dice(2), &[1, 2, 9, 16], |program| {
        lowered(program, LIMIT)
    });
}

/// Tests the counts in docs/tfhe.md for a table of 256 bytes at an encrypted index. Its 144 lookups take 66 bootstraps,
/// as lookups of one operand share a blind rotation.
#[test]
fn a_table_of_bytes_shares_its_rotations() {
    let mut dice = Dice(3);
    let of = kind(8, false);
    let entries: Vec<i128> = (0..256).map(|_| of.read(dice.next())).collect();
    let mut b = ProgramBuilder::new();
    let x = b.input("x", of);
    let y = b.table(x, &entries, of).unwrap();
    b.output("y", y).unwrap();
    let cost = lowered(&b.finish(), LIMIT).graph.cost();
    assert_eq!((cost.bootstraps, cost.tables), (66, 144));
}

#[test]
fn random_programs() {
    let mut dice = Dice(3);
    for _ in 0..150 {
        let bits = 1 + dice.next() as u32 % 18;
        let of = kind(bits, dice.next().is_multiple_of(2));
        let program = random_program(&mut dice, of);
        let circuit = lowered(&program, LIMIT);
        for _ in 0..10 {
            let inputs = [dice.value(bits), dice.value(bits)];
            agree(&program, &circuit, &inputs, "random program");
        }
    }
}

/// Tests the number of bootstraps of operations on 16 bits, which docs/tfhe.md lists.
#[test]
fn bootstraps_of_sixteen_bits() {
    let cost = |name| lowered(&of_sixteen(name), LIMIT).graph.cost();
    for (name, most) in [
        ("Add", 4),
        ("Sub", 4),
        ("Less", 4),
        ("Equal", 5),
        ("Max", 12),
        ("And", 8),
        ("Mul", 72),
        ("Div", 280),
    ] {
        let cost = cost(name);
        println!("{name}: {cost:?}");
        assert!(cost.bootstraps <= most, "{name}: {cost:?}");
    }
}
