// SPDX-License-Identifier: Apache-2.0
//! Tests the functions of bits that one bootstrap computes.

use ringmill_circuits::circuit::gates::form::{INPUTS, form};

#[test]
fn every_gate_of_two_bits_and_full_adders() {
    // All gates that depend on both inputs. A gate's norm is the sum of its squared factors. AND and the like have
    // norm 2 and lie one eighth of the torus from a change of sign; XOR and XNOR have norm 8 and lie two eighths
    // from it.
    let of_two: Vec<u16> = (0..16)
        .filter(|t| {
            let of_first = (t & 5) != (t >> 1 & 5);
            let of_second = (t & 3) != (t >> 2 & 3);
            of_first && of_second
        })
        .collect();
    assert_eq!(of_two.len(), 10);
    for table in of_two {
        let form = form(2, table).unwrap();
        let wanted = if matches!(table, 0x6 | 0x9) {
            (8, 2)
        } else {
            (2, 1)
        };
        assert_eq!((form.norm(), form.eighths()), wanted, "{table:x}");
    }
    let (majority, parity) = (form(3, 0xe8).unwrap(), form(3, 0x96).unwrap());
    assert_eq!((majority.norm(), majority.eighths()), (3, 1));
    assert_eq!((parity.norm(), parity.eighths()), (12, 2));
    // A conjunction of three bits takes more than one bootstrap, so it has no form.
    assert_eq!(form(3, 0x80), None);
}

#[test]
fn forms_are_what_their_table_says() {
    let tables =
        (1..=INPUTS).flat_map(|inputs| (0..1u32 << (1 << inputs)).map(move |t| (inputs, t as u16)));
    for (inputs, table) in tables {
        let Some(form) = form(inputs, table) else {
            continue;
        };
        for row in 0..1 << inputs {
            let value = form.value(row).rem_euclid(8);
            assert_eq!((1..4).contains(&value), table >> row & 1 == 1);
            let away = value.min(8 - value).min((value - 4).abs());
            assert!(away >= i64::from(form.eighths()));
        }
    }
}
