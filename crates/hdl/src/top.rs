// SPDX-License-Identifier: Apache-2.0
//! An RTL module with its parameters, to be simulated, linted, synthesised or proved.

use serde::{Deserialize, Serialize};

use crate::HdlError;

/// The value of a module's parameter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Param {
    Int(u64),
    Ints(Vec<u64>),
    Text(String),
}

/// An RTL module, and the parameters that differ from its defaults.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Top {
    pub module: String,
    pub params: Vec<(String, Param)>,
    /// The modules of which synthesis for an FPGA maps one instance and uses the result for all:
    /// see [`Top::once`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub once: Vec<String>,
    /// The modules whose instances synthesis for an FPGA leaves out of its counts: see
    /// [`Top::apart`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<String>,
}

impl Top {
    /// Returns the module `module` with its default parameters.
    pub fn new(module: impl Into<String>) -> Self {
        Self {
            module: module.into(),
            params: Vec::new(),
            once: Vec::new(),
            apart: Vec::new(),
        }
    }

    /// Makes synthesis for an FPGA map `module` once and use the result for each of its instances, which must all have
    /// the same parameters; otherwise synthesis fails. A wide unit then takes little longer than one of its lanes. No
    /// optimisation crosses the instances' ports, but paths are followed through them.
    pub fn once(mut self, module: impl Into<String>) -> Self {
        self.once.push(module.into());
        self
    }

    /// Makes synthesis for an FPGA leave out all instances of `module`, and count the rest.
    pub fn apart(mut self, module: impl Into<String>) -> Self {
        self.apart.push(module.into());
        self
    }

    /// Sets the parameter `name` to a number. A value of a SystemVerilog enumeration is set by its
    /// number.
    pub fn int(mut self, name: impl Into<String>, value: u64) -> Self {
        self.params.push((name.into(), Param::Int(value)));
        self
    }

    /// Sets the parameter `name` to a packed array of 64-bit numbers, the first one in the lowest
    /// bits.
    pub fn ints(mut self, name: impl Into<String>, values: &[u64]) -> Self {
        self.params
            .push((name.into(), Param::Ints(values.to_vec())));
        self
    }

    /// Sets the parameter `name` to a text, such as a file name or a memory style.
    pub fn text(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.params.push((name.into(), Param::Text(value.into())));
        self
    }

    /// Refuses names of modules and parameters, and texts of parameters, that a tool could take for
    /// something else.
    pub(crate) fn validate(&self) -> Result<(), HdlError> {
        let names = self.params.iter().map(|p| &p.0).chain(&self.once);
        for name in names.chain(&self.apart).chain([&self.module]) {
            let mut chars = name.chars();
            let head = chars
                .next()
                .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
            if !head || !chars.all(|c| c.is_ascii_alphanumeric() || c == '_') {
                return Err(HdlError::BadIdentifier(name.clone()));
            }
        }
        for (_, value) in &self.params {
            if let Param::Text(text) = value
                && text
                    .chars()
                    .any(|c| !(c.is_ascii_graphic() || c == ' ') || matches!(c, '"' | '\\' | ','))
            {
                return Err(HdlError::BadText(text.clone()));
            }
        }
        Ok(())
    }

    /// Returns `Name=literal` for each parameter of the module, as the option -G of Verilator and
    /// slang takes it.
    pub(crate) fn overrides(&self) -> Vec<String> {
        self.params
            .iter()
            .map(|(name, value)| match value {
                Param::Int(v) if *v < 1 << 31 => format!("{name}={v}"),
                Param::Int(v) => format!("{name}=64'h{v:x}"),
                Param::Ints(values) => format!("{name}={}", packed(values)),
                Param::Text(t) => format!("{name}=\"{t}\""),
            })
            .collect()
    }
}

/// Returns the SystemVerilog literal of a packed array of 64-bit numbers, the first one in the
/// lowest bits.
pub(crate) fn packed(values: &[u64]) -> String {
    let digits = values.iter().rev().map(|v| format!("{v:016x}"));
    format!("{}'h{}", 64 * values.len(), digits.collect::<String>())
}

impl std::fmt::Display for Top {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.module)?;
        if !self.params.is_empty() {
            write!(f, " #({})", self.overrides().join(", "))?;
        }
        Ok(())
    }
}
