//! Runs a script in the virtual environment's Python: a JSON request in, a JSON answer out.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Hdl, HdlError, Top};

/// What the scripts are told: sources in order, the top and its parameters.
#[derive(Serialize)]
pub(crate) struct Request<'a> {
    pub files: Vec<&'a Path>,
    pub top: &'a str,
    pub params: Vec<String>,
    pub seconds: u32,
}

impl<'a> Request<'a> {
    pub fn new(hdl: &'a Hdl, top: &'a Top, seconds: u32) -> Result<Self, HdlError> {
        top.validate()?;
        Ok(Self {
            files: hdl
                .sources
                .closure(&top.module)?
                .into_iter()
                .map(|s| s.0)
                .collect(),
            top: &top.module,
            params: top.overrides(),
            seconds,
        })
    }
}

/// The answer is the script's standard output; what the tools printed on the other is the message of a failure.
pub(crate) fn ask<A: DeserializeOwned>(
    hdl: &Hdl,
    tool: &'static str,
    script: &str,
    request: &Request<'_>,
) -> Result<A, HdlError> {
    let answer = |message: String| HdlError::Answer { tool, message };
    let input = serde_json::to_vec(request).map_err(|e| answer(e.to_string()))?;
    let python = &hdl.tools.python;
    let mut child = Command::new(python)
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(HdlError::io("run", python))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A script that dies early closes the pipe; its status below says so better than this error.
        let _ = stdin.write_all(&input);
    }
    let output = child
        .wait_with_output()
        .map_err(HdlError::io("run", python))?;
    if !output.status.success() {
        return Err(HdlError::Tool {
            tool,
            what: request.top.to_owned(),
            message: String::from_utf8_lossy(&output.stderr).into_owned(),
        });
    }
    serde_json::from_slice(&output.stdout).map_err(|e| answer(e.to_string()))
}
