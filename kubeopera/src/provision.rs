//! `kubeopera provision`: what a provisioning Job runs.

use std::{path::PathBuf, sync::Arc};

use anyhow::Context;
use clap::Args;
use cluster_provisioner::{
    Order,
    book::{RunResult, SecretBook},
    runner::{Engine, Runner, ServiceAccountAccess},
};
use kube_kit::Limits;

use crate::targets::Targets;

#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
pub(crate) struct Options {
    /// Folder with what is to be done
    #[arg(long, value_name = "FOLDER")]
    order: PathBuf,
    /// Empty folder to work in
    #[arg(long, value_name = "FOLDER")]
    folder: PathBuf,
    /// Terraform or OpenTofu
    #[arg(long, value_name = "PROGRAM", default_value = "terraform", env = "KUBEOPERA_TERRAFORM")]
    terraform: PathBuf,
    #[command(flatten)]
    targets: Targets,
}

/// Runs to its end and writes down what came of it, of which a failed Job is only the sign.
pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let stop = service_kit::shutdown::on_signals().context("listening for signals")?;
    let order = Order::read(&options.order)?;
    let config = kube::Config::incluster().context("finding the API server of the Job's cluster")?;
    let client = kube_kit::guarded(config, Limits::default())?;
    let book = Arc::new(SecretBook::new(client, order.cluster, order.run.clone()));
    let engine = Engine::new(options.terraform);
    let access = Arc::new(ServiceAccountAccess { allowed: options.targets.kubeconfigs(None) });
    let runner = Runner::new(order, options.order, engine, options.folder, book, access, stop);
    match runner.run().await? {
        RunResult::Succeeded => Ok(()),
        RunResult::Failed(trouble) => Err(trouble.into()),
    }
}
