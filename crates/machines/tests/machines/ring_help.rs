// SPDX-License-Identifier: Apache-2.0
//! Tests the advice in a report of a ring machine: values of fields with which the description still fits its FPGA, or
//! the reason why there are none.

use std::sync::Arc;

use crate::common::programs::{Builder, Cipher, chain};
use crate::common::{description, params};
use ringmill_device::report::{EndToEnd, TimePart};
use ringmill_isa::mid::Verified;
use ringmill_machines::ring::{Description, RingMachine, RingUse, SHIPPED};
use ringmill_machines::{Machine, Registry, SimOptions, variant};
use ringmill_schemes::ckks::params::Params;
use ringmill_schemes::ckks::{Galois, OpKey};

/// Makes a program that rotates by `keys` different steps in turn, and then once more by each. The key of a step has
/// three limbs on each of four RPAUs.
fn rotations(params: &Arc<Params>, keys: u16) -> Verified {
    let mut b = Builder::new(params);
    let level = params.max_level();
    let mut x = b.input(params, level, 0);
    for which in (0..keys).chain(0..keys) {
        let galois = Galois(2 * u32::from(which) + 3);
        x = b.apply(&OpKey::rotate(level, galois, true), &[&x], which);
    }
    b.output(&x);
    b.finish()
}

/// Makes a program that starts with the first of `n` ciphertexts and adds all of them in turn, each twelve times.
fn values(params: &Arc<Params>, n: u32) -> Verified {
    let mut b = Builder::new(params);
    let level = params.max_level();
    let xs: Vec<Cipher> = (0..n).map(|i| b.input(params, level, i)).collect();
    let mut sum = xs[0].clone();
    for x in xs.iter().cycle().take(12 * n as usize) {
        sum = b.apply(&OpKey::add(level, 2, 2), &[&sum, x], 0);
    }
    b.output(&sum);
    b.finish()
}

fn time(d: &Description, program: &Verified) -> EndToEnd {
    let machine = RingMachine::new(d.clone()).unwrap();
    let report = machine.simulate(program, SimOptions::default()).unwrap();
    report.end_to_end
}

/// Returns the fields and values that a text offers in the form "`field` = 3".
fn offered(help: &str) -> Vec<(String, String)> {
    let words: Vec<&str> = help.split_whitespace().collect();
    let mut found = Vec::new();
    for three in words.windows(3) {
        let [name, equals, value] = three else {
            continue;
        };
        let name = name.trim_start_matches('(');
        if name.starts_with('`') && name.ends_with('`') && *equals == "=" {
            let digits = value.trim_matches(|c: char| !c.is_ascii_digit());
            found.push((name.trim_matches('`').to_owned(), digits.to_owned()));
        }
    }
    found
}

/// Opens the machine of a description with these values in place of its own. Returns the error as text if the machine
/// does not fit its FPGA.
fn opens(text: &str, values: &[(String, String)]) -> Result<(), String> {
    let named = values.iter().map(|(f, v)| (f.as_str(), v.as_str()));
    // Without this field, a machine that exceeds its FPGA is refused.
    let lines = text.lines().filter(|line| !line.starts_with("allow_more"));
    let text = lines.collect::<Vec<_>>().join("\n");
    let text = variant::with(&text, named).unwrap();
    Registry::standard()
        .load(&text)
        .map(drop)
        .map_err(|e| e.to_string())
}

#[test]
fn what_would_help_fits_the_part_or_is_said_not_to() {
    let params = params(8, 2, 1);
    let programs = [
        (TimePart::LinkKeys, rotations(&params, 16)),
        (TimePart::LinkSpills, values(&params, 12)),
        (TimePart::Compute, chain(&params, 2)),
    ];
    let mut seen = Vec::new();
    for (name, text) in SHIPPED {
        for (by, program) in &programs {
            let mut d = Description::parse(text).unwrap();
            d.link.us_per_limb = if *by == TimePart::Compute { 1e-6 } else { 1e6 };
            let time = time(&d, program);
            if time.bound.by != *by {
                // This machine has room for all keys and values, so another part of the time is the largest.
                assert_eq!(name, "ring-large");
                continue;
            }
            let help = time.bound.help;
            let end = [" fit: ", " needed): "]
                .iter()
                .find_map(|end| help.find(end));
            // The text says what helps, and then what does not fit and why.
            let (helps, refused) = match end {
                None => (help.as_str(), None),
                Some(end) => {
                    let (before, why) = help.split_at(end);
                    assert!(
                        why.contains(" has ") || why.contains("names"),
                        "{name}: {help}"
                    );
                    let (helps, refused) = before.rsplit_once("; ").unwrap();
                    (helps, Some(refused))
                }
            };
            let values = offered(helps);
            assert!(
                values.is_empty() || opens(text, &values) == Ok(()),
                "{name}: {help}"
            );
            let values = refused.map(offered).unwrap_or_default();
            assert!(
                values.is_empty() || opens(text, &values).is_err(),
                "{name}: {help}"
            );
            seen.push((name, *by, help));
        }
    }
    assert!(seen.len() >= 7, "{seen:?}");
}

#[test]
fn a_part_without_room_for_more_keys_is_named_with_its_limit() {
    let mut d = Description::parse(Description::MEDHA).unwrap();
    d.link.us_per_limb = 1e6;
    let time = time(&d, &rotations(&params(8, 2, 1), 16));
    assert_eq!(time.bound.by, TimePart::LinkKeys);
    let said = "no `keys.slots` above 18 fits (48 needed): one RPAU needs 109 ultra RAM (70 for key memory), a die region has 320";
    assert!(time.bound.help.contains(said), "{}", time.bound.help);
}

/// The key limbs in use are those that were in key memory before the run and those that were loaded, if each limb
/// counts once.
#[test]
#[ignore = "ten seconds; `make full` runs it"]
fn key_counts_add_up() {
    for keys in [4, 9, 16] {
        for resident_keys in [true, false] {
            let machine = RingMachine::new(description(8, 4, 4, false)).unwrap();
            let options = SimOptions {
                resident_keys,
                ..SimOptions::default()
            };
            let report = machine
                .simulate(&rotations(&params(8, 2, 1), keys), options)
                .unwrap();
            let used = report.own::<RingUse>().unwrap().keys;
            assert_eq!(used.resident + used.loaded, used.needed + used.again());
            assert_eq!(used.resident, report.end_to_end.resident_key_limbs);
            // In the second round the keys without room are loaded again.
            assert_eq!(used.again() > 0, used.needed > used.fit, "{used:?}");
            // The cold time is the time of a run that sends all keys over the link.
            if resident_keys {
                let options = SimOptions {
                    resident_keys: false,
                    ..SimOptions::default()
                };
                let sent = machine
                    .simulate(&rotations(&params(8, 2, 1), keys), options)
                    .unwrap();
                let (cold, sent) = (report.end_to_end.cold_seconds(), sent.end_to_end.seconds);
                assert!((cold - sent).abs() < 1e-9 * sent, "{cold} {sent}");
            }
        }
    }
}
