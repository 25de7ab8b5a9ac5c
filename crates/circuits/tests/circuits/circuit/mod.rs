// SPDX-License-Identifier: Apache-2.0
//! Tests of circuits without encryption: programs and netlists, lowered to lookups and to gates.

mod choose;
mod form;
mod gates;
mod lower;
mod netlist;
mod operations;
mod saved;
mod share;
mod simplify;
mod small;
mod sum;
mod text;
