//! Saved programs come back as they were compiled.

use num_complex::Complex64;
use ringmill_isa::Level;
use ringmill_isa::macros::{Visibility, text};
use ringmill_schemes::ckks::file::InsecureParams;
use ringmill_schemes::ckks::{Params, ParamsBuilder};

use crate::builder::TraceBuilder;
use crate::ckks::saved::{SavedError, parse, print};
use crate::ckks::{Compiled, InputRange, Options, ParamsChoice, Wanted};
use crate::exact::IntegerRange;
use crate::{Passes, compile};

fn program() -> ringmill_isa::macros::MacroProgram {
    let mut t = TraceBuilder::new("kept; as it was", 4).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let p = t.input("p", Visibility::Plain, None).unwrap();
    let square = t.square(x, None).unwrap();
    let turned = t.rotate(square, 1, None).unwrap();
    let y = t.mul(turned, p, None).unwrap();
    t.output("y", y, None).unwrap();
    t.finish()
}

fn same(a: &Compiled, b: &Compiled) {
    assert_eq!(a.params, b.params);
    assert_eq!(a.source, b.source);
    assert_eq!((&a.managed, &a.program), (&b.managed, &b.program));
    assert_eq!(a.predicted, b.predicted);
    assert_eq!(
        (&a.inputs, &a.keys, a.seeded),
        (&b.inputs, &b.keys, b.seeded)
    );
    assert_eq!((&a.outputs, a.output_level), (&b.outputs, b.output_level));
}

fn small() -> ParamsChoice {
    let params = Params::builder(6).prime_bits(&[50, 36, 36, 36], &[50]);
    let params = params.allow_insecure_parameters_for_tests_only();
    ParamsChoice::Given(params.build().unwrap())
}

#[test]
fn every_option_comes_back() {
    let odd = vec![
        Complex64::new(0.1, -0.0),
        Complex64::new(-1e-310, 1.0 / 3.0),
        Complex64::new(f64::MAX, 0.0),
        Complex64::new(0.0, -2.5),
    ];
    let typical = vec![Complex64::new(0.3, 0.7); 4];
    let every = [
        Options::default(),
        Options {
            params: ParamsChoice::Choose(Wanted {
                precision_bits: 24,
                ..Wanted::default()
            }),
            input_bound: 0.1 + 0.2,
            ..Options::default()
        },
        Options {
            params: small(),
            seeded_keys: false,
            explicit: true,
            output_level: Level(1),
            passes: Passes::NONE,
            ..Options::default()
        },
        Options {
            params: small(),
            sample: Some(vec![typical.clone(), typical.clone()]),
            margin: 1.25,
            ..Options::default()
        },
        Options {
            ranges: vec![
                Some(InputRange::Real {
                    lowest: -0.1,
                    highest: 1.0 / 3.0,
                }),
                Some(InputRange::Disc { radius: 0.7 }),
            ],
            ..Options::default()
        },
        Options {
            ranges: vec![None, Some(InputRange::Disc { radius: 3.0 })],
            sample: Some(vec![typical.clone(), typical.clone()]),
            ..Options::default()
        },
        // Values so large that the outputs keep a level in hand, which only what chooses the parameters knows.
        Options {
            input_bound: 100.0,
            ..Options::default()
        },
    ];
    let levels = every.iter().map(|options| {
        let compiled = compile(program(), options).unwrap();
        compiled.output_level.0 - options.output_level.0
    });
    assert!(
        levels.max() > Some(0),
        "no case has outputs above the level asked for"
    );
    for options in every {
        let compiled = compile(program(), &options).unwrap();
        let text = print(&compiled, &options, None);
        let (source, kept) = parse(&text, InsecureParams::AllowForTestsOnly)
            .unwrap()
            .unwrap();
        let again = compile(source.clone(), &kept).unwrap();
        same(&compiled, &again);
        assert_eq!(print(&again, &kept, None), text);
        // It is a program to whoever asks for no more.
        assert_eq!(text::parse(&text), Ok(source));
    }
    // Numbers come back to the bit, those that no program is compiled with too.
    let compiled = compile(program(), &Options::default()).unwrap();
    let options = Options {
        input_bound: f64::INFINITY,
        sample: Some(vec![odd.clone(), typical]),
        ..Options::default()
    };
    let (_, kept) = parse(&print(&compiled, &options, None), InsecureParams::Refuse)
        .unwrap()
        .unwrap();
    assert_eq!(kept.input_bound, f64::INFINITY);
    let bits = |v: &[Complex64]| -> Vec<_> {
        v.iter().map(|z| (z.re.to_bits(), z.im.to_bits())).collect()
    };
    assert_eq!(bits(&kept.sample.unwrap()[0]), bits(&odd));
}

