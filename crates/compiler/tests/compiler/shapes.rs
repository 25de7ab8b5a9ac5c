// SPDX-License-Identifier: Apache-2.0
//! On chosen programs the passes reach known counts of instructions and depths, and errors name the user's line.

use num_complex::Complex64;
use ringmill_compiler::builder::{TraceBuilder, TraceError, Traced};
use ringmill_compiler::ckks::reference::evaluate;
use ringmill_compiler::ckks::{Compiled, InputRange, Options};
use ringmill_compiler::internals::CanonicalScales;
use ringmill_compiler::{CompileError, Passes, compile};
use ringmill_isa::Level;
use ringmill_isa::macros::{Interval, LevelNote, MacroOp, MacroProgram, MacroType, Visibility};

use crate::passes::PRIMES;
use crate::random::line;
use crate::run::small_params;

fn encrypted(t: &mut TraceBuilder, names: &[&str]) -> Vec<Traced> {
    names
        .iter()
        .map(|n| t.input(n, Visibility::Encrypted, line(1)).unwrap())
        .collect()
}

fn count(program: &MacroProgram, op: MacroOp) -> usize {
    program.instrs.iter().filter(|i| i.op == op).count()
}

fn manage(t: TraceBuilder, passes: Passes) -> Result<MacroProgram, CompileError> {
    Ok(compiled(t, passes)?.managed)
}

/// Compiles for insecure parameters of six levels.
fn compiled(t: TraceBuilder, passes: Passes) -> Result<Compiled, CompileError> {
    let options = Options {
        passes,
        ..Options::given(small_params())
    };
    compile(t.finish(), &options)
}

