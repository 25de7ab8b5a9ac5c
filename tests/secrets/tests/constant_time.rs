// SPDX-License-Identifier: Apache-2.0
//! Tests that no branch and no address depends on a secret. Valgrind follows the secrets through all `operations`.

use std::path::{Path, PathBuf};
use std::process::Command;

use ringmill_secrets::operations::{self, PLANTED};
use ringmill_secrets::valgrind;

/// A run under valgrind.
struct Run {
    /// The name of each operation, and how many times a branch or an address depended on a secret.
    found: Vec<(String, usize)>,
    /// The output of valgrind.
    log: String,
}

/// Runs the operations in `names`, or all if it is empty, under valgrind with the kernels of a level. Returns `None` if
/// valgrind does not start.
fn run(level: &str, names: &[&str]) -> Option<Run> {
    let exceptions = Path::new(env!("CARGO_MANIFEST_DIR")).join("exceptions.supp");
    let mut command = Command::new("valgrind");
    command
        .args([
            "--tool=memcheck",
            "--error-limit=no",
            "--leak-check=no",
            "-v",
        ])
        .arg(format!("--suppressions={}", exceptions.display()))
        .arg(env!("CARGO_BIN_EXE_ringmill-secrets"))
        .args(names)
        .env("RINGMILL_PLANS", format!("{level},first"))
        .env("RAYON_NUM_THREADS", "1")
        .env_remove("RINGMILL_PLANS_FILE");
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("skipped: valgrind does not start: {error}");
            return None;
        }
    };
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{log}");
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let found = lines.lines().map(|line| {
        let (name, count) = line.split_once('\t').unwrap();
        (name.to_owned(), count.parse().unwrap())
    });
    Some(Run {
        found: found.collect(),
        log,
    })
}

/// Asserts that nothing depends on a secret in the operations in `names`, or in all if it is empty. It runs the kernels
/// of each level that valgrind can run.
fn nothing_depends_on_secrets(names: &[&str]) {
    let levels: &[&str] = match cfg!(target_arch = "x86_64") && is_avx2() {
        true => &["scalar", "avx2"],
        false => &["scalar"],
    };
    let expected = match names.len() {
        0 => operations::all().count(),
        some => some,
    };
    for level in levels {
        let Some(run) = run(level, names) else {
            return;
        };
        assert_eq!(run.found.len(), expected, "{}", run.log);
        let seen: Vec<_> = run.found.iter().filter(|(_, count)| *count > 0).collect();
        assert!(seen.is_empty(), "{level}: {seen:?}\n{}", run.log);
        let used = run
            .log
            .lines()
            .any(|line| line.contains("used_suppression"));
        assert!(
            used,
            "{level}: nothing is declassified any more\n{}",
            run.log
        );
    }
}

fn is_avx2() -> bool {
    ringmill_math::kernels::available_backends().contains(&ringmill_math::Backend::Avx2)
}

#[test]
fn decryption_and_keys_depend_on_no_secret() {
    nothing_depends_on_secrets(&[
        "centred residues",
        "BFV key generation",
        "BFV decryption",
        "TFHE decryption",
    ]);
}

#[test]
#[ignore = "10 s under valgrind; make full runs it"]
fn no_operation_depends_on_a_secret() {
    nothing_depends_on_secrets(&[]);
}

#[test]
fn planted_faults_are_seen() {
    let names: Vec<&str> = PLANTED.iter().map(|operation| operation.name).collect();
    let Some(run) = run("scalar", &names) else {
        return;
    };
    assert_eq!(run.found.len(), names.len(), "{}", run.log);
    for (name, count) in &run.found {
        assert_eq!(*count, 1, "{name}\n{}", run.log);
    }
}

#[test]
fn requests_do_nothing_outside_valgrind() {
    let values = vec![1u64, 2];
    valgrind::mark(&values);
    assert!(!valgrind::running());
    assert_eq!(valgrind::depends(&values), None);
    assert_eq!((values, valgrind::secret(3)), (vec![1, 2], 3));
    assert_eq!(valgrind::errors(), 0);
    for operation in operations::all().chain(PLANTED) {
        (operation.run)().unwrap_or_else(|error| panic!("{}: {error}", operation.name));
    }
}

/// The calls of `declassify`, by which the program may act on a bit of a secret: the file, the number of calls, and
/// what the bit reveals.
const DECLASSIFIED: &[(&str, usize, &str)] = &[
    (
        "circuits/src/tfhe/secret.rs",
        2,
        "whether a key holds other bytes than bits, and whether it is heavier than is counted: none that is drawn is",
    ),
    (
        "circuits/src/tfhe/tables.rs",
        1,
        "whether a message is too large: the caller is told",
    ),
    (
        "device/src/key_id.rs",
        1,
        "whether a key's public identity is all zeros",
    ),
    (
        "math/src/slots/encoder.rs",
        2,
        "whether a plaintext is malformed; a message never is",
    ),
    (
        "schemes/src/bfv/decrypt.rs",
        1,
        "whether a message is lost to noise: the caller is told",
    ),
    (
        "schemes/src/bgv/decrypt.rs",
        1,
        "whether a message is lost to noise: the caller is told",
    ),
    (
        "schemes/src/ckks/encoder.rs",
        3,
        "whether a message is finite, whether it fits, and how many bits its largest coefficient has",
    ),
    (
        "schemes/src/ckks/lift.rs",
        2,
        "of blocks of coefficients, whether all are small: the time of decoding tells it, for speed",
    ),
    (
        "schemes/src/exact/coefficients.rs",
        1,
        "whether an integer is outside the plaintext modulus: the caller is told",
    ),
    (
        "schemes/src/exact/plaintext.rs",
        1,
        "whether a residue is not below its modulus; none of a message is",
    ),
    (
        "schemes/src/rlwe/arith.rs",
        1,
        "whether a residue is not below its modulus; none of a key is",
    ),
];

/// Returns all Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => sources(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect()
}

#[test]
fn each_declassified_bit_is_on_the_list() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    let mut found = Vec::new();
    for path in sources(&crates) {
        let text = std::fs::read_to_string(&path).unwrap();
        let calls = text.matches("declassify(").count() - text.matches("fn declassify(").count();
        let name = path.strip_prefix(&crates).unwrap().display().to_string();
        if calls > 0 {
            found.push((name, calls));
        }
    }
    found.sort();
    let listed = DECLASSIFIED
        .iter()
        .map(|&(file, calls, _)| (file.to_owned(), calls));
    assert_eq!(found, listed.collect::<Vec<_>>());
}
