// SPDX-License-Identifier: Apache-2.0
//! Saved programs are read back and compile to what they were.

use num_complex::Complex64;
use ringmill_isa::Level;
use ringmill_isa::macros::{MacroProgram, Visibility, text};
use ringmill_isa::mid::text::print_program;
use ringmill_limits::Watch;
use ringmill_schemes::ckks::file::{Accepted, InsecureParams};
use ringmill_schemes::ckks::{Ckks, Params, ParamsBuilder};

use ringmill_compiler::Accuracy;
use ringmill_compiler::arrays::{Arrays, Lengths};
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::{Compiled, InputRange, Options, ParamsChoice, Precision, Wanted};
use ringmill_compiler::exact::IntegerRange;
use ringmill_compiler::saved::{self, Recipe, SavedError, print, print_with_sample};
use ringmill_compiler::{Passes, compile};

use crate::run::twenty_bits;

/// Reads a saved CKKS program.
fn parse(
    text: &str,
    accepted: impl Into<Accepted>,
) -> Result<Option<(MacroProgram, Recipe<Ckks>)>, SavedError> {
    saved::parse(text, accepted)
}

fn program() -> MacroProgram {
    let mut t = TraceBuilder::new("kept; as it was", 4).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let p = t.input("p", Visibility::Plain, None).unwrap();
    let square = t.square(x, None).unwrap();
    let turned = t.rotate(square, 1, None).unwrap();
    let y = t.mul(turned, p, None).unwrap();
    t.output("y", y, None).unwrap();
    t.finish()
}

/// Returns the predictions without their parts for inputs like a sample, which a file without a sample cannot give.
fn by_ranges(compiled: &Compiled) -> Vec<Precision> {
    let all = compiled.predicted.iter().map(|&predicted| Precision {
        error_like_sample: None,
        largest_on_sample: None,
        ..predicted
    });
    all.collect()
}

fn same(a: &Compiled, b: &Compiled) {
    assert_eq!(a.params, b.params);
    assert_eq!(a.source, b.source);
    assert_eq!((&a.managed, &a.program), (&b.managed, &b.program));
    assert_eq!(by_ranges(a), by_ranges(b));
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
                accuracy: Accuracy::Bits(24),
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
        // The values are so large that the choice of parameters puts the outputs above the level of the options.
        Options {
            input_bound: 100.0,
            ..twenty_bits()
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
        let text = print(&compiled, &options, &Arrays::default());
        let with_sample = print_with_sample(&compiled, &options, &Arrays::default());
        assert_eq!(with_sample.is_some(), options.sample.is_some());
        for text in [Some(text.clone()), with_sample].into_iter().flatten() {
            let (source, again, kept) = loaded(&text);
            same(&compiled, &again);
            assert_eq!(
                print(&again, &kept, &Arrays::default()),
                print(&compiled, &options, &Arrays::default())
            );
            let kept_sample = print_with_sample(&again, &kept, &Arrays::default());
            assert_eq!(
                kept_sample.unwrap_or_else(|| print(&again, &kept, &Arrays::default())),
                text
            );
            // The file is also macro text of the same program.
            assert_eq!(text::parse(&text), Ok(source));
        }
    }
    // Numbers come back to the bit, even those with which no program compiles.
    let compiled = compile(program(), &Options::default()).unwrap();
    let options = Options {
        input_bound: f64::INFINITY,
        sample: Some(vec![odd.clone()]),
        ..Options::default()
    };
    let text = print_with_sample(&compiled, &options, &Arrays::default()).unwrap();
    let parsed = parse(&text, InsecureParams::Refuse).unwrap();
    let read = format!("{:?}", parsed.unwrap().1);
    for numbers in [
        format!("input_bound: {:?}", f64::INFINITY),
        format!("sample: Some([{odd:?}])"),
    ] {
        assert!(read.contains(&numbers), "{numbers}: {read}");
    }
}

fn loaded(text: &str) -> (MacroProgram, Compiled, Options) {
    let parsed = parse(text, InsecureParams::AllowForTestsOnly).unwrap();
    let (source, recipe) = parsed.unwrap();
    let (compiled, options) = recipe.compile(source.clone(), &Watch::default()).unwrap();
    (source, compiled, options)
}

/// Returns values that are no short fractions in binary, the largest 1.26.
fn data() -> Vec<Complex64> {
    let value = |i: u32| (f64::from(i) + 0.34).sin() * f64::from(i + 1).sqrt() / 3.0;
    (0..16).map(|i| Complex64::new(value(i), 0.0)).collect()
}

fn variance() -> MacroProgram {
    let mut t = TraceBuilder::new("variance", 16).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let y = t.square(x, None).unwrap();
    t.output("y", y, None).unwrap();
    t.finish()
}

