//! Chores of the workspace: `cargo xtask check-deps`, `cargo xtask generate`.

mod check_deps;
mod generate;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::Parser;

#[derive(Parser)]
#[command(about = "Chores of the KubeOpera workspace")]
enum Chore {
    /// Fails if a crate depends on something the architecture does not allow.
    CheckDeps,
    /// Writes the generated files: CRD, `OpenAPI` document, page of phases.
    Generate {
        /// Change nothing; fail if a file is not current.
        #[arg(long)]
        check: bool,
    },
}

fn main() -> ExitCode {
    let chore = Chore::parse();
    let done = workspace_root().and_then(|root| match chore {
        Chore::CheckDeps => check_deps::run(&root),
        Chore::Generate { check } => generate::run(&root, check),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

#[allow(clippy::print_stderr, reason = "a chore talks to the person who started it")]
fn complain(text: &str) {
    eprintln!("xtask: {text}");
}

fn workspace_root() -> anyhow::Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(Path::to_path_buf).context("the xtask crate lies in the workspace's root")
}

#[cfg(test)]
mod tests {
    use super::{check_deps, generate, workspace_root};

    #[test]
    fn dependencies_point_the_way_the_table_says() {
        check_deps::run(&workspace_root().unwrap()).unwrap();
    }

    #[test]
    fn generated_files_are_current() {
        generate::run(&workspace_root().unwrap(), true).unwrap();
    }
}
