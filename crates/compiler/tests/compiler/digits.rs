// SPDX-License-Identifier: Apache-2.0
//! The compiler chooses key-switching digits and special primes by time or by the bytes of keys.

use ringmill_compiler::Accuracy;
use ringmill_compiler::builder::{TraceBuilder, Traced};
use ringmill_compiler::ckks::Wanted;
use ringmill_compiler::{
    CompileError, Compiled, Compiles, KeyWishes, Limit, Options, ParamsChoice, Prefer, Target,
    compile,
};
use ringmill_isa::macros::{MacroProgram, SchemeName, Visibility};
use ringmill_schemes::ParameterSet;
use ringmill_schemes::bfv::Bfv;
use ringmill_schemes::bgv::Bgv;
use ringmill_schemes::ckks::Ckks;
use ringmill_schemes::rlwe::{self, RingParams, product_bits};

/// Returns a program of `depth` products in sequence, and a rotation of the last one.
fn products<S: Compiles>(depth: u32) -> MacroProgram {
    let mut t = TraceBuilder::new("products", 16).unwrap();
    let [x, y] = ["x", "y"].map(|name| t.input(name, Visibility::Encrypted, None).unwrap());
    let product = (0..depth).fold(x, |x: Traced, _| t.mul(x, y, None).unwrap());
    let turned = t.rotate(product, 1, None).unwrap();
    t.output("z", turned, None).unwrap();
    let mut program = t.finish();
    program.scheme = SchemeName::new(S::NAME).unwrap();
    program
}

fn compiled<S: Compiles>(depth: u32, keys: KeyWishes) -> Result<Compiled<S>, String>
where
    S::Error: std::fmt::Display,
{
    let options = Options::<S> {
        keys,
        ..Options::default()
    };
    compile(products::<S>(depth), &options).map_err(|error| error.to_string())
}

fn bytes<S: Compiles<Params: ParameterSet>>(compiled: &Compiled<S>) -> u64 {
    compiled
        .params
        .key_bytes(compiled.keys.len(), compiled.seeded)
}

/// Asserts that P, the product of the special primes, has at least the bits of every digit's primes, and that all
/// primes together are secure.
fn check(ring: &rlwe::Params) {
    let special = product_bits(ring.special_moduli());
    for digit in (0..ring.dnum()).map(|j| ring.digit(j, ring.max_level())) {
        assert!(
            product_bits(&ring.moduli()[digit]) <= special,
            "{}",
            ring.summary()
        );
    }
    let bound = ring.security().bound.unwrap();
    assert!(product_bits(ring.moduli()) <= bound && !ring.insecure_allowed());
}

fn digits_by_wishes<S>(depths: &[u32])
where
    S: Compiles<Params: ParameterSet + RingParams, Error: std::fmt::Display>,
{
    let keys = KeyWishes {
        prefer: Prefer::Keys,
        most_bytes: None,
    };
    let mut fewer = 0;
    for &depth in depths {
        let fast = compiled::<S>(depth, KeyWishes::default()).unwrap();
        let small = compiled::<S>(depth, keys).unwrap();
        for params in [&fast.params, &small.params] {
            check(params.ring_params());
        }
        let ring = fast.params.ring_params();
        fewer += u32::from(ring.dnum() < ring.cipher_count());
        assert!(bytes(&small) <= bytes(&fast), "{depth}");
        // A second compilation chooses the same parameters.
        let again = compiled::<S>(depth, KeyWishes::default()).unwrap();
        assert_eq!(again.params.id(), fast.params.id());
        // One limit on keys is just met by the smallest keys, and another is too small for them.
        let most = KeyWishes {
            most_bytes: Some(bytes(&small)),
            ..KeyWishes::default()
        };
        let limited = compiled::<S>(depth, most).unwrap();
        assert!(bytes(&limited) <= bytes(&small));
        let most = KeyWishes {
            most_bytes: Some(1 << 10),
            ..KeyWishes::default()
        };
        let refused = compiled::<S>(depth, most).err().unwrap();
        let said = "the evaluation keys of this program take at least";
        assert!(
            refused.starts_with(said) && refused.contains("allows 1.0 KiB"),
            "{refused}"
        );
    }
    assert!(fewer > 0, "no program has several primes a digit");
}

#[test]
fn ckks_has_the_digits_that_are_wanted() {
    digits_by_wishes::<Ckks>(&[1, 2, 5, 12, 20]);
}

#[test]
fn bfv_has_the_digits_that_are_wanted() {
    digits_by_wishes::<Bfv>(&[1, 3, 6]);
}

#[test]
fn bgv_has_the_digits_that_are_wanted() {
    digits_by_wishes::<Bgv>(&[1, 3, 6]);
}

