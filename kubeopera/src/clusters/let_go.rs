//! `kubeopera clusters disconnect` and `kubeopera clusters delete`.

use std::{
    fmt::Write,
    io::{self, BufRead, IsTerminal},
};

use anyhow::bail;
use clap::Args;
use reqwest::Method;

use super::{
    Named, Output, follow, report,
    wire::{Cluster, Confirmation, Disconnection, GoingObject, PartingReceipt},
};
use crate::{
    server::{Request, Server},
    terminal::{plain, print},
};

#[derive(Args)]
pub(super) struct DisconnectOptions {
    #[command(flatten)]
    named: Named,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

#[derive(Args)]
pub(super) struct DeleteOptions {
    #[command(flatten)]
    named: Named,
    /// The cluster's name once more: its infrastructure and all that runs on it is lost
    #[arg(long, value_name = "NAME")]
    confirm: String,
}

/// Lets go of a cluster, once it was seen what that means.
pub(super) async fn disconnect(server: &Server, output: Output, options: &DisconnectOptions) -> anyhow::Result<()> {
    let name = &options.named.cluster;
    if !options.yes && (output == Output::Json || !io::stdin().is_terminal()) {
        bail!("there is nobody to ask whether {} is to be disconnected. Say so with --yes", plain(name));
    }
    let id = options.named.id(server).await?;
    let path = format!("/clusters/{id}/disconnect");
    if output == Output::Table {
        let plan = server.ask(Request::new(Method::GET, &path)).await?;
        print(&for_people(&server.read(&plan.json)?))?;
    }
    if !options.yes {
        // Whoever typed an id sees whose it is.
        let cluster = server.ask(Request::new(Method::GET, &format!("/clusters/{id}"))).await?;
        let cluster: Cluster = server.read(&cluster.json)?;
        print(&format!("Disconnect {} ({id})? [y/N] ", plain(&cluster.name)))?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        if !is_yes(&answer) {
            bail!("{} was not disconnected", plain(name));
        }
    }
    let answer = server.ask(Request::new(Method::POST, &path)).await?;
    report(server, output, &answer, |cluster| {
        format!("KubeOpera lets go of {}.\n{}", plain(&cluster.name), follow(cluster, "Gone"))
    })
}

/// Deletes a cluster. Whether it is one that may be deleted, and whether its name is right, is for the server to say.
pub(super) async fn delete(server: &Server, output: Output, options: &DeleteOptions) -> anyhow::Result<()> {
    let id = options.named.id(server).await?;
    let path = format!("/clusters/{id}");
    let request = Request::new(Method::DELETE, &path).body(&Confirmation { name: &options.confirm });
    let answer = server.ask(request).await?;
    report(server, output, &answer, |cluster| {
        format!("{} is being deleted, with its infrastructure.\n{}", plain(&cluster.name), follow(cluster, "Gone"))
    })
}

pub(super) fn is_yes(answer: &str) -> bool {
    ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

pub(super) fn for_people(plan: &Disconnection) -> String {
    let mut text = String::new();
    for (place, heading) in [("cluster", "Goes from the cluster:"), ("kubeopera", "Goes from KubeOpera:")] {
        let going: Vec<_> = plan.goes.iter().filter(|object| object.place == place).collect();
        if !going.is_empty() {
            text += heading;
            text.push('\n');
        }
        for object in going {
            _ = writeln!(text, "  {}", words(object));
        }
    }
    text += "Stays:\n";
    for sentence in &plan.stays {
        _ = writeln!(text, "  {}", plain(sentence));
    }
    text
}

/// What became of a cluster, and what is left for people to do.
pub(super) fn farewell(receipt: &PartingReceipt) -> String {
    let how = if receipt.is_destroyed { "is deleted, with its infrastructure" } else { "is KubeOpera's no more" };
    let mut text = format!("{} {how}.\n", plain(&receipt.name));
    if let Some(because) = &receipt.left_because {
        _ = writeln!(text, "These could not be removed. {}", plain(because));
    }
    for object in &receipt.left {
        _ = writeln!(text, "  {}", words(object));
    }
    if !receipt.commands.is_empty() {
        text += "With the cluster's own kubeconfig, this removes them:\n";
    }
    for command in &receipt.commands {
        _ = writeln!(text, "  {}", plain(command));
    }
    text
}

fn words(object: &GoingObject) -> String {
    plain(&format!("{} {}/{}", object.kind, object.namespace, object.name))
}
