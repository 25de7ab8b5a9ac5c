// SPDX-License-Identifier: Apache-2.0
//! Tests the failure probabilities that a circuit is refused for.

use ringmill_circuits::circuit::choose::CANDIDATES;
use ringmill_circuits::circuit::program::{Binary, ProgramBuilder, Type};
use ringmill_circuits::circuit::{CircuitError, Source};
use ringmill_circuits::tfhe::Params;
use ringmill_limits::Watch;

/// Tests that a failure probability above 2^-40 is refused, and so is a NaN.
#[test]
fn rates_of_failure_that_are_refused() {
    let mut b = ProgramBuilder::new();
    let of = Type::new(4, false).unwrap();
    let (x, y) = (b.input("x", of), b.input("y", of));
    let sum = b.binary(Binary::Add, x, y).unwrap();
    b.output("sum", sum).unwrap();
    let program = b.finish();
    for name in CANDIDATES {
        let params = Params::named(name).unwrap();
        let compiled =
            |failure| Source::Program(&program).compile(&params, failure, &Watch::default());
        assert!(compiled(-40.0).is_ok() && compiled(-100.0).is_ok());
        for asked in [-39.9, -1.0, 0.0, 5.0, f64::NAN, f64::INFINITY] {
            let refused = compiled(asked);
            let unreliable = matches!(refused, Err(CircuitError::Unreliable { .. }));
            assert!(unreliable, "{asked}: {refused:?}");
        }
        for asked in [-5000.0, f64::NEG_INFINITY] {
            assert!(matches!(compiled(asked), Err(CircuitError::Fails { .. })));
        }
    }
}
