// SPDX-License-Identifier: Apache-2.0
//! Tests negacyclic products on the CPU and on the polynomial multiplier.

use ringmill_device::DeviceError;
use ringmill_hdl::polymul::Dice;
use ringmill_limits::Watch;
use ringmill_machines::MachineError;
use ringmill_machines::coprocessor::OffloadUse;
use ringmill_sim::{RunError, negacyclic_product, open};

/// Returns the product of a and b modulo x^n + 1 and q, by the definition.
fn schoolbook(q: u64, a: &[u64], b: &[u64]) -> Vec<u64> {
    let n = a.len();
    let mut product = vec![0; n];
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            let term = (u128::from(x) * u128::from(y) % u128::from(q)) as u64;
            let term = if i + j < n { term } else { (q - term) % q };
            product[(i + j) % n] = (product[(i + j) % n] + term) % q;
        }
    }
    product
}

/// The rings are those of Kyber's first version, NewHope and qTESLA-I, and on the CPU one with a prime of 50 bits.
#[test]
fn products_are_the_schoolbooks() {
    let mut dice = Dice::new(4);
    for (n, q) in [(256, 7681), (1024, 12289), (512, 4_205_569)] {
        let (a, b) = (dice.limb(n, q), dice.limb(n, q));
        let want = schoolbook(q, &a, &b);
        for name in ["cpu:1", "sim:polymul"] {
            let device = open(name).unwrap();
            let found = negacyclic_product(device.as_ref(), q, &a, &b, &Watch::default()).unwrap();
            assert_eq!(found.residues, want, "{name}, n = {n}");
            assert_eq!(found.machine.is_some(), name == "sim:polymul");
            if let Some(report) = found.machine {
                let offload = report.own::<OffloadUse>().unwrap();
                assert_eq!(
                    (offload.machine_instructions, offload.host_instructions),
                    (4, 0)
                );
            }
        }
    }
    let q = 1_125_899_906_826_241;
    let (a, b) = (dice.limb(8, q), dice.limb(8, q));
    let cpu = open("cpu:1").unwrap();
    let found = negacyclic_product(cpu.as_ref(), q, &a, &b, &Watch::default()).unwrap();
    assert_eq!(found.residues, schoolbook(q, &a, &b));
}

#[test]
fn what_does_not_fit_is_refused() {
    let device = open("sim:polymul").unwrap();
    let run = |q, a: usize, b: usize, value| {
        let (a, b) = (vec![value; a], vec![0; b]);
        negacyclic_product(device.as_ref(), q, &a, &b, &Watch::default()).unwrap_err()
    };
    let degree = |error: DeviceError| match error.as_own() {
        Some(RunError::Degree { got }) => Some(*got),
        _ => None,
    };
    assert_eq!(degree(run(7681, 0, 0, 0)), Some(0));
    assert_eq!(degree(run(7681, 300, 300, 0)), Some(300));
    assert!(matches!(
        run(7681, 256, 512, 0),
        DeviceError::LimbLength { .. }
    ));
    assert!(matches!(
        run(7681, 256, 256, 7681),
        DeviceError::Residue { .. }
    ));
    for q in [0, 1, 7680, 3329, 1 << 61] {
        assert!(matches!(run(q, 256, 256, 0), DeviceError::Math(_)), "{q}");
    }
    // The degree is above the machine's 4096, or the prime has more than its 32 bits.
    for (q, n) in [(65537, 8192), (1_125_899_906_826_241, 256)] {
        let refused = run(q, n, n, 0);
        assert!(refused.as_own::<MachineError>().is_some(), "{q}");
    }
}
