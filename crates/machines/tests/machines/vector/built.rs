// SPDX-License-Identifier: Apache-2.0
//! Each field that the RTL of the vector machine limits: the last value that it can build, and the first that it cannot.

use ringmill_machines::MachineError;
use ringmill_machines::vector::Description;
use ringmill_machines::vector::built::{check, stages};
use ringmill_machines::vector::description::{Factory, Masks};

type Edit = fn(&mut Description);

/// Returns the machine for the U250, which the RTL can build, after an edit.
fn edited(edit: Edit) -> Description {
    let mut d = Description::read(Description::U250).unwrap();
    edit(&mut d);
    d
}

#[test]
fn the_rtl_builds_the_machine_for_the_u250_and_its_limits() {
    let built: [Edit; 6] = [
        |_| (),
        |d| d.log_lanes = d.log_radix + 1,
        |d| d.log_lanes = 2 * d.log_radix - 1,
        |d| d.micro.mac = 3,
        |d| (d.micro.transform, d.micro.buffer) = (3, 4),
        |d| (d.micro.transform, d.micro.buffer) = (999, 1000),
    ];
    for (case, edit) in built.into_iter().enumerate() {
        check(&edited(edit)).unwrap_or_else(|e| panic!("{case}: {e}"));
    }
}

#[test]
fn the_rtl_refuses_each_field_beyond_its_limit() {
    let cases: [(&str, Edit); 14] = [
        ("stages.read_permutation", |d| {
            d.stages.read_permutation += 1;
        }),
        ("stages.transform", |d| d.stages.transform -= 1),
        ("stages.write_permutation", |d| {
            d.stages.write_permutation -= 1;
        }),
        ("stages.mac", |d| d.stages.mac += 1),
        ("log_lanes", |d| d.log_lanes = d.log_radix),
        ("log_lanes", |d| d.log_lanes = 2 * d.log_radix),
        ("factory", |d| d.factory = Factory::Shared),
        ("key_masks", |d| d.key_masks = Masks::Generated),
        ("micro.mac", |d| d.micro.mac = 2),
        ("micro.mac", |d| d.micro.mac = 1001),
        ("micro.transform", |d| d.micro.transform = 2),
        ("micro.transform", |d| d.micro.transform = 1000),
        ("micro.buffer", |d| d.micro.buffer = d.micro.transform),
        ("micro.buffer", |d| d.micro.buffer = 1001),
    ];
    for (case, (field, edit)) in cases.into_iter().enumerate() {
        match check(&edited(edit)).unwrap_err() {
            MachineError::Field { field: found, .. } => assert_eq!(found, field, "{case}"),
            other => panic!("{case}: {other}"),
        }
    }
}

/// Checks the counts of stages at radix 256. A permutation has eight ranks of switches and a stage for the pattern. The
/// transform has eight butterflies of five stages between multipliers of four.
#[test]
fn the_stages_of_radix_256_are_those_of_the_page() {
    let s = stages(8);
    let found = [s.read_permutation, s.transform, s.write_permutation, s.mac];
    assert_eq!(found, [9, 48, 9, 6]);
}
