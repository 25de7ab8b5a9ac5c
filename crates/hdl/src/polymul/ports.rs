// SPDX-License-Identifier: Apache-2.0
//! The pins of the polynomial multiplier (`rm_polymul`) in its simulation model.

use crate::{HdlError, In, Model, Out};

pub(super) struct Ports {
    pub cmd_valid: In,
    pub cmd_op: In,
    pub cmd_set: In,
    pub cmd_buf: In,
    pub cmd_slot: In,
    pub cmd_eval: In,
    pub cmd_log_n: In,
    pub rsp_valid: Out,
    pub rsp_code: Out,
    pub busy: Out,
    pub done: Out,
    pub load_code: Out,
    pub issue: Out,
    pub in_valid: In,
    pub in_ready: Out,
    pub in_data: In,
    pub in_last: In,
    pub out_valid: Out,
    pub out_ready: In,
    pub out_data: Out,
    pub out_last: Out,
}

impl Ports {
    pub fn of(model: &Model) -> Result<Self, HdlError> {
        let input = |name| model.input(name);
        let output = |name| model.output(name);
        Ok(Self {
            cmd_valid: input("cmd_valid_i")?,
            cmd_op: input("cmd_op_i")?,
            cmd_set: input("cmd_set_i")?,
            cmd_buf: input("cmd_buf_i")?,
            cmd_slot: input("cmd_slot_i")?,
            cmd_eval: input("cmd_eval_i")?,
            cmd_log_n: input("cmd_log_n_i")?,
            rsp_valid: output("rsp_valid_o")?,
            rsp_code: output("rsp_code_o")?,
            busy: output("busy_o")?,
            done: output("done_o")?,
            load_code: output("load_code_o")?,
            issue: output("issue_o")?,
            in_valid: input("in_valid_i")?,
            in_ready: output("in_ready_o")?,
            in_data: input("in_data_i")?,
            in_last: input("in_last_i")?,
            out_valid: output("out_valid_o")?,
            out_ready: input("out_ready_i")?,
            out_data: output("out_data_o")?,
            out_last: output("out_last_o")?,
        })
    }
}