#[test]
fn altered_lines_and_insecure_parameters_are_refused_and_plain_text_says_nothing() {
    let options = Options {
        params: small(),
        ..Options::default()
    };
    let compiled = compile(program(), &options).unwrap();
    let text = print(&compiled, &options, None);
    let insecure = InsecureParams::AllowForTestsOnly;
    assert!(matches!(
        parse(&text, InsecureParams::Refuse),
        Err(SavedError::Params(_))
    ));
    let source = text::print(&program());
    assert!(matches!(parse(&source, insecure), Ok(None)));
    assert!(matches!(parse("", insecure), Ok(None)));
    let changed =
        |from: &str, to: &str| parse(&text.replacen(from, to, 1), insecure).err().unwrap();
    assert_eq!(
        changed("\"form\":1", "\"form\":2"),
        SavedError::Form { got: 2 }
    );
    for (from, to) in [
        ("\"seeded_keys\":true,", ""),
        ("\"output_level\":0", "\"output_level\":-1"),
        ("\"cse\":true", "\"cse\":true,\"unheard_of\":1"),
        ("{\"form\"", "[{\"form\""),
        ("\"params\":\"5", "\"params\":\"z"),
        ("\"1.0\"", "\"one\""),
    ] {
        let error = changed(from, to);
        assert!(matches!(error, SavedError::Line(_)), "{from}: {error}");
    }
    assert!(matches!(
        changed("params\":\"52", "params\":\"53"),
        SavedError::Params(_)
    ));
    assert!(matches!(changed("\nend", "\nfin"), SavedError::Text(_)));
}

#[test]
fn a_program_of_integers_comes_back() {
    use ringmill_schemes::bfv::Bfv;

    let range = |low, high| IntegerRange::new(low, high);
    let mut source = program();
    source.scheme = ringmill_isa::macros::SchemeName::new("bfv").unwrap();
    let options = crate::bfv::Options {
        ranges: vec![range(-(1 << 10), 3)],
        sample: Some(vec![vec![-5, 0, 1, 2], vec![i64::from(i32::MIN), 0, 0, 1]]),
        ..crate::bfv::Options::default()
    };
    let compiled = compile(source, &options).unwrap();
    let text = print(&compiled, &options, None);
    let (program, again) = crate::saved::parse::<Bfv>(&text, InsecureParams::Refuse)
        .unwrap()
        .unwrap();
    assert_eq!(again.ranges, vec![range(-(1 << 10), 3)]);
    assert_eq!(again.sample, options.sample);
    let second = compile(program, &again).unwrap();
    assert_eq!(compiled.params, second.params);
    assert_eq!(compiled.inputs, second.inputs);
    assert_eq!(compiled.program, second.program);
    assert_eq!(text, print(&second, &again, None));
    // A line of one scheme is none of another, nor is a range that ends before it begins.
    assert!(parse(&text, InsecureParams::Refuse).is_err());
    for (from, to) in [
        (r#"["-1024","3"]"#, r#"["4","3"]"#),
        (r#"["-1024","3"]"#, r#"["","3"]"#),
        (r#"[-5,0,1,2]"#, r#"[-5,0.5,1,2]"#),
    ] {
        assert!(text.contains(from));
        let altered = text.replace(from, to);
        let refused = crate::saved::parse::<Bfv>(&altered, InsecureParams::Refuse);
        assert!(matches!(refused, Err(SavedError::Line(_))), "{to}");
    }
}

#[test]
fn a_program_by_the_2018_standard_is_read_by_who_accepts_it() {
    use ringmill_schemes::file::{Accepted, AcceptedTables, FileError};

    let params = ParamsBuilder::named("set1").unwrap().build().unwrap();
    let options = Options {
        params: ParamsChoice::Given(params),
        ..Options::default()
    };
    let compiled = compile(program(), &options).unwrap();
    let text = print(&compiled, &options, None);
    let standard = AcceptedTables::named(["standard_2018"]).unwrap();
    let insecure = InsecureParams::AllowForTestsOnly.into();
    for accepted in [Accepted::default(), insecure] {
        let refused = parse(&text, accepted).err().unwrap();
        let by_table = matches!(refused, SavedError::Params(FileError::Table { .. }));
        assert!(by_table, "{refused}");
    }
    let (_, kept) = parse(&text, standard).unwrap().unwrap();
    let again = compile(program(), &kept).unwrap();
    assert_eq!(print(&again, &kept, None), text);
}
