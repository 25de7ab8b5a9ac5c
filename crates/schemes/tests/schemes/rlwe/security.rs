// SPDX-License-Identifier: Apache-2.0
//! Tests the security tables and their bounds.

use ringmill_schemes::rlwe::security::{
    SECURITY_TABLES, bound, lwe_binary_log2_std, smallest_log_n, sparse_bounds,
};
use ringmill_schemes::rlwe::{Params, SecretDistribution, SecurityLevel, SecurityTable};

const DENSE: SecretDistribution = SecretDistribution::Ternary;

#[test]
fn bounds_and_smallest_degrees() {
    let (new, old) = (
        SecurityTable::Guidelines2024Ternary,
        SecurityTable::Standard2018Ternary,
    );
    let bound = |table, level, log_n| bound(table, DENSE, level, log_n).unwrap();
    assert_eq!(bound(new, SecurityLevel::Bits128, 14), Some(430));
    assert_eq!(bound(new, SecurityLevel::Bits192, 10), None);
    assert_eq!(bound(old, SecurityLevel::Bits256, 14), None);
    assert_eq!(bound(new, SecurityLevel::Bits128, 9), None);
    let smallest = |bits, table| smallest_log_n(bits, table, DENSE, SecurityLevel::Bits128);
    assert_eq!(smallest(438, new).unwrap(), 15);
    assert_eq!(smallest(438, old).unwrap(), 14);
    assert!(smallest(4000, new).is_err());
    assert_eq!(SecurityTable::from_name("standard_2018").unwrap(), old);
    assert!(SecurityTable::from_name("2017").is_err());
}

#[test]
fn own_estimates_cover_small_rings() {
    let own = SecurityTable::Estimator2026Ternary;
    let bits = SecurityLevel::Bits128;
    assert_eq!(bound(own, DENSE, bits, 9).unwrap(), Some(13));
    assert_eq!(bound(own, DENSE, bits, 16).unwrap(), Some(1746));
    assert_eq!(bound(own, DENSE, SecurityLevel::Bits192, 14).unwrap(), None);
    // No estimate is above the published table.
    for log_n in 10..=16 {
        let published = bound(SecurityTable::Guidelines2024Ternary, DENSE, bits, log_n);
        assert!(bound(own, DENSE, bits, log_n).unwrap() <= published.unwrap());
    }
}

fn sparse(weight: u32, log_n: u8) -> Option<u32> {
    let secret = SecretDistribution::SparseTernary { weight };
    let table = SecurityTable::SparseTernary2026;
    bound(table, secret, SecurityLevel::Bits128, log_n).unwrap()
}

/// A weight with its bounds: those of Ringmill's own estimates for N = 2^14 to 2^16, if the weight has any, and those
/// of the rotated hybrid attack for N = 2^12 to 2^16.
type Row = (u32, Option<[u32; 3]>, [u32; 5]);
const ROWS: [Row; 7] = [
    (32, Some([101, 217, 482]), [19, 37, 77, 162, 345]),
    (64, Some([268, 555, 1150]), [58, 113, 229, 468, 961]),
    (128, Some([370, 755, 1532]), [86, 167, 333, 669, 1351]),
    (192, Some([401, 807, 1634]), [96, 187, 370, 739, 1481]),
    (256, Some([415, 833, 1676]), [101, 197, 388, 774, 1553]),
    (512, None, [106, 209, 416, 829, 1659]),
    (1024, None, [111, 214, 426, 851, 1707]),
];

#[test]
fn the_smaller_bound_of_both_sparse_tables_holds_at_the_edges_of_each_row() {
    for (i, (weight, estimated, rotated)) in ROWS.into_iter().enumerate() {
        let next = ROWS.get(i + 1).map_or(4096, |(weight, ..)| *weight);
        for (log_n, rotated) in (12..).zip(rotated) {
            let at = usize::from(log_n).checked_sub(14);
            let estimator = at.and_then(|at| Some(estimated?[at]));
            let found = sparse_bounds(weight, SecurityLevel::Bits128, log_n).unwrap();
            let rotated = Some(rotated);
            assert_eq!(
                (found.estimator, found.rotated_hybrid),
                (estimator, rotated)
            );
            let dense = (log_n == 12).then_some(106);
            let smaller = estimator.into_iter().chain(rotated).chain(dense).min();
            for weight in [weight, weight + 1, next - 1] {
                assert_eq!(sparse(weight, log_n), smaller, "{weight} at 2^{log_n}");
            }
        }
        assert_eq!(sparse(weight, 17), sparse(weight, 16));
        assert_eq!((sparse(weight, 11), sparse(weight, 18)), (None, None));
    }
    // The one row above the dense bound, 106.
    let found = sparse_bounds(1024, SecurityLevel::Bits128, 12).unwrap();
    assert_eq!((found.smaller(), sparse(1024, 12)), (Some(111), Some(106)));
    // Each table is the smaller one somewhere, and 2^12 and 2^13 are of one table alone.
    assert_eq!((sparse(64, 14), sparse(512, 14)), (Some(229), Some(416)));
    assert_eq!((sparse(100, 12), sparse(300, 13)), (Some(58), Some(197)));
    assert_eq!(sparse(32, 17), Some(345));
    assert_eq!(
        (sparse(1024, 15), sparse(1024, 16)),
        (Some(851), Some(1707))
    );
}

