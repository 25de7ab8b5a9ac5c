// SPDX-License-Identifier: Apache-2.0
//! The commands of `ringmill`, one file each.

pub mod circuit;
pub mod compare;
pub mod compile;
pub mod completion;
mod cure;
pub mod devices;
pub mod machine;
mod needs;
mod pages;
pub mod params;
pub mod plans;
pub mod program;
pub mod reproduce;
pub mod rtl;
pub mod run;
pub mod sim;
