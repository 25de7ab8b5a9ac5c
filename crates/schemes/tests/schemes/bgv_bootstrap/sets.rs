// SPDX-License-Identifier: Apache-2.0
//! Tests the named parameter sets of BGV bootstrapping, and the parameters that bootstrapping refuses.

use std::sync::Arc;

use ringmill_schemes::bgv::bootstrap::{BootstrapError, Bootstrapping, Set};
use ringmill_schemes::bgv::{BgvError, Params, PlainModulus, PrimePower, file, friendly_primes};
use ringmill_schemes::file::InsecureParams;
use ringmill_schemes::rlwe::SecurityLevel;
use ringmill_schemes::rlwe::security::sparse_bounds;

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
    assert!(Bootstrapping::rigorous(two.clone(), 17).is_err());
    // Parameters made again for an accepted chance fail as rarely.
    let certain = Bootstrapping::rigorous(two.clone(), 8).unwrap();
    for setup in [certain, accepted] {
        let chance = setup.log2_chance();
        let again = Bootstrapping::accepting(two.clone(), setup.weight(), chance).unwrap();
        assert_eq!(again.log2_chance(), chance);
        assert_eq!(again.is_certain(), setup.is_certain());
    }
    let default = Bootstrapping::accepting(two.clone(), 8, f64::NAN).unwrap();
    assert!(default.log2_chance() <= Bootstrapping::LOG2_CHANCE);
    assert!(Bootstrapping::accepting(two, 200, -40.0).is_err());
}

#[test]
fn the_inner_modulus_is_held_to_the_smaller_bound_of_both_tables() {
    let refused = |params: &Arc<Params>, weight| {
        let refused = Bootstrapping::with_chance(Arc::clone(params), weight, 0.0).unwrap_err();
        let told = refused.to_string();
        assert!(matches!(refused, BootstrapError::Secret { .. }), "{told}");
        assert!(told.contains("sparse_ternary_2026"), "{told}");
        told
    };
    // With these digits the encapsulation key is modulo three primes and as many special primes: 187 bits. Ringmill's
    // own estimates alone allow 217.
    let t = PrimePower::new(127, 1).unwrap().modulus().unwrap();
    let builder = Params::builder(15, t).friendly_primes(20, 7).unwrap();
    let params = builder.further_plain_moduli(7).build().unwrap();
    let told = refused(&params, 32);
    assert!(
        told.contains("has 187 bits") && told.contains("at most 162 "),
        "{told}"
    );
    let heavier = Bootstrapping::with_chance(Arc::clone(&params), 64, 0.0).unwrap();
    assert!(
        heavier.security().ends_with("187 bits, at most 468"),
        "{heavier}"
    );
    // Too little weight for any modulus.
    assert!(refused(&params, 31).contains("weights from 32"));
    // The reader of the parameters may allow them to be insecure.
    let file = file::write_params(&params);
    let read = file::read_params(&file, InsecureParams::AllowForTestsOnly).unwrap();
    let allowed = Bootstrapping::with_chance(read, 32, 0.0).unwrap();
    assert!(allowed.security().starts_with("INSECURE"), "{allowed}");
    assert_eq!(allowed.params(), &params);
}

/// For each set, docs/security.md has the bits of the encapsulation key's modulus and the bounds of both tables.
#[test]
fn every_shipped_set_passes_both_tables() {
    let page = include_str!("../../../../../docs/security.md");
    let sets = Set::ALL.into_iter().chain(Set::INSECURE_COMPARISONS);
    let mut lacking = Vec::new();
    for set in sets.chain([Set::INSECURE_TOY_FOR_TESTS_ONLY]) {
        let setup = set.bootstrapping().unwrap();
        let bits = setup.key_bits();
        let bounds = sparse_bounds(set.weight, SecurityLevel::Bits128, set.log_n).unwrap();
        let shown = |bound: Option<u32>| bound.map_or("none".to_owned(), |b| b.to_string());
        let row = format!(
            "| `{}` | 2^{} | {} | {bits} | {} | {} |",
            set.name,
            set.log_n,
            set.weight,
            shown(bounds.estimator),
            shown(bounds.rotated_hybrid),
        );
        if !page.contains(&row) {
            lacking.push(row);
        }
        let passes = bounds.smaller().is_some_and(|most| bits <= most.into());
        assert_eq!(passes, !setup.security().starts_with("INSECURE"), "{setup}");
        assert!(passes || !Set::ALL.contains(&set), "{setup}");
    }
    assert!(lacking.is_empty(), "docs/security.md lacks {lacking:#?}");
}

/// The table of docs/bgv.md has the sizes of each set, and the bounds by which the set is secure.
#[test]
fn the_page_has_every_set() {
    let page = include_str!("../../../../../docs/bgv.md");
    let row = |set: Set| {
        let setup = set.bootstrapping().unwrap();
        let params = setup.params();
        let power = params.prime_power().unwrap();
        let modulus = match power.exponent() {
            1 => power.prime().to_string(),
            r => format!("{}^{r}", power.prime()),
        };
        let security = params.security();
        let inner = sparse_bounds(set.weight, SecurityLevel::Bits128, set.log_n).unwrap();
        format!(
            "| `{}` | 2^{} | {modulus}, {} | {} | {}, {} | {:.1}, {} | {} | {}, {} | 2^{:.1} | {} |\n",
            set.name,
            set.log_n,
            power.exponent() + u32::from(params.last_plain()),
            setup.structure().slots(),
            params.cipher_count(),
            params.special_count(),
            security.log_qp,
            security.bound.unwrap(),
            set.weight,
            setup.key_bits(),
            inner.smaller().unwrap(),
            setup.log2_chance(),
            setup.start().unwrap(),
        )
    };
    let rows: String = Set::ALL.into_iter().map(row).collect();
    let (_, block) = page.split_once("<!-- sets: ").unwrap();
    let (block, _) = block.split_once("<!-- end of sets -->").unwrap();
    let (_, shown) = block.split_once(" --- |\n").unwrap();
    assert_eq!(shown.trim_end(), rows.trim_end(), "the rows are\n{rows}");
}
