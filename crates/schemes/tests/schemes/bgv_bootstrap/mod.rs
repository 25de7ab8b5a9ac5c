// SPDX-License-Identifier: Apache-2.0
//! Tests bootstrapping of BGV, each step against its definition in the clear.

mod failures;
mod files;
mod general;
mod moduli;
mod numbers;
mod procedure;
mod sets;
mod thin;
