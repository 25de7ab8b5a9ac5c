// SPDX-License-Identifier: Apache-2.0
//! Tests the cases of a comparison: machines with new values in some fields of their descriptions.

use ringmill_device::DeviceError;
use ringmill_sim::{Case, CaseError, Devices, Sweep};

fn sweeps(texts: &[&str]) -> Vec<Sweep> {
    texts
        .iter()
        .map(|text| Sweep::parse(text).unwrap())
        .collect()
}

fn cases(machines: &[&str], set: &[&str]) -> Result<Vec<Case>, CaseError> {
    let machines: Vec<String> = machines.iter().map(|&m| m.to_owned()).collect();
    Devices::standard().cases(&machines, &sweeps(set))
}

#[test]
fn sweeps_are_read_and_others_refused() {
    let of = |machine: Option<&str>, field: &str, values: &[&str]| Sweep {
        machine: machine.map(str::to_owned),
        field: field.to_owned(),
        values: values.iter().map(|&v| v.to_owned()).collect(),
    };
    let parse = |text| Sweep::parse(text).unwrap();
    assert_eq!(parse("rpaus=2,4"), of(None, "rpaus", &["2", "4"]));
    assert_eq!(parse("ring:rpaus= 2"), of(Some("ring"), "rpaus", &["2"]));
    let file = parse("a:b.toml:link.us_per_limb=1.5,=");
    assert_eq!(
        file,
        of(Some("a:b.toml"), "link.us_per_limb", &["1.5", "="])
    );
    for text in [
        "",
        "rpaus",
        "=1",
        "rpaus=",
        "rpaus=1,,2",
        ":rpaus=1",
        "ring:=1",
        " =1",
    ] {
        let said = Sweep::parse(text).unwrap_err().to_string();
        assert!(
            said.contains(&format!("{text:?}: expected FIELD=")),
            "{said}"
        );
    }
}

#[test]
fn cases_are_the_product_of_the_values() {
    let all = cases(
        &["ring", "polymul"],
        &["clock_mhz=100,200", "ring:rpaus=4,10", "polymul:units=8"],
    );
    let labels: Vec<String> = all.unwrap().iter().map(Case::label).collect();
    let expected = [
        "ring clock_mhz=100 rpaus=4",
        "ring clock_mhz=100 rpaus=10",
        "ring clock_mhz=200 rpaus=4",
        "ring clock_mhz=200 rpaus=10",
        "polymul clock_mhz=100 units=8",
        "polymul clock_mhz=200 units=8",
    ];
    assert_eq!(labels, expected);
}

#[test]
fn a_case_is_the_machine_of_its_values() {
    let all = cases(&["ring", "vector"], &["ring:clock_mhz=100,250.5"]).unwrap();
    let vector = cases(&["vector"], &[]).unwrap();
    let shipped = vector[0].opened.as_ref().ok().unwrap().device.clock_mhz();
    assert_eq!(all.len(), 3);
    for (case, clock) in all.iter().zip([Some(100.0), Some(250.5), shipped]) {
        let opened = case.opened.as_ref().ok().unwrap();
        assert_eq!(opened.device.clock_mhz(), clock);
        assert_eq!(opened.device.name(), format!("sim:{}", case.machine));
        assert_eq!(opened.target.explicit, case.machine == "vector");
    }
}

#[test]
fn a_description_that_is_refused_is_a_case_that_says_why() {
    let all = cases(&["ring"], &["rpaus=0,10"]).unwrap();
    let refused = all[0].opened.as_ref().err().unwrap().to_string();
    assert!(refused.contains("rpaus = 0: expected 1 to 16"), "{refused}");
    assert!(all[1].opened.is_ok());
}

#[test]
fn what_makes_no_cases_is_refused_with_its_cure() {
    let said = |machines: &[&str], set: &[&str]| {
        let fault = cases(machines, set).err().unwrap();
        DeviceError::from(fault).to_string()
    };
    let fault = said(&["ring", "polymul"], &["rpaus=2,4"]);
    for part in [
        "set rpaus: machine `polymul` has no such field",
        "max_log_n",
        "MACHINE:rpaus=",
    ] {
        assert!(fault.contains(part), "{part}: {fault}");
    }
    let fault = said(&["ring"], &["rpaus=two"]);
    assert!(
        fault.contains("\"two\" is no value of this field of machine `ring`; expected a whole"),
        "{fault}"
    );
    let fault = said(&["ring"], &["vector:log_lanes=4"]);
    assert!(
        fault.contains("`vector` is not among those compared, ring"),
        "{fault}"
    );
    let fault = said(&["ring"], &["rpaus=2", "ring:rpaus=4"]);
    assert!(fault.contains("set twice"), "{fault}");
    assert!(said(&["ring", "ring"], &[]).contains("named twice"));
    assert!(said(&[], &[]).contains("no machine is named"));
    assert!(said(&["abacus"], &[]).contains("no machine is called `abacus`"));
    assert!(said(&["none.toml"], &[]).contains("none.toml"));
    let values: Vec<String> = (1..=40).map(|n| n.to_string()).collect();
    let many = |field: &str| format!("{field}={}", values.join(","));
    let fault = said(&["ring"], &[&many("clock_mhz"), &many("rpaus")]);
    assert!(fault.contains("1600 cases, and at most 1000"), "{fault}");
    let fault = said(
        &["ring", "ring-stored"],
        &[
            &many("clock_mhz"),
            "rpaus=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
        ],
    );
    assert!(fault.contains("1200 cases"), "{fault}");
}
