//! Parameters: what is refused, and what named sets are.

use ringmill_schemes::bgv::bootstrap::{BootstrapError, Bootstrapping, Set};
use ringmill_schemes::bgv::{BgvError, Params, PlainModulus, PrimePower, file, friendly_primes};
use ringmill_schemes::file::InsecureParams;

#[test]
fn the_vector_papers_set_is_within_its_bounds() {
    let setup = Set::BASALISC.bootstrapping().unwrap();
    let params = setup.params();
    assert_eq!(
        (params.cipher_count(), params.special_count(), params.dnum()),
        (42, 14, 3)
    );
    let primes = friendly_primes(56).unwrap();
    assert_eq!(params.moduli(), primes);
    assert!(
        primes
            .iter()
            .all(|q| q % (1 << 17) == 1 && *q < 1 << 32 && *q > 1 << 31)
    );
    assert_eq!(params.security().bound, Some(1747));
    assert!((params.security().log_qp - 1737.5).abs() < 0.1);
    assert!(setup.log2_chance() < -40.0, "{setup}");
    assert_eq!(
        (setup.structure().slots(), setup.structure().degree()),
        (64, 1024)
    );
    for set in Set::ALL {
        let setup = set.bootstrapping().unwrap();
        println!("{}: {setup}\n  {}", set.name, setup.params().summary());
        assert!(!setup.params().insecure_allowed());
        assert_eq!(Set::named(set.name), Some(set));
        // The parameters' file keeps the further plaintext moduli.
        let bytes = file::write_params(setup.params());
        let read = file::read_params(&bytes, InsecureParams::Refuse).unwrap();
        assert_eq!(&read, setup.params());
    }
    assert_eq!(Set::named("insecure"), None);
    for set in Set::INSECURE_COMPARISONS {
        assert_eq!(Set::named(set.name), Some(set));
        let setup = set.bootstrapping().unwrap();
        assert!(setup.params().insecure_allowed() && setup.log2_chance() < -40.0);
    }
}

#[test]
fn what_does_not_bootstrap_is_refused() {
    let build = |t: PlainModulus, further: u8| {
        let builder = Params::builder(9, t).friendly_primes(8, 3)?;
        let builder = builder.allow_insecure_parameters_for_tests_only();
        builder.further_plain_moduli(further).build()
    };
    let power = PrimePower::new(17, 2).unwrap().modulus().unwrap();
    assert!(matches!(
        build(PlainModulus::new(34).unwrap(), 1),
        Err(BgvError::Rlwe(_))
    ));
    assert!(matches!(
        build(PlainModulus::new(64).unwrap(), 1),
        Err(BgvError::Rlwe(_))
    ));
    // 17^15 is above 2^60.
    assert!(build(power, 13).is_err() && build(power, 16).is_err());
    let one = build(power, 0).unwrap();
    assert!(matches!(
        Bootstrapping::new(one, 8),
        Err(BootstrapError::Parameters { .. })
    ));
    let two = build(power, 1).unwrap();
    assert!(
        Bootstrapping::new(two.clone(), 0).is_err()
            && Bootstrapping::new(two.clone(), 513).is_err()
    );
    let refused = Bootstrapping::new(two.clone(), 200).unwrap_err();
    assert!(
        matches!(refused, BootstrapError::Chance { .. }),
        "{refused}"
    );
    let accepted = Bootstrapping::with_chance(two.clone(), 200, 0.0).unwrap();
    assert!(!accepted.is_certain() && accepted.log2_chance() > -40.0);
    assert!(
        Bootstrapping::rigorous(two.clone(), 8)
            .unwrap()
            .is_certain()
    );
    assert!(Bootstrapping::rigorous(two, 17).is_err());
    // A secret of too little weight for its modulus.
    let t = PrimePower::new(17, 1).unwrap().modulus().unwrap();
    let secure = Params::builder(14, t)
        .friendly_primes(9, 3)
        .unwrap()
        .further_plain_moduli(1);
    let refused = Bootstrapping::with_chance(secure.build().unwrap(), 31, 0.0).unwrap_err();
    assert!(
        matches!(refused, BootstrapError::Secret { .. }),
        "{refused}"
    );
}
