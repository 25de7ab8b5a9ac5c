// SPDX-License-Identifier: Apache-2.0
//! Tests of how the RTL sources are found: in a checkout of the repository, and in a package.

use std::path::{Path, PathBuf};

use ringmill_hdl::internals::written;
use ringmill_hdl::{Package, Sources, sources};

use crate::common::folder;

const SOURCES: &[(&str, &str)] = &[
    ("rtl/lib/one.sv", "module one;\nendmodule\n"),
    ("crates/hdl/peers/two.sv", "module two;\nendmodule\n"),
];

#[test]
fn a_packages_sources_are_written_once_and_mended() {
    let cache = folder("package");
    let package = Package {
        sources: SOURCES,
        environment: PathBuf::new(),
    };
    let root = written(&package, &cache).unwrap();
    let file = root.join("rtl/lib/one.sv");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), SOURCES[0].1);
    std::fs::write(&file, "module edited;\nendmodule\n").unwrap();
    std::fs::remove_file(root.join("crates/hdl/peers/two.sv")).unwrap();
    assert_eq!(written(&package, &cache).unwrap(), root);
    for (name, text) in SOURCES {
        assert_eq!(std::fs::read_to_string(root.join(name)).unwrap(), *text);
    }
    let read = Sources::read(&[&root.join("rtl"), &root.join("crates/hdl/peers")]).unwrap();
    assert_eq!(read.modules().collect::<Vec<_>>(), ["one", "two"]);
}

#[test]
fn a_checkout_comes_before_a_package() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = sources(here).unwrap();
    let above = Sources::read(&[&here.join("../../rtl")]).unwrap();
    let (found, above): (Vec<_>, Vec<_>) = (found.modules().collect(), above.modules().collect());
    assert_eq!(found, above);
}
