// SPDX-License-Identifier: Apache-2.0
//! Tests of slots of Z_{p^e}\[x\]/(x^N + 1) against their definitions.

mod encoding;
mod linear;
mod polynomials;
mod structure;
