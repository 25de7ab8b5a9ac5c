// SPDX-License-Identifier: Apache-2.0
//! What is kept of a run that is interrupted.

mod asked;
