// SPDX-License-Identifier: Apache-2.0
//! Tests of standard-cell areas, of placement and routing, and of configurations that are written as sources of their
//! own.

use std::path::{Path, PathBuf};

use ringmill_hdl::leaves::MULTIPLIERS;
use ringmill_hdl::{Area, BuildOptions, Effort, Hdl, HdlError, Table, Top};

use crate::rtl::support::{Rng, hdl, seed};

fn leaf(module: &str, width: u64) -> Top {
    Top::new(module).int("Width", width)
}

/// Returns a top's area. If there is no standard-cell library, prints so and returns `None`.
fn area(hdl: &Hdl, top: &Top) -> Option<Area> {
    match hdl.area(top) {
        Ok(area) => Some(area),
        Err(HdlError::LibertyMissing { venv }) => {
            eprintln!("skipped: no standard-cell library in {}", venv.display());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Returns the project's modules together with the multipliers that they are compared with.
fn with_peers() -> Hdl {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
    let rtl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl");
    hdl().with_sources(&[&rtl, &peers]).unwrap()
}

#[test]
fn area_counts_logic_and_leaves_memories_out() {
    let Some(narrow) = area(hdl(), &leaf("rm_mod_add", 16)) else {
        return;
    };
    let wide = area(hdl(), &leaf("rm_mod_add", 32)).unwrap();
    let ratio = wide.gates / narrow.gates;
    assert!((1.7..2.5).contains(&ratio), "{ratio}");
    assert_eq!(wide.area, wide.gates * wide.library.nand2);
    assert!(!wide.cells.is_empty() && !wide.library.corner.is_empty());
    assert_eq!(wide.memory_bits, 0);

    let memory = area(hdl(), &leaf("rm_ram_1r1w", 36).int("Depth", 128)).unwrap();
    assert_eq!((memory.memory_bits, memory.area), (36 * 128, 0.0));
    // A queue of 16 words is made of registers, one for each bit.
    let queue = area(hdl(), &leaf("rm_fifo", 8)).unwrap();
    let registers = queue.cells.iter().filter(|(cell, _)| cell.contains("DFF"));
    let registers: u64 = registers.map(|(_, count)| count).sum();
    assert!(queue.memory_bits == 0 && registers >= 128, "{queue:?}");
}

/// A multiplier for moduli that are 1 mod 2^17 is more than 30 % smaller than one for any modulus, because its
/// reduction has no wide products. Both take the first product in one piece, as is usual in silicon.
#[test]
#[ignore = "synthesis; `make full` runs it"]
fn special_moduli_are_smaller_than_montgomery_for_any() {
    let special = MULTIPLIERS[1]
        .top("rm_mod_mul")
        .int("TileA", 32)
        .int("TileB", 32);
    let Some(special) = area(hdl(), &special) else {
        return;
    };
    let any = area(&with_peers(), &leaf("peer_montgomery", 32)).unwrap();
    let saved = 1.0 - special.area / any.area;
    println!(
        "{:.0} for any modulus, {:.0}: {saved:.3} saved",
        any.gates, special.gates
    );
    assert!(saved > 0.3, "{saved}");
}

#[test]
fn the_textbook_reduction_is_right() {
    let mut model = with_peers()
        .model(&leaf("peer_montgomery", 32), BuildOptions::default())
        .unwrap();
    let mut rng = Rng::new(seed());
    for _ in 0..200 {
        let q = rng.bits() >> 32 | 1 | 1 << 31;
        // Newton's iteration: each step doubles the number of correct bits.
        let inverse = (0..5).fold(q, |x, _| {
            x.wrapping_mul(2u64.wrapping_sub(q.wrapping_mul(x)))
        });
        let (a, b) = (rng.below(q), rng.below(q));
        for (name, value) in [
            ("q_i", q),
            ("qinv_i", inverse & 0xffff_ffff),
            ("a_i", a),
            ("b_i", b),
        ] {
            let port = model.input(name).unwrap();
            model.set(port, value).unwrap();
        }
        model.step(5).unwrap();
        let r = model.get(model.output("r_o").unwrap()).unwrap();
        assert!(r < q);
        assert_eq!(
            (u128::from(r) << 32) % u128::from(q),
            u128::from(a) * u128::from(b) % u128::from(q)
        );
    }
}

#[test]
#[ignore = "placement and routing; `make full` runs it"]
fn a_seed_gives_one_frequency() {
    let top = leaf("rm_mod_half", 16);
    let first = hdl().place(&top, Effort::default()).unwrap();
    assert!((50.0..1000.0).contains(&first.mhz), "{first:?}");
    assert!(
        first.lut4 >= 16 && first.ff >= 48 && first.dsp == 0,
        "{first:?}"
    );
    assert!(first.versions.nextpnr.is_some());
    // The slowest path takes a clock period, except for the time of its registers.
    let path = first.path.logic + first.path.wires;
    assert!(
        (0.5..1.05).contains(&(path * first.mhz / 1000.0)),
        "{first:?}"
    );
    let elsewhere = fresh("placed");
    let rtl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl");
    let again = Hdl::new(hdl().tools().clone(), &[&rtl], elsewhere.clone()).unwrap();
    assert_eq!(again.place(&top, Effort::default()).unwrap(), first);
    std::fs::remove_dir_all(elsewhere).unwrap();
}

/// Returns the path of a directory that does not exist yet.
fn fresh(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

/// Writes a configuration's sources to a folder, and returns an `Hdl` that has only these, with the folder.
fn generated(name: &str, top: &Top, table: Option<&Table>) -> (Hdl, PathBuf) {
    let root = fresh(name);
    for file in ringmill_hdl::generate(hdl().sources(), top, "a test", table).unwrap() {
        let path = root.join(&file.name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, file.text).unwrap();
    }
    (hdl().with_sources(&[&root]).unwrap(), root)
}

fn polymul(units: u64, max_log_n: u64, beat: u64) -> Top {
    Top::new("rm_polymul")
        .int("Units", units)
        .int("MaxLogN", max_log_n)
        .int("Beat", beat)
}

#[test]
fn configurations_lint_and_synthesise_alone() {
    let table = Table {
        what: "a test".to_owned(),
        words: vec![1, 0xffff_fffe, 0x123],
        width: 32,
    };
    for (number, top) in [polymul(4, 8, 2), polymul(8, 9, 4)].iter().enumerate() {
        let (alone, root) = generated(&format!("configuration-{number}"), top, Some(&table));
        alone.lint(&Top::new("rm_polymul_top")).unwrap();
        let package = std::fs::read_to_string(root.join("rm_polymul_config_pkg.sv")).unwrap();
        let units = if number == 0 { 4 } else { 8 };
        assert!(package.contains(&format!("localparam int unsigned Units = {units};")));
        // The list of files names each source once, and no missing file.
        let list = std::fs::read_to_string(root.join("rm_polymul.f")).unwrap();
        assert_eq!(
            list.lines().count(),
            alone.sources().closure("rm_polymul_top").unwrap().len()
        );
        assert!(list.lines().all(|file| root.join(file).is_file()));
        let words = std::fs::read_to_string(root.join("rm_polymul_table.hex")).unwrap();
        assert_eq!(words, "// a test\n00000001\nfffffffe\n00000123\n");
    }
}

/// A configuration's wrapper sets every parameter, also those whose types are from packages, and takes no resources of
/// its own.
#[test]
#[ignore = "more synthesis; `make full` runs it"]
fn a_wrapper_costs_what_its_module_costs() {
    let top = Top::new("rm_butterfly")
        .int("WordMin", 9)
        .int("WordMax", 13);
    let (alone, _) = generated("configuration-leaf", &top, None);
    let wrapped = Top::new("rm_butterfly_top");
    alone.lint(&wrapped).unwrap();
    let (wrapped, bare) = (
        alone.synthesise(&wrapped).unwrap(),
        hdl().synthesise(&top).unwrap(),
    );
    assert_eq!(wrapped.resources.dsp, bare.resources.dsp);
    assert_eq!(wrapped.resources.ff, bare.resources.ff);
}

#[test]
#[ignore = "synthesises a whole machine of four units, a minute; `make full` runs it"]
fn a_machine_wrapper_costs_what_the_machine_costs() {
    let (alone, _) = generated("configuration-machine", &polymul(4, 8, 2), None);
    let found = alone
        .synthesise(&Top::new("rm_polymul_top"))
        .unwrap()
        .resources;
    let bare = hdl().synthesise(&polymul(4, 8, 2)).unwrap().resources;
    assert_eq!(
        (found.dsp, found.bram18, found.ff),
        (bare.dsp, bare.bram18, bare.ff)
    );
    assert!(found.other.is_empty(), "{found:?}");
}

#[test]
#[ignore = "places and routes a whole machine, six minutes; `make full` runs it"]
fn a_small_machine_fits_an_ecp5() {
    let effort = Effort { mhz: 100, seed: 1 };
    let found = hdl().place(&polymul(4, 9, 4), effort).unwrap();
    println!("{found:?}");
    // Each unit has four memory banks, a table of twiddle factors, and at least seven multipliers.
    assert!(found.bram >= 4 * 5 && found.dsp >= 4 * 7, "{found:?}");
    assert!(found.mhz > 30.0, "{found:?}");
}

#[test]
fn parameters_are_set_by_name_and_checked() {
    let sources = hdl().sources();
    let top = |name| Top::new(name);
    let set = sources
        .set(top("rm_mod_mul"), "Flavour", "Solinas52")
        .unwrap();
    assert_eq!(set, top("rm_mod_mul").int("Flavour", 3));
    let set = sources.set(top("rm_ram_1r1w"), "Style", "ultra").unwrap();
    assert_eq!(set, top("rm_ram_1r1w").text("Style", "ultra"));
    let set = sources.set(top("rm_mod_mul"), "Q", "0x08_00").unwrap();
    assert_eq!(set, top("rm_mod_mul").int("Q", 0x800));
    for (module, name, value, says) in [
        ("rm_mod_mul", "Flavour", "Fast", "WordMontgomery"),
        ("rm_mod_mul", "WordWidth", "3", "it has Flavour, Width"),
        ("rm_fifo", "Depth", "-1", "number below 2^64"),
        ("rm_ram_1r1w", "Style", "a,b", "quote"),
        ("rm_nothing", "Depth", "1", "no module"),
    ] {
        let said = sources
            .set(top(module), name, value)
            .unwrap_err()
            .to_string();
        assert!(said.contains(says), "{said}");
    }
}
