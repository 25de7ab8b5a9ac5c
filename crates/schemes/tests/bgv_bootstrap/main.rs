//! Bootstrapping of BGV, each step against its definition in the clear.

mod moduli;
mod numbers;
mod sets;
mod thin;