#[test]
fn a_weight_below_32_and_levels_above_128_bits_have_no_bound() {
    for log_n in Params::LOG_N {
        for weight in [0, 1, 8, 31] {
            assert_eq!(sparse(weight, log_n), None);
        }
        for level in [SecurityLevel::Bits192, SecurityLevel::Bits256] {
            assert_eq!(sparse_bounds(256, level, log_n).unwrap().smaller(), None);
        }
    }
}

#[test]
fn more_weight_and_a_larger_ring_never_allow_less_than_what_is_easier() {
    let dense = |log_n| {
        let table = SecurityTable::Guidelines2024Ternary;
        bound(table, DENSE, SecurityLevel::Bits128, log_n).unwrap()
    };
    for log_n in 12..=17 {
        let bounds = ROWS.map(|(weight, ..)| sparse(weight, log_n));
        assert!(bounds.is_sorted(), "{bounds:?}");
        assert!(bounds.iter().all(|&bound| bound <= dense(log_n)));
    }
    for (weight, ..) in ROWS {
        assert!((12..=17).map(|log_n| sparse(weight, log_n)).is_sorted());
    }
}

/// The tables of sparse secrets have rows of 128 bits only.
#[test]
fn sparse_rows_are_of_128_bits_alone() {
    let data: toml::Table = SECURITY_TABLES.parse().unwrap();
    for section in ["estimator_2026", "rotated_hybrid_2026"] {
        for (name, row) in data[section]["sparse_ternary"].as_table().unwrap() {
            let keys: Vec<&str> = row.as_table().unwrap().keys().map(String::as_str).collect();
            assert_eq!(keys, ["128", "log_n"], "{section} {name}");
        }
    }
}

#[test]
fn the_sparse_table_is_known_by_its_former_name_too() {
    let table = SecurityTable::SparseTernary2026;
    for name in ["sparse_ternary_2026", "estimator_2026.sparse_ternary"] {
        assert_eq!(SecurityTable::from_name(name).unwrap(), table);
    }
    let own = SecurityTable::from_name("estimator_2026").unwrap();
    assert_eq!(own, SecurityTable::Estimator2026Ternary);
    // Files name tables by these bytes.
    let bytes = SecurityTable::ALL.map(|table| table as u8);
    assert_eq!((bytes, table as u8), ([0, 1, 2, 3, 4], 4));
}

#[test]
fn a_table_is_for_its_own_secrets() {
    let secrets = [
        DENSE,
        SecretDistribution::SparseTernary { weight: 256 },
        SecretDistribution::Gaussian,
        SecretDistribution::Binary,
    ];
    for table in SecurityTable::ALL {
        let covered = secrets.map(|secret| table.covers(secret));
        assert_eq!(covered.iter().filter(|&&c| c).count(), 1, "{table}");
        for (secret, covered) in secrets.into_iter().zip(covered) {
            let found = bound(table, secret, SecurityLevel::Bits128, 15).unwrap();
            assert_eq!(found.is_some(), covered, "{table} {secret:?}");
        }
    }
}

#[test]
fn the_noise_of_lwe_is_never_below_an_estimate() {
    let curve = [
        (512, -10.57),
        (600, -12.82),
        (630, -13.57),
        (700, -15.37),
        (750, -16.67),
        (800, -17.94),
        (850, -19.21),
        (900, -20.52),
        (1024, -23.71),
        (1536, -36.99),
        (2048, -50.36),
    ];
    for (n, computed) in curve {
        let smallest = lwe_binary_log2_std(n).unwrap().unwrap();
        assert!(
            (0.0..0.05).contains(&(smallest - computed)),
            "{n}: {smallest}"
        );
    }
    assert_eq!(lwe_binary_log2_std(511).unwrap(), None);
    assert_eq!(lwe_binary_log2_std(2049).unwrap(), None);
}
