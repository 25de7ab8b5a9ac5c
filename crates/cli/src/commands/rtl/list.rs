// SPDX-License-Identifier: Apache-2.0
//! The command `ringmill rtl list`: lists the machines and modules that have RTL.

use ringmill_hdl::{Interface, Sources};
use ringmill_machines::{MachineError, Registry};
use serde_json::json;

use super::{design, sources};
use crate::args::rtl::ListArgs;
use crate::error::CliError;
use crate::output;

pub fn list(args: &ListArgs) -> Result<(), CliError> {
    let sources = sources()?;
    let modules = interfaces(&sources)?;
    if args.json {
        let modules: Vec<_> = modules
            .iter()
            .map(|(name, interface)| {
                let parameters: serde_json::Map<_, _> = interface
                    .settable()
                    .map(|p| (p.name.clone(), json!(p.default)))
                    .collect();
                json!({ "module": name, "title": interface.title, "parameters": parameters })
            })
            .collect();
        return output::json(&json!({ "machines": design::machines(), "modules": modules }));
    }
    let mut text =
        "machines (parameters from the description: `ringmill machine show NAME`)\n".to_owned();
    for name in design::machines() {
        text += &format!("  {name:<8} {}\n", title(name)?);
    }
    text += "\nmodules (parameter=default)\n";
    for (name, interface) in modules {
        text += &format!("  {name}  {}\n", interface.title);
        let parameters: Vec<String> = interface
            .settable()
            .map(|p| format!("{}={}", p.name, p.default))
            .collect();
        if !parameters.is_empty() {
            text += &format!("      {}\n", parameters.join(" "));
        }
    }
    output::text(&text)
}

fn interfaces(sources: &Sources) -> Result<Vec<(&str, Interface)>, CliError> {
    let all = sources
        .modules()
        .map(|name| Ok((name, sources.interface(name)?)));
    all.collect()
}

/// Returns the title in the description of a machine.
fn title(name: &str) -> Result<String, CliError> {
    let text = Registry::standard().description(name)?;
    let table: toml::Table =
        toml::from_str(text).map_err(|e| MachineError::Syntax(e.to_string()))?;
    let title = table.get("title").and_then(toml::Value::as_str);
    Ok(title.unwrap_or_default().to_owned())
}
