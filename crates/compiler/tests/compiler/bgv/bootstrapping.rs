// SPDX-License-Identifier: Apache-2.0
//! Files of programs keep a BGV bootstrap in four fields, from which it is made again.

use std::sync::Arc;

use ringmill_compiler::Compiles;
use ringmill_compiler::kept::KeptBootstrapping;
use ringmill_schemes::bgv::Bgv;

use super::toy;

#[test]
fn a_procedure_is_kept_by_four_fields_and_made_again() {
    let bootstraps = Bgv::BOOTSTRAPS.unwrap();
    let procedure = Arc::new(toy::procedure());
    let text = serde_json::to_string(&(bootstraps.keep)(&procedure)).unwrap();
    let chance = format!("{:?}", procedure.setup().log2_chance());
    let stages = procedure.setup().shape().depth;
    let written =
        format!(r#"{{"weight":8,"stages":{stages},"log2_chance":"{chance}","seeded":true}}"#);
    assert_eq!(text, written);
    let made = |text: &str| {
        let kept: Result<KeptBootstrapping, _> = serde_json::from_str(text);
        let kept = kept.map_err(|fault| fault.to_string())?;
        (bootstraps.made_again)(kept, procedure.params()).map(|made| (bootstraps.keep)(&made))
    };
    assert_eq!(serde_json::to_string(&made(&text).unwrap()).unwrap(), text);
    for (from, to, named) in [
        ("weight", "height", "height"),
        (",\"seeded\":true", "", "missing field `seeded`"),
        ("true", "3", "boolean"),
        ("weight", "seeded", "duplicate field `seeded`"),
    ] {
        let refused = made(&text.replace(from, to)).err().unwrap();
        assert!(refused.contains(named), "{refused}");
    }
}
