// SPDX-License-Identifier: Apache-2.0
//! Tests the names (`parms_id`) that SEAL gives to the levels of parameters.

use ringmill_schemes::internals::Chain;
use ringmill_schemes::seal::{ParmsId, SealScheme};

const MODULI: [u64; 3] = [1_099_511_480_321, 1_073_692_673, 549_755_731_969];

/// The names of the key level and of the first data level are those of SEAL for `CoeffModulus.Create(4096, [40, 30,
/// 39])`.
#[test]
fn names_are_seals() {
    let chain = Chain::new(SealScheme::Ckks, 4096, &MODULI, 0);
    let words = |primes| -> Vec<u64> {
        let id: ParmsId = chain.id(primes).unwrap();
        id.0.chunks(8)
            .map(|c| u64::from_le_bytes(c.try_into().unwrap()))
            .collect()
    };
    assert_eq!(
        words(3),
        [
            0x95a5_212c_2675_aa09,
            0x7f90_4a43_4d04_37b3,
            0x71c8_dd07_8ca6_48f9,
            0x9f17_e7f7_44b1_81ef
        ]
    );
    assert_eq!(
        words(2),
        [
            0x2050_ebf3_d7fb_5fbd,
            0x4845_767f_5d86_b67a,
            0xf40d_51e5_b45e_795f,
            0xc546_b9e4_a0ab_2855
        ]
    );
    assert_eq!(chain.primes_of(&chain.id(1).unwrap()), Some(1));
    assert_eq!(chain.primes_of(&ParmsId([0; 32])), None);
    assert_eq!(chain.id(0), None);
    assert_eq!(chain.id(4), None);
}
