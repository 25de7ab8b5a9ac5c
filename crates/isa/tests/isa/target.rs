// SPDX-License-Identifier: Apache-2.0
//! Limits that two machines together set on parameters.

use std::ops::RangeInclusive;

use ringmill_isa::{Limit, Target};

fn target(log_n: RangeInclusive<u8>, bits: u32, field: &'static str) -> Target {
    fn limit<T>(field: &'static str, is: T) -> Limit<T> {
        Limit { field, is }
    }
    Target {
        machine: field.to_owned(),
        log_n: limit(field, log_n),
        modulus_bits: limit(field, bits),
        friendly_bits: limit(field, 100 - bits),
        moduli: limit(field, bits as usize),
        extends_modulo_primes: bits < 40,
        primes_alone: limit(field, bits < 40),
        runs_whole: limit(field, bits < 40),
        expands_seeds: bits < 40,
        explicit: true,
        engine: None,
    }
}

#[test]
fn two_machines_ask_the_narrower_of_each_limit() {
    let (wide, narrow) = (target(1..=15, 60, "wide"), target(8..=12, 32, "narrow"));
    for (one, other) in [(&wide, &narrow), (&narrow, &wide)] {
        let both = one.clone().and(other.clone()).unwrap();
        assert_eq!(both.machine, one.machine);
        assert_eq!(
            both.log_n,
            Limit {
                field: "narrow",
                is: 8..=12
            }
        );
        assert_eq!(both.modulus_bits, narrow.modulus_bits);
        assert_eq!(both.friendly_bits, narrow.friendly_bits);
        assert_eq!(both.moduli, narrow.moduli);
        assert_eq!(
            (&both.primes_alone, &both.runs_whole),
            (&narrow.primes_alone, &narrow.runs_whole)
        );
        assert!(both.extends_modulo_primes && both.explicit && !both.expands_seeds);
    }
    assert_eq!(wide.and(target(16..=16, 60, "far")), None);
}
