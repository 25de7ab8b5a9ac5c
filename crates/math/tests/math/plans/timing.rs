// SPDX-License-Identifier: Apache-2.0
//! Tests which candidate counts as the fastest, and how often each is called.

use std::time::Duration;

use ringmill_math::internals::{Times, above, time};

fn times(better: &[f64], ratios: &[&[f64]]) -> Times {
    Times {
        better: better.to_vec(),
        ratios: ratios.iter().map(|ratios| ratios.to_vec()).collect(),
    }
}

#[test]
fn the_first_is_given_up_for_more_than_chance() {
    assert_eq!(times(&[1.0], &[&[]]).fastest(), 0);
    assert_eq!(times(&[1.0, 0.99], &[&[], &[0.99; 5]]).fastest(), 0);
    assert_eq!(
        times(&[1.0, 0.9, 0.8], &[&[], &[0.9; 5], &[0.8; 5]]).fastest(),
        2
    );
    // Two samples of the first candidate were slow because of another program. The median ratio is not affected.
    assert_eq!(
        times(&[1.0, 1.1], &[&[], &[0.1, 1.1, 1.1, 0.2, 1.1]]).fastest(),
        0
    );
    // Ratios and lower quartiles must agree. While another program runs on the core's other thread, a kernel may lead
    // that is no faster alone.
    assert_eq!(times(&[1.0, 0.99], &[&[], &[0.9; 5]]).fastest(), 0);
    assert_eq!(times(&[1.0, 1.1], &[&[], &[0.9; 5]]).fastest(), 0);
    // Nothing was measured.
    assert_eq!(times(&[1.0, f64::INFINITY], &[&[], &[]]).fastest(), 0);
}

/// A candidate that takes far longer than the first is called only twice. The candidates sleep, so other programs do
/// not matter.
#[test]
fn what_is_far_behind_is_called_twice() {
    let mut calls = [0; 3];
    let times = time(3, Duration::from_millis(1), &mut |k| {
        calls[k] += 1;
        std::thread::sleep(Duration::from_millis([2, 200, 1][k]));
    });
    assert_eq!((calls[1], times.ratios[1].len()), (2, 2));
    assert!(times.ratios[2].len() >= 3);
    let [first, slow, quick] = times.better[..] else {
        panic!("three candidates")
    };
    assert!(slow >= 0.2 && first >= 0.002 && quick >= 0.001);
}

/// One sample that the clock cut short does not change the lower quartile.
#[test]
fn the_quarter_is_above_what_was_cut_short() {
    let mut samples = vec![1.0; 20];
    samples[7] = 0.1;
    assert_eq!(above(&samples, 4), 1.0);
    assert_eq!(above(&[3.0, 1.0, 2.0], 2), 2.0);
    assert_eq!(above(&[], 4), f64::INFINITY);
}
