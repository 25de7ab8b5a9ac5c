// SPDX-License-Identifier: Apache-2.0
//! Tests BGV parameters whose divisions compute modulo primes alone (BASALISC paper, Equation 6).

use ringmill_schemes::ParameterSet;
use ringmill_schemes::bgv::file::{InsecureParams, read_params, write_params};
use ringmill_schemes::bgv::{KeyForm, OpKey, Params, PlainModulus, ProcCache};

use super::setup::{Circuit, Setup, params};

/// Circuits decrypt to the right messages within the predicted noise. Key switches and divisions have no limb modulo t.
/// A parameter file keeps the choice, which is part of the identity.
#[test]
fn divisions_modulo_primes_alone_keep_messages() {
    for (tag, special) in (1..).zip([&[60][..], &[60, 60], &[58, 60, 59]]) {
        let bits = [60, 55, 60, 50, 60];
        let alone = Params::builder(6, PlainModulus::new(7681).unwrap())
            .prime_bits(&bits, special)
            .divide_modulo_primes_alone()
            .allow_insecure_parameters_for_tests_only()
            .build()
            .unwrap();
        assert_ne!(alone.id(), params(6, 7681, &bits, special).id());
        let bytes = write_params(&alone);
        let read = read_params(&bytes, InsecureParams::AllowForTestsOnly).unwrap();
        assert!(read.primes_alone() && read == alone);
        let cache = ProcCache::new(alone.clone());
        let top = alone.max_level();
        for key in [OpKey::relin(top, false), OpKey::mod_switch(top, 2)] {
            let procedure = cache.get(&key).unwrap();
            let mut moduli = procedure.types.iter().filter_map(|ty| ty.modulus());
            assert!(moduli.all(|m| procedure.moduli[usize::from(m.0)].prime().is_some()));
        }
        let mut circuit = Circuit::new(Setup::with_keys(alone, KeyForm::Stored), tag);
        for _ in 0..12 {
            circuit.run(8, |setup, value| {
                assert_eq!(setup.decrypt(&value.cipher), value.clear);
                let predicted = setup.model.budget(value.noise, value.cipher.level());
                let measured = setup.decryptor.noise_budget(&value.cipher).unwrap();
                assert!(predicted <= measured, "{predicted} {measured}");
            });
        }
    }
}
