//! Bootstrapping of BGV, each step against its definition in the clear.

mod moduli;
mod sets;
mod thin;
