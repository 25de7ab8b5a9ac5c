// SPDX-License-Identifier: Apache-2.0
//! Variants of descriptions, with other values of some fields.

use proptest::prelude::*;
use ringmill_machines::Registry;
use ringmill_machines::variant::{VariantError, fields, with};
use toml::Table;

const TEXT: &str = "name = \"it\" # a comment\nunits = 3\nclock_mhz = 150.0\n[link]\nfast = true\n\
                    [[memory]]\nslots = 8\n[[memory]]\nslots = 1\n";

#[test]
fn fields_have_dotted_names() {
    let names = [
        "name",
        "units",
        "clock_mhz",
        "link.fast",
        "memory.0.slots",
        "memory.1.slots",
    ];
    let mut found = fields(TEXT).unwrap();
    found.sort_by_key(|name| names.iter().position(|n| n == name));
    assert_eq!(found, names);
}

#[test]
fn values_are_of_the_fields_types_and_others_stay() {
    let made = with(
        TEXT,
        [
            ("name", "other"),
            ("units", "4"),
            ("clock_mhz", "200"),
            ("link.fast", "false"),
            ("memory.1.slots", "5"),
        ],
    );
    let expected = TEXT
        .replace("\"it\"", "\"other\"")
        .replace("units = 3", "units = 4")
        .replace("150.0", "200.0")
        .replace("true", "false")
        .replace("slots = 1", "slots = 5");
    let table = |text: &str| toml::from_str::<Table>(text).unwrap();
    assert_eq!(table(&made.unwrap()), table(&expected));
    assert_eq!(table(&with(TEXT, []).unwrap()), table(TEXT));
}

#[test]
fn what_is_no_field_or_no_value_is_refused_by_name() {
    let fault = |field, value| with(TEXT, [(field, value)]).unwrap_err().to_string();
    for field in [
        "rpaus",
        "link",
        "link.",
        "memory",
        "memory.2.slots",
        "memory.x.slots",
        "name.x",
        "",
    ] {
        let said = fault(field, "1");
        assert!(said.contains(&format!("no field `{field}`")), "{said}");
        assert!(said.contains("memory.0.slots"), "{said}");
    }
    for (field, value, expected) in [
        ("units", "3.5", "a whole number"),
        ("units", "", "a whole number"),
        ("clock_mhz", "inf", "a number"),
        ("clock_mhz", "fast", "a number"),
        ("link.fast", "1", "true or false"),
    ] {
        let said = fault(field, value);
        assert_eq!(said, format!("{field} = {value}: expected {expected}"));
    }
    let said = with("name = ", []).unwrap_err();
    assert!(matches!(said, VariantError::Syntax(_)), "{said}");
}

proptest! {
    /// Checks that any text, field and value makes a description with the same fields, or is refused.
    #[test]
    fn any_text_field_and_value_is_taken_or_refused(
        text in prop_oneof![Just(TEXT.to_owned()), "\\PC{0,40}"],
        field in prop_oneof!["(units|link|memory|name|[0-9]{1,20}|\\.){1,5}", "\\PC{0,20}"],
        value in "\\PC{0,20}",
    ) {
        if let Ok(made) = with(&text, [(field.as_str(), value.as_str())]) {
            prop_assert_eq!(fields(&made), fields(&text));
        }
    }
}

#[test]
fn every_shipped_machine_is_its_own_variant() {
    let machines = Registry::standard();
    for name in machines.names() {
        let text = machines.description(name).unwrap();
        let same = machines.load(&with(text, []).unwrap()).unwrap();
        assert_eq!(same.fit(), machines.open(name).unwrap().fit(), "{name}");
        assert!(fields(text).unwrap().contains(&"name".to_owned()));
    }
}
