// SPDX-License-Identifier: Apache-2.0
//! Tests of finding RTL designs by name, with fields set by `--set`.

use std::path::Path;

use ringmill_cli::internals::{CliError, Design, DesignArgs, find_design};
use ringmill_hdl::device::Designs;
use ringmill_machines::Registry;

fn find(name: &str, set: Vec<String>) -> Result<Design, CliError> {
    let sources = ringmill_hdl::sources(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
    let design = name.to_owned();
    find_design(&sources, &DesignArgs { design, set })
}

fn set(pairs: &[(&str, &str)]) -> Result<Design, CliError> {
    let set = pairs.iter().map(|(key, value)| format!("{key}={value}"));
    find("polymul", set.collect())
}

#[test]
fn keys_are_set_and_checked() {
    let paper = set(&[]).unwrap();
    assert_eq!(
        paper.top.to_string(),
        "rm_polymul #(Units=32, MaxLogN=12, Beat=4)"
    );
    let small = set(&[
        ("p", "8"),
        ("max_log_n", "9"),
        ("link.gbit_per_second", "3"),
    ])
    .unwrap();
    assert_eq!(
        small.top.to_string(),
        "rm_polymul #(Units=8, MaxLogN=9, Beat=4)"
    );
    assert_eq!(small.machine.unwrap().link.gbit_per_second, 3.0);
    for (key, value, says) in [
        ("width", "8", "units"),
        ("link", "8", "link.gbit_per_second"),
        ("units.x", "8", "no key"),
        ("units", "many", "no integer"),
        ("units", "7", "power of two"),
    ] {
        let said = set(&[(key, value)]).err().unwrap().to_string();
        assert!(said.contains(says), "{key}={value}: {said}");
    }
    for none in ["units", "=8"] {
        let said = find("polymul", vec![none.to_owned()]).err().unwrap();
        assert!(said.to_string().contains("KEY=VALUE"), "{said}");
    }
}

#[test]
fn every_machine_is_a_design_or_says_where_its_rtl_is() {
    let hdl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl");
    let (registry, designs) = (Registry::standard(), Designs::standard());
    let with_rtl = designs.names(&registry);
    for kind in registry.kinds() {
        let folder = designs.of(kind.name).and_then(|design| design.folder);
        for &(name, _) in kind.shipped {
            let made = find(name, Vec::new());
            match folder {
                Some(folder) => {
                    assert!(hdl.join(folder.name).is_dir(), "{}", folder.name);
                    let top = made.unwrap().top.module;
                    assert!(top.starts_with(&format!("rm_{}", folder.name)), "{top}");
                }
                None => {
                    let said = made.err().unwrap().to_string();
                    let (_, rest) = said.split_once("name ").unwrap();
                    assert!(said.contains("`rtl:`"), "{name}: {said}");
                    let top = format!("rm_{}", kind.name);
                    let of_its_own = hdl.join(kind.name).join(format!("{top}.sv")).is_file();
                    assert_eq!(rest.contains(&top), of_its_own, "{name}: {said}");
                    let device = with_rtl.contains(&name);
                    assert_eq!(said.contains("has no such device"), !device, "{name}");
                }
            }
        }
    }
}
