// SPDX-License-Identifier: Apache-2.0
//! Tests of programs of whole numbers, compiled for each scheme of exact integers. Random programs give exactly the
//! results of the computation without encryption, with noise within its prediction. Other tests are of refusals.

mod bfv;
mod bgv;
mod draw;
mod run;
mod zero;
