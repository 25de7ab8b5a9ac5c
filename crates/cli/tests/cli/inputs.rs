// SPDX-License-Identifier: Apache-2.0
//! Tests of reading inputs from files, and of random inputs.

use std::path::PathBuf;

use num_complex::Complex64;
use ringmill_cli::internals::{CliError, Fill, Room, parse_options, random, read};
use ringmill_schemes::bfv::Bfv;
use ringmill_schemes::ckks::Ckks;

use crate::common::folder;

/// Writes a file for a test and returns its path.
fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = folder("inputs").join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn refused<T>(read: Result<T, CliError>, says: &str) {
    let said = read.err().unwrap().to_string();
    assert!(said.contains(says), "{said}");
}

#[test]
fn csv_and_json_are_read_in_order() {
    let room = Room::new(4, Some(3));
    let want: Vec<Complex64> = [1.0, -2.5, 3e2, 0.0].map(Complex64::from).to_vec();
    for (name, text) in [
        ("order.csv", "1, -2.5\n3e2\n"),
        ("order.json", "[1, -2.5, 300]"),
    ] {
        let path = file(name, text.as_bytes());
        assert_eq!(read::<Ckks>(&path, room, None).unwrap(), want, "{name}");
    }
}

#[test]
fn short_files_are_filled_only_when_asked() {
    let numbers =
        |values: &[f64]| -> Vec<Complex64> { values.iter().map(|&x| Complex64::from(x)).collect() };
    let filled = |count: usize, fill: Option<Fill>| {
        let path = file(
            &format!("short{count}{fill:?}.csv"),
            ["", "1", "1,2", "1,2,3", "1,2,3,4"][count].as_bytes(),
        );
        read::<Ckks>(&path, Room::new(4, None), fill)
    };
    for (count, fill, want) in [
        (4, None, [1.0, 2.0, 3.0, 4.0]),
        (3, Some(Fill::Zeros), [1.0, 2.0, 3.0, 0.0]),
        (2, Some(Fill::Repeat), [1.0, 2.0, 1.0, 2.0]),
    ] {
        assert_eq!(filled(count, fill).unwrap(), numbers(&want));
    }
    for (count, fill) in [(2, None), (3, Some(Fill::Repeat)), (0, Some(Fill::Repeat))] {
        refused(filled(count, fill), "--fill");
    }
}

#[test]
fn faults_say_where() {
    let read = |name: &str, content: &[u8], slots| {
        read::<Ckks>(&file(name, content), Room::new(slots, None), None)
    };
    let said = read("word.csv", b"1,2\n3,x\n", 9);
    refused(said, "row 2, column 2: `x` is not a number");
    assert!(read("many.csv", b"1,2,3", 2).is_err());
    assert!(read("object.json", b"{}", 8).is_err());
    // Twelve bytes or fewer whose header claims up to 4 GiB.
    for claimed in [
        &b"\x93NUMPY\x01\x00\xff\xff"[..],
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff",
    ] {
        refused(read("claimed.npy", claimed, 8), "header claims");
    }
    for cut in [
        &b""[..],
        b"\x93NUM",
        b"\x93NUMPY\x02\x00\xff",
        b"\x93NUMPY\x01\x00\x10\x00{'descr'",
    ] {
        assert!(read("cut.npy", cut, 8).is_err());
    }
    let nested = [&b"\x93NUMPY\x01\x00\x00\x04"[..], &[b'('; 1024]].concat();
    assert!(read("nested.npy", &nested, 8).is_err());
    assert!(parse_options("--input", &["x".to_owned()]).is_err());
    assert!(parse_options("--input", &["x=a".to_owned(), "x=b".to_owned()]).is_err());
}

#[test]
fn whole_numbers_are_exact_or_refused() {
    let npy = |kind: &str, bytes: &[u8], count: u32| {
        let header =
            format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({count},), }}\n");
        let length = (header.len() as u16).to_le_bytes();
        let content = [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes(), bytes].concat();
        let path = file(&format!("whole{}.npy", &kind[1..]), &content);
        read::<Bfv>(&path, Room::new(count, None), None)
    };
    let ends = [i64::MIN, -1, i64::MAX];
    let bytes: Vec<u8> = ends.iter().flat_map(|x| x.to_le_bytes()).collect();
    assert_eq!(npy("<i8", &bytes, 3).unwrap(), ends);
    assert_eq!(npy("|i1", &[0xff, 1], 2).unwrap(), [-1, 1]);
    assert_eq!(npy("|u1", &[0xff, 1], 2).unwrap(), [255, 1]);
    let beyond = npy("<u8", &[0xff; 8], 1);
    refused(beyond, "value 0 is 18446744073709551615");
    let floats = npy("<f8", &1f64.to_le_bytes(), 1);
    refused(floats, "expected an array of whole numbers");
}

#[test]
fn random_inputs_are_repeatable_and_in_range() {
    let room = Room::new(1000, None);
    let of = |input| random::<Ckks>(7, input, room, None, None).unwrap();
    let values = of(0);
    assert_eq!(values, of(0));
    assert_ne!(values, of(1));
    assert!(values.iter().all(|z| z.re.abs() <= 1.0 && z.im == 0.0));
}
