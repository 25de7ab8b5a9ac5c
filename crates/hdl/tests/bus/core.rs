//! The machine as a core of FuseSoC.

use std::path::Path;
use std::process::Command;

use crate::hdl;

const TOP: &str = "rm_polymul_axi";

/// The list of files in the core file is what the top uses, each after those it uses.
#[test]
fn the_core_lists_what_the_top_uses() {
    let rtl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl");
    let rtl = rtl.canonicalize().unwrap();
    let core = std::fs::read_to_string(rtl.join("polymul.core")).unwrap();
    let listed = core
        .lines()
        .filter_map(|line| line.strip_prefix("      - "));
    let listed: Vec<&str> = listed.filter(|file| file.ends_with(".sv")).collect();
    let hdl = hdl();
    let used = hdl.sources().closure(TOP).unwrap();
    let used: Vec<String> = used
        .iter()
        .map(|(path, _)| {
            let path = path.canonicalize().unwrap();
            path.strip_prefix(&rtl).unwrap().display().to_string()
        })
        .collect();
    let want: Vec<String> = used.iter().map(|file| format!("      - {file}")).collect();
    assert_eq!(
        listed,
        used,
        "rtl/polymul.core should list\n{}",
        want.join("\n")
    );
}

/// FuseSoC takes the core and Verilator its files, with every warning an error.
#[test]
fn fusesoc_lints_the_core() {
    let rtl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl");
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fusesoc");
    let _ = std::fs::remove_dir_all(&work);
    std::fs::create_dir_all(&work).unwrap();
    let hdl = hdl();
    let mut command: Command = hdl.tools().program("fusesoc");
    // It keeps what it knows in the user's directories.
    for place in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
        command.env(place, &work);
    }
    command
        .arg("--cores-root")
        .arg(rtl.canonicalize().unwrap())
        .args(["run", "--target", "lint", "--build-root"])
        .arg(work.join("build"))
        .args([
            "ringmill:machines:polymul",
            "--Units",
            "4",
            "--MaxLogN",
            "9",
        ])
        .current_dir(&work);
    let output = command.output().unwrap();
    let words = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{words}");
    // It did lint.
    assert!(words.contains("verilator"), "{words}");
}
