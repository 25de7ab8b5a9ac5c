// SPDX-License-Identifier: Apache-2.0
//! Makes keys of toy parameters, which each test makes once.

use std::sync::Arc;

use ringmill_circuits::tfhe::{
    BootstrapKey, Client, Evaluator, KeySwitchKey, Messages, Params, ParamsBuilder,
};

pub struct Setup {
    pub client: Client,
    pub bootstrap: BootstrapKey,
    pub switch: KeySwitchKey,
    pub evaluator: Evaluator,
}

impl Setup {
    pub fn new(params: Arc<Params>, seed: u8) -> Self {
        let client =
            Client::from_seed_for_reproducible_tests_only(params.clone(), [seed; 32]).unwrap();
        let (bootstrap, switch) = (
            client.bootstrap_key().unwrap(),
            client.key_switch_key().unwrap(),
        );
        let evaluator = Evaluator::new(params, &bootstrap, &switch).unwrap();
        Self {
            client,
            bootstrap,
            switch,
            evaluator,
        }
    }

    pub fn params(&self) -> &Arc<Params> {
        self.client.params()
    }
}

pub fn toy() -> ParamsBuilder {
    ParamsBuilder::toy_for_tests_only()
}

/// Returns toy parameters for integers of 2 + 2 bits.
pub fn toy_integers() -> ParamsBuilder {
    toy()
        .messages(Messages::Integers {
            message_bits: 2,
            carry_bits: 2,
        })
        .sizes(|s| s.log_degree = 9)
}
