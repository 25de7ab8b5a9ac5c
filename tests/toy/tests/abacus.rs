// SPDX-License-Identifier: Apache-2.0
//! Tests that a machine from outside the crates is listed, described, opened and reported like any other, by its row
//! alone.
#![allow(clippy::unwrap_used)]

use ringmill_compiler::Accuracy;
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::{Compiled, Options, ParamsChoice, Wanted};
use ringmill_compiler::compile;
use ringmill_device::Request;
use ringmill_device::progress::Silent;
use ringmill_hdl::device::{Design, Designs, RtlError, Runs};
use ringmill_isa::macros::Visibility;
use ringmill_machines::{MachineError, Registry};
use ringmill_papers::{Asked, Papers, Sources};
use ringmill_runtime::simulate;
use ringmill_sim::Devices;
use ringmill_test_toy::{Abacus, AbacusUse, Description, KIND, OnBeads, ROW};

fn machines() -> Registry {
    Registry::standard().with(ROW)
}

fn devices() -> Devices {
    Devices::of(machines())
}

/// Compiles x^2 of 8 numbers for the abacus.
fn square(devices: &Devices) -> Compiled {
    let mut t = TraceBuilder::new("square", 8).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let y = t.mul(x, x, None).unwrap();
    t.output("y", y, None).unwrap();
    let options = Options {
        target: Some(devices.target("abacus").unwrap()),
        params: ParamsChoice::Choose(Wanted {
            accuracy: Accuracy::Bits(5),
            ..Wanted::default()
        }),
        ..Options::default()
    };
    compile(t.finish(), &options).unwrap()
}

#[test]
fn its_row_is_enough_to_list_describe_and_load_it() {
    let machines = machines();
    assert_eq!(
        machines.kinds().len(),
        Registry::standard().kinds().len() + 1
    );
    assert_eq!(machines.names().last(), Some("abacus"));
    assert_eq!(machines.description("abacus").unwrap(), Description::OURS);
    assert_eq!(machines.kind_of(Description::OURS).unwrap().name, KIND);
    let edited = Description::OURS.replace("beads = 8", "beads = 16");
    let machine = machines.load(&edited).unwrap();
    assert_eq!((machine.name(), machine.fit().units), ("abacus", 16));
    assert!(machine.as_a::<Abacus>().is_some());
    for (old, new, field) in [
        ("beads = 8", "beads = 0", "beads"),
        ("\"abacus\"", "\"sundial\"", "\"card\" or \"abacus\""),
    ] {
        let refused = machines.load(&Description::OURS.replace(old, new));
        let said = refused.err().unwrap().to_string();
        assert!(said.contains(field), "{said}");
    }
    // A registry without the row does not know the machine.
    let unknown = Registry::standard().open("abacus");
    assert!(matches!(unknown, Err(MachineError::Unknown { .. })));
}

/// A row replaces the registry's row of the same name.
#[test]
fn a_row_replaces_one_of_its_name() {
    let twice = machines().with(ROW);
    assert_eq!(twice.kinds().len(), machines().kinds().len());
}

#[test]
fn a_program_is_timed_on_it_and_its_rows_are_in_the_report() {
    let devices = devices();
    assert!(devices.known().contains(&"sim:abacus".to_owned()));
    let compiled = square(&devices);
    let device = devices.open("sim:abacus").unwrap();
    let timing = Request::timing_only();
    let report = simulate(&compiled, device.as_ref(), timing, &Silent).unwrap();
    let machine = report.machine.clone().unwrap();
    let own = machine.own::<AbacusUse>().unwrap();
    // Every instruction of this program makes one limb, and eight beads move in a cycle.
    let limbs: u64 = machine.instructions_by_kind.values().sum();
    let n = 1u64 << compiled.params.log_n();
    assert_eq!(machine.cycles, limbs * n / 8);
    assert_eq!((own.moves, own.beads), (limbs * n, 8));
    let detail = report.detail().to_string();
    let rows = ["modular multipliers", "none, 8 beads", "beads moved"];
    for row in rows.iter().chain([&"more beads (`beads`)"]) {
        assert!(detail.contains(row), "{row}: {detail}");
    }
    let json = serde_json::to_string(&machine).unwrap();
    let written = format!("\"abacus\":{{\"moves\":{},\"beads\":8}}}}", own.moves);
    assert!(json.ends_with(&written), "{json}");
}

#[test]
fn its_rtl_is_a_row_too() {
    let opened = devices().open("rtl:abacus");
    let refused = opened.err().unwrap();
    assert!(matches!(refused.as_own(), Some(RtlError::NoRtl { .. })));
    // RTL of a kind may refuse a machine, with the field in which the machine differs.
    let design = Design {
        kind: KIND,
        runs: Runs::Whole {
            built: |_| {
                Err(MachineError::Field {
                    field: "beads",
                    got: "8".to_owned(),
                    expected: "4 in RTL".to_owned(),
                })
            },
            open: |name, _| ringmill_sim::open(&name),
        },
        folder: None,
    };
    let designs = Designs::standard().with(design);
    let devices = Devices::of(machines()).with_designs(designs);
    assert!(!devices.with_rtl().contains(&"abacus"));
    let refused = devices.open("rtl:abacus").err().unwrap();
    assert!(refused.to_string().contains("4 in RTL"), "{refused}");
}

/// The paper's figure is reproduced beside ours.
#[test]
fn its_papers_table_is_reproduced() {
    let papers = Papers::standard().with(OnBeads);
    assert!(papers.of_machine(KIND).is_some());
    let asked = Asked {
        sources: Sources {
            model: false,
            synthesis: false,
        },
        picture: false,
        runs: None,
    };
    let found = papers.reproduce("abacus", &asked, &Silent).unwrap();
    let line = found.rows[0].json("abacus");
    assert_eq!((&line["paper"], &line["ours"]), (&10.0.into(), &8.0.into()));
}
