// SPDX-License-Identifier: Apache-2.0
//! Counts the instances of each module in an elaborated design, from Verilator's tree before inlining.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cache::Scratch;
use crate::{Hdl, HdlError, Top, build};

/// Returns the number of instances of each module in the design, by the names in the sources. The top module
/// counts as one.
pub(crate) fn instances(hdl: &Hdl, top: &Top) -> Result<BTreeMap<String, u64>, HdlError> {
    top.validate()?;
    let work = Scratch::new(&hdl.cache)?;
    build::elaborate(hdl, top, &work.0)?;
    let path = work.0.join("Vtop.tree.json");
    let text = std::fs::read_to_string(&path).map_err(HdlError::io("read", &path))?;
    let unclear = |message: String| HdlError::Answer {
        tool: "Verilator",
        message,
    };
    let tree: Value = serde_json::from_str(&text).map_err(|e| unclear(e.to_string()))?;
    let listed = tree["modulesp"].as_array();
    let mut modules = BTreeMap::new();
    for module in listed.into_iter().flatten() {
        let text = |field: &str| module[field].as_str().map(str::to_owned);
        if let (Some(address), Some(name)) = (text("addr"), text("origName")) {
            let mut cells = Vec::new();
            below(module, &mut cells);
            modules.insert(address, (name, cells));
        }
    }
    let mut addresses = modules.iter();
    let root = addresses.find(|(_, (name, _))| *name == top.module);
    let root = root.ok_or_else(|| unclear(format!("a tree without {}", top.module)))?;
    let mut found = BTreeMap::new();
    let mut left = vec![root.0.as_str()];
    while let Some(address) = left.pop() {
        // Packages have no cells, and cells that are no modules do not count.
        if let Some((name, cells)) = modules.get(address) {
            *found.entry(name.clone()).or_default() += 1;
            left.extend(cells.iter().map(String::as_str));
        }
    }
    Ok(found)
}

/// Appends the module of each instance in the tree node `node` to `cells`, with the instances in
/// generate blocks.
fn below(node: &Value, cells: &mut Vec<String>) {
    match node {
        Value::Object(fields) => {
            if fields.get("type").and_then(Value::as_str) == Some("CELL") {
                let module = fields.get("modp").and_then(Value::as_str);
                cells.extend(module.map(str::to_owned));
            }
            fields.values().for_each(|value| below(value, cells));
        }
        Value::Array(values) => values.iter().for_each(|value| below(value, cells)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
