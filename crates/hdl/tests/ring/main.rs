//! The ring machine's RTL against the software and the cycle model.

mod bench;
#[path = "../common/faulty.rs"]
mod faulty;
mod mutants;
mod procedures;
mod random;
mod refusals;
mod words;

use bench::hdl;
use ringmill_hdl::Top;
use ringmill_hdl::ring::{PACKAGE, package};

#[test]
fn the_package_of_words_is_fresh() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let text = std::fs::read_to_string(format!("{root}/{PACKAGE}")).unwrap();
    assert_eq!(
        text,
        package(),
        "run `cargo run -p ringmill-hdl --bin ring-gen`"
    );
}

#[test]
fn every_module_lints() {
    let modules = hdl().sources().modules();
    for module in modules.filter(|m| m.starts_with("rm_ring")) {
        hdl().lint(&Top::new(module)).unwrap();
    }
}
