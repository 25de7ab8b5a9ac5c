// SPDX-License-Identifier: Apache-2.0
//! Emits the limb procedures of a TFHE bootstrap: the start, one turn of the blind rotation, the end, and the key
//! switch.

use ringmill_isa::Poly;
use ringmill_isa::mid::{
    Form, ParamRole, ProcBuilder, Procedure, Representative, ValueId, ValueType,
};
use ringmill_math::torus::Lift;

use super::RotationInput;
use super::shape::{Q, Shape};
use crate::tfhe::TfheError;
use crate::tfhe::params::Order;

/// Returns the part number that a program gives to a column of a GLWE ciphertext: 0 for the body, and 1, 2, ... for the
/// masks.
pub(super) fn part(col: usize, cols: usize) -> u16 {
    match col + 1 == cols {
        true => 0,
        false => col as u16 + 1,
    }
}

/// Adds the polynomials of a bootstrapping key as parameters of a procedure. They are ordered by pattern of secret
/// bits, row and column of the gadget ciphertext, and lane (the prime of a transform).
fn key_params(
    b: &mut ProcBuilder,
    shape: &Shape<'_>,
    bits: usize,
) -> Result<Vec<ValueId>, TfheError> {
    let mut limbs = Vec::with_capacity(shape.key_limbs(bits));
    for pattern in 0..(1usize << bits) - 1 {
        for place in shape.places(pattern) {
            let RotationInput::Key { row, col, lane, .. } = place else {
                continue;
            };
            let role = ParamRole::Key {
                arg: 2 + pattern as u16,
                digit: row as u16,
                part: part(col, shape.cols()),
            };
            let name = format!("k{}.{row}.{col}.{lane}", pattern + 1);
            let ty = shape.limb(shape.lanes[lane], Form::Eval);
            limbs.push(b.param(name, ty, role)?);
        }
    }
    Ok(limbs)
}

fn accumulator(b: &mut ProcBuilder, shape: &Shape<'_>) -> Result<Vec<ValueId>, TfheError> {
    let cols = (0..shape.cols()).map(|c| {
        let poly = Poly(c as u16);
        let role = ParamRole::Cipher { arg: 0, poly };
        Ok(b.param(format!("acc{c}"), shape.limb(Q, Form::Coeff), role)?)
    });
    cols.collect()
}

fn exponent(b: &mut ProcBuilder, name: String, index: usize) -> Result<ValueId, TfheError> {
    let index = index as u16;
    let role = ParamRole::Exponent { arg: 1, index };
    Ok(b.param(name, ValueType::Exponent, role)?)
}

fn gives(b: &mut ProcBuilder, acc: &[ValueId]) -> Result<(), TfheError> {
    for (c, &v) in acc.iter().enumerate() {
        b.result(v, format!("acc{c}"), 0, Poly(c as u16))?;
    }
    Ok(())
}

/// Emits the procedure of the blind rotation's start: ACC = (0, X^-b table) with the exponent b of
/// the ciphertext's body (Kong and Li's paper, Algorithm 1, lines 3 and 4).
pub(super) fn start(shape: &Shape<'_>) -> Result<Procedure, TfheError> {
    let mut b = shape.builder("start")?;
    let role = ParamRole::Plain { arg: 0 };
    let table = b.param("table", shape.limb(Q, Form::Coeff), role)?;
    let e = exponent(&mut b, "minus_b".into(), 0)?;
    let turned = b.rotdiff(&[e], table)?;
    let body = b.add(turned, table)?;
    let mut acc = Vec::with_capacity(shape.cols());
    for _ in 1..shape.cols() {
        acc.push(b.sub(table, table)?);
    }
    acc.push(body);
    gives(&mut b, &acc)?;
    Ok(b.finish()?)
}

