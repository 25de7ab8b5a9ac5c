// SPDX-License-Identifier: Apache-2.0
//! `ringmill rtl`.

mod design;
