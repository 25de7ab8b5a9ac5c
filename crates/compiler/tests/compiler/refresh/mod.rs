// SPDX-License-Identifier: Apache-2.0
//! Where values are refreshed.

mod place;
