// SPDX-License-Identifier: Apache-2.0
//! Tests of the placement of bootstraps (refreshes).

mod place;
