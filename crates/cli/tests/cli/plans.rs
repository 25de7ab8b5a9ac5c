// SPDX-License-Identifier: Apache-2.0
//! Tests of `ringmill plans`: each choice is one of its candidates, the environment can fix choices, and a file can
//! keep them.

use std::path::Path;

use ringmill_math::plans::{FILE_VARIABLE, VARIABLE};
use serde_json::Value;

use crate::common::{command, folder};

/// Returns the shapes in the JSON of `ringmill plans` for two lengths, with environment variables set.
fn shapes(variables: &[(&str, &str)]) -> Value {
    let arguments = ["plans", "--log-n", "8,11", "--bits", "30,60", "--json"];
    let done = bare(&arguments)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    serde_json::from_slice::<Value>(&done.stdout).unwrap()["shapes"].clone()
}

/// Returns the command without the environment variables that choose kernels.
fn bare(arguments: &[&str]) -> std::process::Command {
    let mut bare = command(arguments);
    bare.env_remove(VARIABLE).env_remove(FILE_VARIABLE);
    bare
}

fn all<'a>(shapes: &'a Value, field: &str) -> Vec<&'a Value> {
    shapes
        .as_array()
        .unwrap()
        .iter()
        .map(|shape| &shape[field])
        .collect()
}

#[test]
fn every_choice_is_one_of_its_candidates() {
    let shapes = shapes(&[]);
    // For each of two lengths there are at least six shapes: both directions, for 30 bits on words of 32 and of 64
    // bits, and for 60 bits on words of 64.
    assert!(shapes.as_array().unwrap().len() >= 12, "{shapes}");
    for shape in shapes.as_array().unwrap() {
        let candidates = shape["candidates"].as_array().unwrap();
        let own = candidates
            .iter()
            .find(|c| c["kernel"] == shape["kernel"])
            .unwrap();
        match shape["source"].as_str().unwrap() {
            "timed" => {
                assert_eq!(own["times_as_long"], 1.0, "{shape}");
                let positive = |c: &Value| c["us"].as_f64() > Some(0.0);
                assert!(candidates.iter().all(positive), "{shape}");
            }
            source => assert_eq!((source, candidates.len()), ("only", 1), "{shape}"),
        }
    }
}

#[test]
fn the_environment_fixes_choices() {
    for word in ["first", "random:7", "scalar,first"] {
        let (one, two) = (shapes(&[(VARIABLE, word)]), shapes(&[(VARIABLE, word)]));
        assert_eq!(one, two);
        let sources = all(&one, "source");
        assert!(
            sources
                .iter()
                .all(|&source| source == "fixed" || source == "only"),
            "{one}"
        );
    }
    let drawn = |seed: &str| shapes(&[(VARIABLE, seed)]);
    let seeds = ["random:1", "random:2", "random:3", "random:4"];
    let different = seeds
        .windows(2)
        .any(|pair| drawn(pair[0]) != drawn(pair[1]));
    let choices = all(&drawn("random:1"), "candidates")
        .iter()
        .any(|c| c.as_array().unwrap().len() > 1);
    assert_eq!(different, choices);
    assert!(
        all(&shapes(&[(VARIABLE, "scalar")]), "kernel")
            .iter()
            .all(|&kernel| kernel == "scalar")
    );
}

#[test]
fn what_the_variable_does_not_know_is_refused() {
    for word in ["fast", "first,timed", "random:"] {
        let done = bare(&["plans"]).env(VARIABLE, word).output().unwrap();
        assert_eq!(done.status.code(), Some(2));
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(said.contains(VARIABLE) && said.contains(word), "{said}");
    }
}

#[test]
fn a_file_keeps_choices_and_is_not_trusted() {
    let path = folder("plans").join("choices.txt");
    let _ = std::fs::remove_file(&path);
    let kept = [(FILE_VARIABLE, path.to_str().unwrap())];
    let timed = shapes(&kept);
    let again = shapes(&kept);
    assert_eq!(all(&timed, "kernel"), all(&again, "kernel"));
    assert!(
        all(&again, "source")
            .iter()
            .all(|&source| source == "file" || source == "only"),
        "{again}"
    );
    let choices = all(&again, "source").contains(&&Value::from("file"));

    let text = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(choices, text.starts_with("ringmill plans 1"), "{text}");
    let (head, lines) = text.split_at(text.match_indices('\n').nth(1).map_or(0, |(at, _)| at + 1));
    let unknown: String = lines
        .lines()
        .filter_map(|line| Some(format!("{}: abacus\n", line.split_once(": ")?.0)))
        .collect();
    for other in [
        text.replace("plans 1", "plans 0"),
        "\0\u{1}".repeat(40_000),
        format!("{head}{unknown}"),
        String::new(),
    ] {
        write(&path, &other);
        let anew = shapes(&kept);
        assert!(
            !all(&anew, "source").contains(&&Value::from("file")),
            "{anew}"
        );
    }
    // A folder instead of the file, and a path that cannot be written.
    for path in [path.parent().unwrap(), Path::new("/no/such/folder/plans")] {
        assert!(
            !shapes(&[(FILE_VARIABLE, path.to_str().unwrap())])
                .as_array()
                .unwrap()
                .is_empty()
        );
    }
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}
