// SPDX-License-Identifier: Apache-2.0
//! Tests of the machines as cores of FuseSoC.

use std::path::Path;
use std::process::Command;

use crate::bus::hdl;

/// The machines by name, each with parameters that make it small.
const CORES: [(&str, &[&str]); 6] = [
    ("polymul", &["--Units", "4", "--MaxLogN", "9"]),
    (
        "basext",
        &["--Lanes", "2", "--Ports", "2", "--MaxLogN", "9"],
    ),
    (
        "basext",
        &["--Lanes", "2", "--Batch", "3", "--MaxLogN", "9"],
    ),
    (
        "torus",
        &["--Unroll", "2", "--DataWidth", "512", "--Ports", "2"],
    ),
    (
        "ring",
        &["--Rpaus", "1", "--KeySlots", "2", "--DataWidth", "256"],
    ),
    (
        "vector",
        &["--LogRadix", "3", "--Slots", "4", "--DataWidth", "256"],
    ),
];

/// Each core file lists exactly the sources that its top module uses, and each source after those that it uses itself.
#[test]
fn the_cores_list_what_their_tops_use() {
    let rtl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl");
    let rtl = rtl.canonicalize().unwrap();
    let hdl = hdl();
    for (machine, _) in CORES {
        let core = std::fs::read_to_string(rtl.join(format!("{machine}.core"))).unwrap();
        let listed = core
            .lines()
            .filter_map(|line| line.strip_prefix("      - "));
        let listed: Vec<&str> = listed.filter(|file| file.ends_with(".sv")).collect();
        let used = hdl.sources().closure(&format!("rm_{machine}_axi")).unwrap();
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
            "rtl/{machine}.core should list\n{}",
            want.join("\n")
        );
    }
}

/// FuseSoC takes the cores, and Verilator lints their files with every warning as an error.
#[test]
#[ignore = "another run of the lints; `make full` runs it"]
fn fusesoc_lints_the_cores() {
    let rtl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl");
    let hdl = hdl();
    for (machine, parameters) in CORES {
        let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fusesoc-{machine}"));
        let _ = std::fs::remove_dir_all(&work);
        std::fs::create_dir_all(&work).unwrap();
        let mut command: Command = hdl.tools().program("fusesoc");
        // FuseSoC keeps its library and cache in the user's directories.
        for place in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
            command.env(place, &work);
        }
        command
            .arg("--cores-root")
            .arg(rtl.canonicalize().unwrap())
            .args(["run", "--target", "lint", "--build-root"])
            .arg(work.join("build"))
            .arg(format!("ringmill:machines:{machine}"))
            .args(parameters)
            .current_dir(&work);
        let output = command.output().unwrap();
        let words = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(output.status.success(), "{machine}: {words}");
        // The lint ran.
        assert!(words.contains("verilator"), "{machine}: {words}");
    }
}