/// Checks that key-switching keys of deep programs are a fraction of those with one digit for each prime.
#[test]
fn deep_programs_have_few_digits_and_small_keys() {
    for (depth, fewest) in [(20, 4), (40, 3), (80, 2)] {
        let wanted = Wanted {
            accuracy: Accuracy::Bits(8),
            ..Wanted::default()
        };
        let options = Options::<Ckks> {
            params: ParamsChoice::Choose(wanted),
            ..Options::default()
        };
        let compiled = compile(products::<Ckks>(depth), &options).unwrap();
        let ring = compiled.params.ring_params();
        check(ring);
        assert!(ring.cipher_count() > depth as usize);
        let each = ring.cipher_count() * (ring.cipher_count() + 1);
        let now = ring.dnum() * ring.moduli().len();
        assert!(fewest * now < each, "{}", ring.summary());
        assert!(compiled.predicted.iter().all(|p| p.bits() >= 8.0));
    }
}

/// Returns the program that begins with y = x and computes y = y^2 / 2 + x / 10 `depth` times.
fn iterated(depth: u32) -> MacroProgram {
    let mut t = TraceBuilder::new("iterated", 16).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let [half, tenth] = [0.5, 0.1].map(|value| t.scalar(value, None).unwrap());
    let last = (0..depth).fold(x, |y, _| {
        let square = t.square(y, None).unwrap();
        let halved = t.mul(square, half, None).unwrap();
        let more = t.mul(x, tenth, None).unwrap();
        t.add(halved, more, None).unwrap()
    });
    t.output("z", last, None).unwrap();
    t.finish()
}

#[test]
fn twenty_squares_have_keys_below_sixty_mebibytes() {
    let options = Options::<Ckks> {
        keys: KeyWishes {
            prefer: Prefer::Keys,
            most_bytes: None,
        },
        ..Options::default()
    };
    let small = compile(iterated(20), &options).unwrap();
    let fast = compile(iterated(20), &Options::<Ckks>::default()).unwrap();
    let figures = |compiled: &Compiled<Ckks>| {
        let ring = compiled.params.ring_params();
        check(ring);
        (ring.cipher_count(), ring.dnum(), bytes(compiled) >> 20)
    };
    // This ring degree has no room for the special primes of one digit, and the next degree has larger keys.
    assert_eq!(figures(&fast), (21, 2, 29), "{}", fast.params.summary());
    assert_eq!(figures(&small), (21, 2, 29), "{}", small.params.summary());
    let ring = fast.params.ring_params();
    let residues = ring.cipher_count() * (ring.cipher_count() + 1) * ring.degree();
    assert_eq!((8 * residues) >> 20, 231);
}

/// Returns a target machine that takes at most `moduli` primes, and all ring degrees and prime sizes that the compiler
/// chooses.
fn machine(moduli: usize) -> Target {
    Target {
        machine: "few".to_owned(),
        log_n: Limit {
            field: "log_n",
            is: 10..=17,
        },
        modulus_bits: Limit {
            field: "modulus_bits",
            is: 60,
        },
        friendly_bits: Limit {
            field: "friendly_bits",
            is: 0,
        },
        moduli: Limit {
            field: "moduli",
            is: moduli,
        },
        extends_modulo_primes: false,
        primes_alone: Limit {
            field: "primes_alone",
            is: false,
        },
        runs_whole: Limit {
            field: "runs_whole",
            is: false,
        },
        expands_seeds: true,
        explicit: false,
        engine: None,
    }
}

/// Counts the programs whose scale the compiler raises for fewer digits. Encryption divides by P too, and more special
/// primes round more, so a program may need a larger scale for them.
#[test]
fn a_larger_scale_pays_for_fewer_digits() {
    let chosen = |depth, precision_bits, target| {
        let wanted = Wanted {
            accuracy: Accuracy::Bits(precision_bits),
            ..Wanted::default()
        };
        let options = Options::<Ckks> {
            params: ParamsChoice::Choose(wanted),
            target,
            ..Options::default()
        };
        compile(products::<Ckks>(depth), &options).unwrap().params
    };
    let (mut raised, mut fewer) = (0, 0);
    for depth in [1, 2, 3, 4, 6, 8, 12, 16] {
        for precision_bits in [8, 14, 20, 26] {
            let params = chosen(depth, precision_bits, None);
            let alone = machine(params.cipher_count() + 1);
            let alone = chosen(depth, precision_bits, Some(alone));
            if params.log_n() == alone.log_n() {
                raised += u32::from(params.default_scale() > alone.default_scale());
                fewer += u32::from(params.dnum() < alone.dnum());
            }
        }
    }
    assert!(raised > 0 && fewer > raised, "{raised} {fewer}");
}

/// Compiles a program without key switches, whose keys take no bytes, under a limit of one byte.
#[test]
fn no_key_is_within_any_limit() {
    let mut t = TraceBuilder::new("sum", 16).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let y = t.add(x, x, None).unwrap();
    t.output("y", y, None).unwrap();
    let options = Options::<Ckks> {
        keys: KeyWishes {
            most_bytes: Some(1),
            ..KeyWishes::default()
        },
        ..Options::default()
    };
    let compiled = compile(t.finish(), &options);
    assert!(!matches!(compiled, Err(CompileError::KeysTooLarge { .. })));
    assert_eq!(compiled.unwrap().params.special_count(), 1);
}