/// Traces the sum of x_i y_i for `n` pairs of inputs.
fn inner_product(n: usize) -> TraceBuilder {
    let mut t = TraceBuilder::new("inner", 4).unwrap();
    let names: Vec<String> = (0..2 * n).map(|i| format!("v{i}")).collect();
    let v = encrypted(
        &mut t,
        &names.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    let products: Vec<Traced> = v
        .chunks(2)
        .map(|p| t.mul(p[0], p[1], line(2)).unwrap())
        .collect();
    let sum = products
        .into_iter()
        .reduce(|a, b| t.add(a, b, line(3)).unwrap())
        .unwrap();
    t.output("sum", sum, line(4)).unwrap();
    t
}

#[test]
fn a_sum_of_products_is_relinearised_and_rescaled_once() {
    let managed = manage(inner_product(10), Passes::ALL).unwrap();
    assert_eq!(
        (
            count(&managed, MacroOp::Relin),
            count(&managed, MacroOp::Rescale)
        ),
        (1, 1)
    );
    let eager = manage(inner_product(10), Passes::NONE).unwrap();
    assert_eq!(
        (
            count(&eager, MacroOp::Relin),
            count(&eager, MacroOp::Rescale)
        ),
        (10, 1)
    );
}

#[test]
fn one_product_with_many_uses_is_relinearised_once() {
    // Relinearising at the uses would take five, at the product one.
    let mut t = TraceBuilder::new("fan_out", 8).unwrap();
    let v = encrypted(&mut t, &["x", "y", "a", "b", "c", "d", "e"]);
    let product = t.mul(v[0], v[1], line(2)).unwrap();
    for (i, &other) in v[2..].iter().enumerate() {
        let sum = t.add(product, other, line(3)).unwrap();
        let rotated = t.rotate(sum, 1, line(4)).unwrap();
        t.output(&format!("o{i}"), rotated, line(5)).unwrap();
    }
    assert_eq!(count(&manage(t, Passes::ALL).unwrap(), MacroOp::Relin), 1);
}

#[test]
fn rotations_of_one_value_are_hoisted() {
    let mut t = TraceBuilder::new("matrix", 64).unwrap();
    let x = encrypted(&mut t, &["x"])[0];
    let mut sum = x;
    for step in 1..20 {
        let rotated = t.rotate(x, step, line(2)).unwrap();
        sum = t.add(sum, rotated, line(3)).unwrap();
    }
    let again = t.rotate(sum, 1, line(4)).unwrap();
    t.output("y", again, line(5)).unwrap();
    let managed = manage(t, Passes::ALL).unwrap();
    // 19 = 8 + 8 + 3, and the rotation of the sum stands alone.
    assert_eq!(
        (
            count(&managed, MacroOp::Hrotate),
            count(&managed, MacroOp::Rotate)
        ),
        (3, 1)
    );
}

#[test]
fn rotations_merge_and_vanish() {
    let mut t = TraceBuilder::new("turns", 8).unwrap();
    let x = encrypted(&mut t, &["x"])[0];
    let there = t.rotate(x, 3, line(2)).unwrap();
    let back = t.rotate(there, -3, line(3)).unwrap();
    t.output("x", back, line(4)).unwrap();
    let managed = manage(t, Passes::ALL).unwrap();
    assert_eq!(managed.instrs.len(), 2, "{managed:?}");
}

#[test]
fn constants_and_vectors_fold() {
    let mut t = TraceBuilder::new("fold", 4).unwrap();
    let x = encrypted(&mut t, &["x"])[0];
    let half = t.scalar(0.5, line(2)).unwrap();
    let v = t
        .vector(
            vec![(2.0, 0.0), (4.0, 0.0), (6.0, 0.0), (8.0, 0.0)],
            line(3),
        )
        .unwrap();
    let threes = t.vector(vec![(3.0, 0.0); 4], line(4)).unwrap();
    let halved = t.mul(x, half, line(5)).unwrap();
    let scaled = t.mul(halved, v, line(6)).unwrap();
    let shifted = t.add(scaled, threes, line(7)).unwrap();
    let negated = t.neg(shifted, line(8)).unwrap();
    let twice = t.neg(negated, line(9)).unwrap();
    t.output("y", twice, line(10)).unwrap();
    let managed = manage(t, Passes::ALL).unwrap();
    let ops: Vec<MacroOp> = managed.instrs.iter().map(|i| i.op).collect();
    use MacroOp::{Addc, Encode, Input, Mul, Output, Rescale};
    assert_eq!(ops, [Input, Encode, Mul, Addc, Rescale, Output]);
    assert!(
        managed
            .data
            .contains(&vec![(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0)])
    );
}

#[test]
fn a_product_of_equal_values_is_a_square() {
    let mut t = TraceBuilder::new("square", 4).unwrap();
    let v = encrypted(&mut t, &["x", "y"]);
    let a = t.add(v[0], v[1], line(2)).unwrap();
    let b = t.add(v[1], v[0], line(3)).unwrap();
    let product = t.mul(a, b, line(4)).unwrap();
    t.output("y", product, line(5)).unwrap();
    let managed = manage(t, Passes::ALL).unwrap();
    assert_eq!(
        (
            count(&managed, MacroOp::Square),
            count(&managed, MacroOp::Mul)
        ),
        (1, 0)
    );
}

#[test]
fn equal_vectors_are_encoded_once() {
    let mut t = TraceBuilder::new("vectors", 4).unwrap();
    let x = encrypted(&mut t, &["x"])[0];
    let ramp = |last: f64| vec![(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (last, 0.0)];
    for (number, last) in [4.0, 4.0, 0.0, -0.0].into_iter().enumerate() {
        let v = t.vector(ramp(last), line(2)).unwrap();
        let product = t.mul(x, v, line(3)).unwrap();
        t.output(&format!("y{number}"), product, line(4)).unwrap();
    }
    let managed = manage(t, Passes::ALL).unwrap();
    // 0 and -0 differ in their bits, so their vectors stay apart, which costs one product here.
    assert_eq!(
        (
            count(&managed, MacroOp::Encode),
            count(&managed, MacroOp::Mul)
        ),
        (3, 3)
    );
}

#[test]
fn inputs_enter_where_they_are_needed() {
    // x needs three levels, y one; c * x joins at the bottom without a rescale of its own.
    let mut t = TraceBuilder::new("levels", 4).unwrap();
    let v = encrypted(&mut t, &["x", "y"]);
    let x2 = t.square(v[0], line(2)).unwrap();
    let x4 = t.square(x2, line(3)).unwrap();
    let product = t.mul(x4, v[1], line(4)).unwrap();
    let c = t.scalar(0.3, line(5)).unwrap();
    let linear = t.mul(v[0], c, line(6)).unwrap();
    let sum = t.add(product, linear, line(7)).unwrap();
    t.output("z", sum, line(8)).unwrap();
    let managed = manage(t, Passes::ALL).unwrap();
    let levels: Vec<_> = managed
        .instrs
        .iter()
        .filter(|i| i.op == MacroOp::Input)
        .map(|i| match managed.types[i.dst[0].0 as usize] {
            MacroType::Cipher {
                at: Some(LevelNote { level, .. }),
                ..
            } => level,
            _ => Level(u32::MAX),
        })
        .collect();
    assert_eq!(levels, [3, 1].map(Level));
    assert_eq!(count(&managed, MacroOp::Rescale), 3);
}

#[test]
fn integer_factors_cost_no_level() {
    let mut t = TraceBuilder::new("triple", 4).unwrap();
    let x = encrypted(&mut t, &["x"])[0];
    let three = t.scalar(3.0, line(2)).unwrap();
    let tripled = t.mul(x, three, line(3)).unwrap();
    t.output("y", tripled, line(4)).unwrap();
    let managed = manage(t, Passes::ALL).unwrap();
    assert_eq!(count(&managed, MacroOp::Rescale), 0);
}

#[test]
fn too_deep_a_program_names_the_line_and_the_levels() {
    let mut t = TraceBuilder::new("deep", 4).unwrap();
    let mut x = encrypted(&mut t, &["x"])[0];
    for i in 0..9 {
        x = t.square(x, line(10 + i)).unwrap();
    }
    t.output("y", x, line(30)).unwrap();
    let error = manage(t, Passes::ALL).unwrap_err();
    // Six levels are there: the seventh square, on line 16, is the first that does not fit.
    assert!(
        matches!(
            &error,
            CompileError::TooDeep {
                needed: 9,
                available: 6,
                ..
            }
        ),
        "{error}"
    );
    let text = error.to_string();
    assert!(
        text.starts_with("random.py:16: ") && text.contains("9 levels"),
        "{text}"
    );
}

#[test]
fn scales_that_drift_are_refused() {
    assert!(matches!(
        CanonicalScales::new(&PRIMES, 2f64.powi(30)),
        Err(CompileError::ScaleDrift { .. })
    ));
    assert!(CanonicalScales::new(&[], 1.0).is_err());
    assert!(CanonicalScales::new(&PRIMES, f64::NAN).is_err());
}

#[test]
fn trace_errors_name_the_line() {
    let mut t = TraceBuilder::new("errors", 4).unwrap();
    let x = encrypted(&mut t, &["x"])[0];
    let w = t.input("w", Visibility::Plain, line(2)).unwrap();
    let one = t.scalar(1.0, line(2)).unwrap();
    let big = t.scalar(1e300, line(2)).unwrap();
    let errors: Vec<TraceError> = vec![
        t.vector(vec![(1.0, 0.0); 3], line(7)).unwrap_err(),
        t.vector(vec![(1.0, f64::INFINITY); 4], line(7))
            .unwrap_err(),
        t.scalar(f64::NAN, line(7)).unwrap_err(),
        t.input("x", Visibility::Encrypted, line(7)).unwrap_err(),
        t.add(w, one, line(7)).unwrap_err(),
        t.mul(w, w, line(7)).unwrap_err(),
        t.square(w, line(7)).unwrap_err(),
        t.neg(w, line(7)).unwrap_err(),
        t.conj(w, line(7)).unwrap_err(),
        t.rotate(w, 1, line(7)).unwrap_err(),
        t.rotate(x, 5, line(7)).unwrap_err(),
        t.rotate(x, i64::MIN, line(7)).unwrap_err(),
        t.mul(big, big, line(7)).unwrap_err(),
        t.output("y", one, line(7)).unwrap_err(),
        t.output("y", w, line(7)).unwrap_err(),
        t.polynomial(x, &[], line(7)).unwrap_err(),
        t.polynomial(x, &[0.0, f64::NAN], line(7)).unwrap_err(),
        t.polynomial(w, &[0.0, 1.5], line(7)).unwrap_err(),
        t.chebyshev(x, &[0.0, 1.5], interval(1.0, 1.0), line(7))
            .unwrap_err(),
        t.chebyshev(x, &[0.0, 1.5], interval(f64::MIN, f64::MAX), line(7))
            .unwrap_err(),
        t.chebyshev(x, &[], interval(-1.0, 1.0), line(7))
            .unwrap_err(),
    ];
    for error in errors {
        assert!(error.to_string().starts_with("random.py:7: "), "{error}");
        assert_eq!(error.loc(), line(7).as_ref());
    }
    assert!(TraceBuilder::new("odd", 3).is_err());
    assert!(TraceBuilder::new("none", 0).is_err());
    assert!(TraceBuilder::new("huge", 1 << 30).is_err());
}

#[test]
fn constants_are_computed_in_the_clear() {
    let mut t = TraceBuilder::new("clear", 2).unwrap();
    let x = encrypted(&mut t, &["x"])[0];
    let v = t.vector(vec![(1.0, 2.0), (3.0, 0.0)], None).unwrap();
    let two = t.scalar(2.0, None).unwrap();
    let doubled = t.mul(v, two, None).unwrap();
    let turned = t.rotate(doubled, 1, None).unwrap();
    let conjugate = t.conj(turned, None).unwrap();
    let shifted = t.sub(two, conjugate, None).unwrap();
    let y = t.sub(shifted, x, None).unwrap();
    t.output("y", y, None).unwrap();
    let program = t.finish();
    assert_eq!(
        count(&program, MacroOp::Rotate) + count(&program, MacroOp::Conj),
        0
    );
    let c = Complex64::new;
    let got = evaluate(&program, &[vec![c(1.0, 0.0), c(0.0, 1.0)]]).unwrap();
    assert_eq!(got, [[c(2.0 - 6.0 - 1.0, 0.0), c(2.0 - 2.0, 4.0 - 1.0)]]);
}

fn interval(lowest: f64, highest: f64) -> Interval {
    Interval { lowest, highest }
}

/// Returns the levels that a compiled function of one input takes, its products of ciphertexts, and its largest error
/// at a few points.
fn measured(compiled: Compiled, expected: impl Fn(Complex64) -> Complex64) -> (u32, usize, f64) {
    let levels = compiled.inputs[0].at.level.0;
    let program = compiled.managed;
    let products = count(&program, MacroOp::Mul) + count(&program, MacroOp::Square);
    let points: Vec<Complex64> = (0..8)
        .map(|i| Complex64::new(f64::from(i) / 4.0 - 0.9, 0.0))
        .collect();
    let got = evaluate(&program, std::slice::from_ref(&points)).unwrap();
    let error = points
        .iter()
        .zip(&got[0])
        .map(|(&x, y)| (expected(x) - y).norm());
    (levels, products, error.fold(0.0, f64::max))
}

/// Returns the levels that a Chebyshev series on [-1, 1] takes, its products of ciphertexts, and its largest error at a
/// few points.
fn chebyshev(coefficients: &[f64]) -> (u32, usize, f64) {
    let mut t = TraceBuilder::new("series", 8).unwrap();
    let x = encrypted(&mut t, &["x"])[0];
    let y = t.chebyshev(x, coefficients, interval(-1.0, 1.0), line(2));
    let y = y.unwrap();
    t.output("y", y, line(3)).unwrap();
    // For complex inputs the Chebyshev polynomials T_j would be large.
    let real = InputRange::Real {
        lowest: -1.0,
        highest: 1.0,
    };
    let options = Options {
        ranges: vec![Some(real)],
        ..Options::given(small_params())
    };
    measured(compile(t.finish(), &options).unwrap(), |x| {
        let angle = x.re.acos();
        let terms = coefficients.iter().enumerate();
        let sum: f64 = terms.map(|(j, c)| c * (j as f64 * angle).cos()).sum();
        sum.into()
    })
}

#[test]
fn chebyshev_series_have_the_least_depth() {
    for degree in 3..=63usize {
        let dense: Vec<f64> = (0..=degree).map(|i| 0.5 / (i as f64 + 1.5)).collect();
        let (levels, products, error) = chebyshev(&dense);
        let least = (degree + 1).next_power_of_two().trailing_zeros();
        assert_eq!(levels, least, "degree {degree}");
        assert!(error < 1e-9, "degree {degree}: {error}");
        assert!(
            (products as f64) < 2.0 * (degree as f64).sqrt() + 8.0,
            "degree {degree}: {products} products"
        );
    }
}

#[test]
fn odd_and_even_series_take_fewer_products() {
    let dense: Vec<f64> = (0..32).map(|i| 0.5 / (f64::from(i) + 1.5)).collect();
    let of_parity = |parity: usize| -> Vec<f64> {
        let terms = dense.iter().enumerate();
        terms
            .map(|(j, &c)| if j % 2 == parity { c } else { 0.0 })
            .collect()
    };
    let (_, all, _) = chebyshev(&dense);
    for parity in [0, 1] {
        let (_, products, error) = chebyshev(&of_parity(parity));
        assert!(products < all && error < 1e-9, "{products} of {all}");
    }
}

/// Returns the levels that a polynomial takes, its products of ciphertexts, and its largest error at a few points.
fn polynomial(coefficients: &[f64]) -> (u32, usize, f64) {
    let mut t = TraceBuilder::new("poly", 8).unwrap();
    let x = encrypted(&mut t, &["x"])[0];
    let y = t.polynomial(x, coefficients, line(2)).unwrap();
    t.output("y", y, line(3)).unwrap();
    measured(compiled(t, Passes::ALL).unwrap(), |x| {
        let high_first = coefficients.iter().rev();
        high_first.fold(Complex64::ZERO, |sum, &c| sum * x + c)
    })
}

#[test]
fn polynomials_have_the_least_depth() {
    let sigmoid = [0.5, 0.1976, 0.0, -0.0047, 0.0, 6.2e-5, 0.0, -2.8e-7];
    let (levels, products, error) = polynomial(&sigmoid);
    assert_eq!(levels, 3);
    assert!(
        products <= 5 && error < 1e-12,
        "{products} products, error {error}"
    );
    for degree in 1..=40usize {
        let dense: Vec<f64> = (0..=degree).map(|i| 0.5 / (i as f64 + 1.5)).collect();
        let (levels, products, error) = polynomial(&dense);
        // A product with one coefficient takes no level, but a sum of several such products does.
        let alone = degree as u32 - 1;
        let least = (degree + 1).next_power_of_two().trailing_zeros();
        let least = if degree <= 2 { alone } else { least };
        assert_eq!(levels, least, "degree {degree}");
        assert!(error < 1e-6, "degree {degree}: {error}");
        assert!(
            (products as f64) < 2.0 * (degree as f64).sqrt() + 8.0,
            "degree {degree}: {products} products"
        );
    }
    let (_, products, _) = polynomial(&[0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(products, 2);
}