/// Emits the procedure of one step of the blind rotation, for `bits` bits of the secret key.
pub(super) fn turn(shape: &Shape<'_>, name: &str, bits: usize) -> Result<Procedure, TfheError> {
    let (s, cols) = (shape.params.sizes(), shape.cols());
    let mut b = shape.builder(name)?;
    let acc = accumulator(&mut b, shape)?;
    let exponents = (0..bits).map(|i| exponent(&mut b, format!("a{i}"), i));
    let exponents = exponents.collect::<Result<Vec<_>, _>>()?;
    let keys = key_params(&mut b, shape, bits)?;
    let whole = |pattern: usize| -> Vec<ValueId> {
        let chosen = exponents.iter().enumerate();
        let chosen = chosen.filter(|(t, _)| pattern >> t & 1 == 1);
        chosen.map(|(_, &e)| e).collect()
    };
    let single = s.unrolling.m() == 1;
    let decomposed = match single {
        true => {
            let turned = acc.iter().map(|&x| b.rotdiff(&exponents, x));
            turned.collect::<Result<Vec<_>, _>>()?
        }
        false => acc.clone(),
    };
    // The transforms of the accumulator's increment, modulo the prime of each lane.
    let mut updates = vec![Vec::with_capacity(cols); shape.lanes.len()];
    for (lane, (update, &modulus)) in updates.iter_mut().zip(&shape.lanes).enumerate() {
        let mut digits = Vec::with_capacity(shape.rows());
        for &x in &decomposed {
            let gadget = s.bootstrap;
            for d in b.decomp(x, gadget.log_base as u8, gadget.levels, modulus)? {
                digits.push(b.ntt(d)?);
            }
        }
        for col in 0..cols {
            let mut sum = None;
            for pattern in 1..1usize << bits {
                let key = |row: usize| {
                    let before = (pattern - 1) * shape.rows() + row;
                    keys[(before * cols + col) * shape.lanes.len() + lane]
                };
                let pairs = digits.iter().enumerate();
                let pairs: Vec<_> = pairs.map(|(row, &d)| (d, key(row))).collect();
                let product = b.dot(&pairs)?;
                if single {
                    sum = Some(product);
                    continue;
                }
                let weighed = b.rotdiff(&whole(pattern), product)?;
                sum = Some(match sum {
                    None => weighed,
                    Some(sum) => b.add(sum, weighed)?,
                });
            }
            update.extend(sum);
        }
    }
    let mut next = Vec::with_capacity(cols);
    for (col, &x) in acc.iter().enumerate() {
        let mut lanes = Vec::with_capacity(updates.len());
        for update in &updates {
            lanes.push(b.intt(update[col])?);
        }
        let grown = match shape.params.ring().lift() {
            Lift::Native => lanes[0],
            Lift::One(_) | Lift::Two(_) => b.bextx(&lanes, &[Q], Representative::Centred)?[0],
        };
        next.push(b.add(x, grown)?);
    }
    gives(&mut b, &next)?;
    Ok(b.finish()?)
}

fn switch_param(b: &mut ProcBuilder, shape: &Shape<'_>) -> Result<ValueId, TfheError> {
    let role = ParamRole::Key {
        arg: 1,
        digit: 0,
        part: 0,
    };
    Ok(b.param("switch_key", ValueType::LweTable(shape.switch_key()), role)?)
}

/// Emits the procedure of the blind rotation's end (Kong and Li's paper, Algorithm 1, lines 10 and 11). It extracts
/// coefficient 0, and switches the key if inputs and outputs are under the small key.
pub(super) fn end(shape: &Shape<'_>) -> Result<Procedure, TfheError> {
    let mut b = shape.builder("end")?;
    let acc = accumulator(&mut b, shape)?;
    let (masks, body) = acc.split_at(shape.cols() - 1);
    let s = shape.params.sizes();
    let out = match s.order {
        Order::KeySwitchFirst => b.extract(masks, body[0])?,
        Order::BootstrapFirst => {
            let key = switch_param(&mut b, shape)?;
            let large = b.extract(masks, body[0])?;
            b.lweks(large, key, s.key_switch.log_base as u8)?
        }
    };
    b.result(out, "out", 0, Poly::FIRST)?;
    Ok(b.finish()?)
}

/// Emits the procedure that only extracts the LWE ciphertext of coefficient 0 (Kong and Li's paper, Algorithm 1,
/// line 10).
pub(super) fn extract(shape: &Shape<'_>) -> Result<Procedure, TfheError> {
    let mut b = shape.builder("extract")?;
    let acc = accumulator(&mut b, shape)?;
    let (masks, body) = acc.split_at(shape.cols() - 1);
    let out = b.extract(masks, body[0])?;
    b.result(out, "out", 0, Poly::FIRST)?;
    Ok(b.finish()?)
}

/// Emits the procedure that only switches an LWE ciphertext to the small key.
pub(super) fn switch(shape: &Shape<'_>) -> Result<Procedure, TfheError> {
    let mut b = shape.builder("switch")?;
    let poly = Poly::FIRST;
    let x = b.param("x", shape.large(), ParamRole::Cipher { arg: 0, poly })?;
    let key = switch_param(&mut b, shape)?;
    let log_base = shape.params.sizes().key_switch.log_base as u8;
    let out = b.lweks(x, key, log_base)?;
    b.result(out, "out", 0, poly)?;
    Ok(b.finish()?)
}
