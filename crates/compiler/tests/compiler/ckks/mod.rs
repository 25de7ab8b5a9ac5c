// SPDX-License-Identifier: Apache-2.0
//! Tests of CKKS in the compiler.

mod accuracy;
mod alike;
mod balance;
mod bounded;
mod chain;
mod labels;
mod made_up;
mod precision;
mod range;
mod real;
mod relation;
mod univariate;
mod values;
