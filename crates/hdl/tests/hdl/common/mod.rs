// SPDX-License-Identifier: Apache-2.0
//! What tests of several machines share.

pub mod failure;
pub mod faulty;
pub mod setup;
