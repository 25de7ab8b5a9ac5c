// SPDX-License-Identifier: Apache-2.0
//! Tests a machine's own figures inside the report of all machines.

use std::fmt;

use ringmill_device::report::{How, Own, OwnReport, Remarks, Rows};
use serde::Serialize;

#[derive(PartialEq, Debug, Serialize)]
struct Lamps {
    lit: u64,
    all: f64,
}

impl OwnReport for Lamps {
    const KEY: &'static str = "lamps";

    fn rows(&self, rows: &mut Rows<'_, '_>, how: How) -> fmt::Result {
        rows.row("lamps", self.lit, Some(how))
    }
}

#[derive(PartialEq, Debug, Serialize)]
struct Report {
    machine: String,
    #[serde(flatten)]
    own: Own,
    behind: u8,
}

#[test]
fn an_own_report_is_an_entry_with_its_fields_in_their_order() {
    let own = Own::new(Lamps { lit: 3, all: 0.1 });
    let report = Report {
        machine: "hall".to_owned(),
        own: own.clone(),
        behind: 1,
    };
    assert_eq!(
        serde_json::to_string(&report).unwrap(),
        r#"{"machine":"hall","lamps":{"lit":3,"all":0.1},"behind":1}"#
    );
    assert_eq!(own.get::<Lamps>(), Some(&Lamps { lit: 3, all: 0.1 }));
    assert_eq!(own, Own::new(Lamps { lit: 3, all: 0.1 }));
    assert_ne!(own, Own::new(Lamps { lit: 2, all: 0.1 }));
    assert_eq!(format!("{own:?}"), "Lamps { lit: 3, all: 0.1 }");
}

#[test]
fn reports_of_two_kinds_differ() {
    #[derive(PartialEq, Debug, Serialize)]
    struct Doors {
        lit: u64,
    }
    impl OwnReport for Doors {
        const KEY: &'static str = "doors";

        fn rows(&self, rows: &mut Rows<'_, '_>, how: How) -> fmt::Result {
            rows.row("doors", self.lit, Some(how))
        }
    }
    let doors = Own::new(Doors { lit: 3 });
    assert_ne!(doors, Own::new(Lamps { lit: 3, all: 0.0 }));
    assert_eq!(doors.get::<Lamps>(), None);
    assert_eq!(doors.interleaved(), None);
    assert_eq!(doors.remarks(), Remarks::default());
}
