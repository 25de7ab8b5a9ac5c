// SPDX-License-Identifier: Apache-2.0
//! Tests of TFHE: gates, tables and steps against their definitions, noise against its prediction, refusals, and files.

mod exactness;
mod failure;
mod files;
mod floor;
mod full;
mod gates;
mod integers;
mod keys;
mod noise;
mod plan;
mod refusals;
mod setup;
mod shared;
mod target;
