// SPDX-License-Identifier: Apache-2.0
//! Makes variants of a machine's description: its TOML text with other values in some fields.
#![deny(clippy::arithmetic_side_effects)]

use thiserror::Error;
use toml::{Table, Value};

/// The reason for which a variant of a description cannot be made.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum VariantError {
    #[error("the machine description does not parse: {0}")]
    Syntax(String),
    /// The description has no field of this name; `known` lists the fields that it has.
    #[error("no field `{field}` is written in it; its fields are {}", known.join(", "))]
    Unknown { field: String, known: Vec<String> },
    /// The text `got` is no value of the field's type.
    #[error("{field} = {got}: expected {expected}")]
    Value {
        field: String,
        got: String,
        expected: &'static str,
    },
}

/// Returns the names of all fields that the text of a description writes, in the form that [`with`] takes. An optional
/// field that is not written is left out. A table or an array stands for its entries.
///
/// # Errors
/// [`VariantError::Syntax`] for text that is no TOML.
pub fn fields(description: &str) -> Result<Vec<String>, VariantError> {
    let mut names = Vec::new();
    let table = Value::Table(table(description)?);
    collect(&table, "", &mut names);
    Ok(names)
}

/// Returns a description with other values. Each pair has a field's name, such as `clock_mhz`, `link.us_per_limb` or
/// `memory.0.slots`, and, as text without quotes, a value of the type that the description has there. Comments are
/// lost. The description's parser decides whether the values describe a machine.
///
/// # Errors
/// [`VariantError`]: text that is no TOML, a field that the description does not have, a value of another type.
pub fn with<'a>(
    description: &str,
    values: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<String, VariantError> {
    let mut root = Value::Table(table(description)?);
    for (field, value) in values {
        let Some(place) = place(&mut root, field) else {
            return Err(VariantError::Unknown {
                field: field.to_owned(),
                known: fields(description)?,
            });
        };
        *place = typed(place, value).map_err(|expected| VariantError::Value {
            field: field.to_owned(),
            got: value.to_owned(),
            expected,
        })?;
    }
    toml::to_string(&root).map_err(|fault| VariantError::Syntax(fault.to_string()))
}

fn table(description: &str) -> Result<Table, VariantError> {
    toml::from_str(description).map_err(|fault| VariantError::Syntax(fault.to_string()))
}

/// Adds the names of all fields below `value` to `names`. Each name begins with `name`, the name of `value` itself, and
/// a dot, unless `name` is empty.
fn collect(value: &Value, name: &str, names: &mut Vec<String>) {
    let below = |key: &str| match name {
        "" => key.to_owned(),
        name => format!("{name}.{key}"),
    };
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                collect(value, &below(key), names);
            }
        }
        Value::Array(values) => {
            for (number, value) in values.iter().enumerate() {
                collect(value, &below(&number.to_string()), names);
            }
        }
        Value::String(_)
        | Value::Integer(_)
        | Value::Float(_)
        | Value::Boolean(_)
        | Value::Datetime(_) => names.push(name.to_owned()),
    }
}

/// Returns the value of a field by its name with dots, or `None` if there is no such field.
fn place<'v>(root: &'v mut Value, field: &str) -> Option<&'v mut Value> {
    let mut place = root;
    for key in field.split('.') {
        place = match place {
            Value::Table(table) => table.get_mut(key)?,
            Value::Array(values) => values.get_mut(key.parse::<usize>().ok()?)?,
            Value::String(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Boolean(_)
            | Value::Datetime(_) => return None,
        };
    }
    (!matches!(place, Value::Table(_) | Value::Array(_))).then_some(place)
}

/// Parses a text as a value of the type of `like`. The error describes the values of that type.
fn typed(like: &Value, text: &str) -> Result<Value, &'static str> {
    let text = text.trim();
    match like {
        Value::Integer(_) => {
            let whole = text.parse().map(Value::Integer);
            whole.map_err(|_| "a whole number")
        }
        Value::Float(_) => {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            number.map(Value::Float).ok_or("a number")
        }
        Value::Boolean(_) => {
            let flag = text.parse().map(Value::Boolean);
            flag.map_err(|_| "true or false")
        }
        Value::String(_) | Value::Datetime(_) | Value::Array(_) | Value::Table(_) => {
            Ok(Value::String(text.to_owned()))
        }
    }
}
