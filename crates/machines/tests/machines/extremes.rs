// SPDX-License-Identifier: Apache-2.0
//! Descriptions with extreme numbers: each is a machine or is refused, and nothing that is computed of it panics.
#![allow(clippy::unwrap_used)]

use ringmill_machines::{MachineError, Registry};
use toml::Value;

/// Numbers at the edges of the types of fields.
const EXTREMES: [i64; 12] = [
    0,
    1,
    2,
    31,
    32,
    63,
    64,
    255,
    1 << 16,
    u32::MAX as i64 - 1,
    u32::MAX as i64,
    i64::MAX,
];

/// Collects the paths of all numbers of a table.
fn numbers(value: &Value, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Table(table) => table.iter().map(|(k, v)| (k.clone(), v)).collect(),
        Value::Array(all) => (0..)
            .zip(all)
            .map(|(i, v): (usize, _)| (i.to_string(), v))
            .collect(),
        Value::Integer(_) | Value::Float(_) => return found.push(path.clone()),
        Value::String(_) | Value::Boolean(_) | Value::Datetime(_) => return,
    };
    for (key, value) in inner {
        path.push(key);
        numbers(value, path, found);
        path.pop();
    }
}

fn at<'a>(value: &'a mut Value, path: &[String]) -> &'a mut Value {
    path.iter().fold(value, |value, key| match value {
        Value::Array(all) => &mut all[key.parse::<usize>().unwrap()],
        table => table.get_mut(key.as_str()).unwrap(),
    })
}

#[test]
fn numbers_at_the_edges_are_taken_or_refused() {
    let mut refused = 0;
    for kind in Registry::standard().kinds() {
        let (_, text) = kind.shipped[0];
        let description: Value = text.parse::<toml::Table>().unwrap().into();
        let mut paths = Vec::new();
        numbers(&description, &mut Vec::new(), &mut paths);
        assert!(paths.len() > 3, "{}", kind.name);
        for path in &paths {
            for extreme in EXTREMES {
                let mut changed = description.clone();
                let number = at(&mut changed, path);
                *number = match number {
                    Value::Float(_) => Value::Float(extreme as f64),
                    _ => Value::Integer(extreme),
                };
                let opened = Registry::standard().load(&toml::to_string(&changed).unwrap());
                refused += usize::from(opened.is_err());
            }
        }
    }
    assert!(refused > 100);
}

#[test]
fn lanes_beyond_all_numbers_are_refused_by_their_field() {
    let machines = Registry::standard();
    let (_, text) = machines
        .kinds()
        .iter()
        .find(|kind| kind.name == "torus")
        .unwrap()
        .shipped[0];
    for field in ["log_lanes", "log_pos"] {
        let mut description: toml::Table = text.parse().unwrap();
        description.insert(field.to_owned(), i64::from(u32::MAX).into());
        match Registry::standard().load(&toml::to_string(&description).unwrap()) {
            Err(MachineError::Field {
                field: named, got, ..
            }) => {
                assert_eq!((named, got.as_str()), (field, "4294967295"));
            }
            Err(other) => panic!("{field}: {other}"),
            Ok(_) => panic!("{field} is taken"),
        }
    }
}
