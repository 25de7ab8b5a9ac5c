// SPDX-License-Identifier: Apache-2.0
//! The mid level, file by file.

mod ahead;