#[test]
fn the_ends_of_a_range_by_a_sample_are_powers_of_two() {
    let largest = |sign: f64| data().iter().map(|z| sign * z.re).fold(0.0, f64::max);
    for margin in [1.0, 2.0, 3.0] {
        let options = Options {
            sample: Some(vec![data()]),
            margin,
            ..Options::default()
        };
        let compiled = compile(variance(), &options).unwrap();
        let end = |sign| (margin * largest(sign)).log2().ceil().exp2();
        let range = InputRange::Real {
            lowest: -end(-1.0),
            highest: end(1.0),
        };
        assert_eq!(compiled.inputs[0].range, range);
        // The file has the same range, and nothing of the slots.
        let (_, again, kept) = loaded(&print(&compiled, &options, &Arrays::default()));
        assert_eq!(again.inputs[0].range, range);
        assert_eq!(by_ranges(&again), by_ranges(&compiled));
        assert_eq!(
            (kept.sample, kept.ranges),
            (None, vec![Some(compiled.inputs[0].range)])
        );
    }
}

/// Reads a file with the field `sampled`, in which earlier versions kept a prediction by the sample. That prediction
/// was no bound, so it is not used.
#[test]
fn what_a_file_says_of_a_prediction_by_a_sample_is_read_and_in_no_use() {
    let options = Options {
        sample: Some(vec![data()]),
        ..Options::default()
    };
    let compiled = compile(variance(), &options).unwrap();
    let text = print(&compiled, &options, &Arrays::default());
    assert!(!text.contains("sampled"), "{text}");
    let (from, to) = (r#""sample":null"#, r#""sample":null,"sampled":[400]"#);
    let (_, again, kept) = loaded(&text.replacen(from, to, 1));
    assert_eq!(by_ranges(&again), by_ranges(&compiled));
    assert_eq!(print(&again, &kept, &Arrays::default()), text);
    let refused = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}: {text}");
        match parse(&text.replacen(from, to, 1), InsecureParams::Refuse) {
            Err(error) => error.to_string(),
            Ok(parsed) => {
                let (source, recipe) = parsed.unwrap();
                let compiled = recipe.compile(source, &Watch::default());
                compiled.err().unwrap().to_string()
            }
        }
    };
    for (from, to, says) in [
        (from, r#""sample":null,"sampled":[160.5]"#, "altered"),
        (from, r#""sample":null,"sampled":[100000]"#, "altered"),
        // Values must fit by their ranges, whatever the file predicts.
        (
            r#""ranges":[["-4.0","4.0"]]"#,
            r#""ranges":[["-4.0","8.0"]]"#,
            "as large as",
        ),
    ] {
        let said = refused(from, to);
        assert!(said.contains(says), "{to}: {said}");
    }
}

#[test]
fn a_file_of_form_1_is_the_program_that_it_was_and_its_sample_is_dropped() {
    const LARGEST: f64 = 1.3402152455545335;
    for (margin, old, bits, level) in [
        (
            1.0,
            include_str!("form_1/margin_1.rmac"),
            20.208244979387405,
            Level(1),
        ),
        (
            2.0,
            include_str!("form_1/margin_2.rmac"),
            20.448373972757267,
            Level(1),
        ),
    ] {
        let (_, compiled, options) = loaded(old);
        let radius = margin * LARGEST;
        assert_eq!(compiled.inputs[0].range, InputRange::Disc { radius });
        // The earlier prediction by the sample was no bound, but it is close in this program.
        let loss = bits - compiled.predicted[0].bits();
        assert!((-1e-6..0.5).contains(&loss), "{loss}");
        assert_eq!((compiled.output_level, &options.sample), (level, &None));
        assert_eq!(
            print_with_sample(&compiled, &options, &Arrays::default()),
            None
        );
        // Saved anew, it is the same for inputs within a power of two.
        let new = print(&compiled, &options, &Arrays::default());
        let (_, again, kept) = loaded(&new);
        assert_eq!(again.inputs[0].range, InputRange::Disc { radius: margin });
        let written = |compiled: &Compiled| {
            let managed = text::print(&compiled.managed);
            managed + &print_program(&compiled.program)
        };
        assert!(written(&again) == written(&compiled));
        assert!(again.predicted[0].error <= compiled.predicted[0].error);
        assert_eq!(print(&again, &kept, &Arrays::default()), new);
        let line = old.lines().next().unwrap();
        for slot in line
            .split('"')
            .filter(|part| part.parse::<f64>().is_ok_and(|x| x.fract() != 0.0))
        {
            assert!(!new.contains(slot), "{slot}");
        }
        assert!(
            old.contains("/home/ada/") && !new.contains("/home"),
            "{new}"
        );
        assert!(new.contains(r#" at "variance.py":5"#), "{new}");
    }
}

#[test]
fn altered_lines_and_insecure_parameters_are_refused_and_plain_text_says_nothing() {
    let options = Options {
        params: small(),
        ..Options::default()
    };
    let compiled = compile(program(), &options).unwrap();
    let text = print(&compiled, &options, &Arrays::default());
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
        changed("\"form\":2", "\"form\":3"),
        SavedError::Form { got: 3 }
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
    let options = ringmill_compiler::bfv::Options {
        ranges: vec![range(-(1 << 10), 3)],
        sample: Some(vec![vec![-5, 0, 1, 2], vec![i64::from(i32::MIN), 0, 0, 1]]),
        ..ringmill_compiler::bfv::Options::default()
    };
    let compiled = compile(source, &options).unwrap();
    let with_sample = print_with_sample(&compiled, &options, &Arrays::default()).unwrap();
    let load = |text: &str| {
        let parsed = ringmill_compiler::saved::parse::<Bfv>(text, InsecureParams::Refuse);
        let (program, recipe) = parsed.unwrap().unwrap();
        recipe.compile(program, &Watch::default()).unwrap()
    };
    let large = 1 << 32;
    let declared = vec![range(-(1 << 10), 3), range(-large, large)];
    let text = print(&compiled, &options, &Arrays::default());
    for (file, ranges, sample) in [
        (&text, &declared, &None),
        (&with_sample, &options.ranges, &options.sample),
    ] {
        let (second, again) = load(file);
        assert_eq!((&again.ranges, &again.sample), (ranges, sample));
        assert_eq!(compiled.params, second.params);
        assert_eq!(compiled.inputs, second.inputs);
        assert_eq!(compiled.program, second.program);
        assert_eq!(text, print(&second, &again, &Arrays::default()));
    }
    // A program of form 1 with a sample takes the same inputs as before. Saved again, it takes those within a power of
    // two.
    let former = with_sample
        .replacen("\"form\":2", "\"form\":1", 1)
        .replacen("-2147483648", "-2147483649", 1);
    let (second, again) = load(&former);
    assert_eq!(
        Some(second.inputs[1].range),
        range(-2 * 2147483649, 2 * 2147483649)
    );
    assert_eq!((&again.ranges, &again.sample), (&declared, &None));
    let text = with_sample;
    // Refused are the line of another scheme, ranges that end before they begin or are no numbers, and samples that are
    // not whole.
    assert!(parse(&text, InsecureParams::Refuse).is_err());
    for (from, to) in [
        (r#"["-1024","3"]"#, r#"["4","3"]"#),
        (r#"["-1024","3"]"#, r#"["","3"]"#),
        (r#"[-5,0,1,2]"#, r#"[-5,0.5,1,2]"#),
    ] {
        assert!(text.contains(from));
        let altered = text.replace(from, to);
        let refused = ringmill_compiler::saved::parse::<Bfv>(&altered, InsecureParams::Refuse);
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
    let text = print(&compiled, &options, &Arrays::default());
    let standard = AcceptedTables::named(["standard_2018"]).unwrap();
    let insecure = InsecureParams::AllowForTestsOnly.into();
    for accepted in [Accepted::default(), insecure] {
        let refused = parse(&text, accepted).err().unwrap();
        let by_table = matches!(refused, SavedError::Params(FileError::Table { .. }));
        assert!(by_table, "{refused}");
    }
    let (source, recipe) = parse(&text, standard).unwrap().unwrap();
    let (again, kept) = recipe.compile(source, &Watch::default()).unwrap();
    assert_eq!(print(&again, &kept, &Arrays::default()), text);
}

#[test]
fn lengths_that_no_program_has_are_refused() {
    let compiled = compile(program(), &Options::default()).unwrap();
    let count = (compiled.source.inputs.len(), compiled.source.outputs.len());
    let slots = compiled.source.slots;
    let read = |inputs: Vec<Option<u32>>, outputs: Vec<Option<u32>>| {
        let lengths = Lengths { inputs, outputs };
        let arrays = Arrays {
            lengths: lengths.clone(),
            ..Arrays::default()
        };
        let text = print(&compiled, &Options::default(), &arrays);
        saved::arrays(&text, &compiled.source).map(|read| read.lengths == lengths)
    };
    let (none, all) = (vec![None; count.0], vec![Some(1); count.1]);
    assert_eq!(read(none.clone(), all.clone()), Ok(true));
    assert_eq!(read(vec![Some(slots); count.0], all.clone()), Ok(true));
    for (inputs, outputs) in [
        (vec![Some(0); count.0], all.clone()),
        (vec![Some(slots + 1); count.0], all.clone()),
        (vec![None; count.0 + 1], all.clone()),
        (none.clone(), vec![Some(u32::MAX); count.1]),
        (none, vec![Some(1); count.1 + 1]),
    ] {
        let refused = read(inputs, outputs);
        assert!(matches!(refused, Err(SavedError::Line(_))), "{refused:?}");
    }
    let text = print(&compiled, &Options::default(), &Arrays::default());
    assert!(!text.contains("lengths"), "nothing is written of slots");
}
