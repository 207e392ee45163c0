//! Behaviour, without a socket, on a real SQLite file and on a real PostgreSQL server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod addresses;
mod allowances;
mod audit;
mod catalogue;
mod conformance;
mod connect;
mod context_names;
mod create;
mod credentials;
mod cross_site;
mod describe;
mod elsewhere;
mod events;
mod foreign_ids;
mod git_server;
mod git_setting;
mod hostile;
mod installation;
mod kubeconfig_check;
mod kubernetes;
mod listening;
mod lists;
mod metrics;
mod monitor;
mod notices;
mod one_time_password;
mod openapi;
mod parting;
mod people;
mod provisioning;
mod proxies;
mod refusals;
mod register;
mod registry_setting;
mod repair;
mod replace_kubeconfig;
mod replicas;
mod retry;
mod roles;
mod secrets;
mod sessions;
mod single_sign_on;
mod surface;
mod tokens;
mod unfriendly;
mod world;

use world::World;

/// Makes each test run on SQLite and on PostgreSQL, and fail rather than wait for ever.
macro_rules! on_both_databases {
    ($($name:ident)*) => {
        mod on_sqlite {
            $(#[tokio::test] async fn $name() {
                crate::tests::in_time(async { super::$name(crate::tests::World::on_sqlite().await).await }).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test] async fn $name() {
                crate::tests::in_time(async { super::$name(crate::tests::World::on_postgres().await).await }).await;
            })*
        }
    };
}
use on_both_databases;

async fn in_time(test: impl Future<Output = ()>) {
    let most = std::time::Duration::from_mins(5);
    tokio::time::timeout(most, test).await.expect("the test is over in time");
}
