//! An image for the Jobs that create clusters, as docs/creating-clusters.md asks for it: KubeOpera, Terraform and providers.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::{Value, json};
use tokio::{fs, process::Command};

use crate::run;

/// Its name.
pub const JOB_IMAGE: &str = "kubeopera.test/provision:1";

/// What goes into the image.
#[derive(Debug)]
pub struct JobImage<'a> {
    /// The `kubeopera` executable.
    pub executable: &'a Path,
    /// The `terraform` executable.
    pub terraform: &'a Path,
    /// Folder that mirrors providers. The stand-in for Google's is taken from it.
    pub providers: &'a Path,
    /// What the stand-in answers.
    pub answers: &'a Value,
}

impl JobImage<'_> {
    /// Makes its archive in an empty folder, and returns the path.
    pub async fn build(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        let root = folder.join("root");
        for name in ["usr/bin", "etc", "standin", "work", "tmp"] {
            fs::create_dir_all(root.join(name)).await?;
        }
        // Symbols are most of a debug build.
        run(Command::new("strip").arg("-o").arg(root.join("usr/bin/kubeopera")).arg(self.executable)).await?;
        fs::copy(self.terraform, root.join("usr/bin/terraform")).await.context("copying Terraform")?;
        self.copy_libraries(&root).await?;
        self.copy_provider(&root).await?;
        let rc = "provider_installation {\n  filesystem_mirror {\n    path = \"/providers\"\n  }\n}\n";
        fs::write(root.join("etc/terraform.rc"), rc).await?;
        fs::write(root.join("standin/answers.json"), self.answers.to_string()).await?;
        archive(folder, &root).await
    }

    /// What the executable is linked with.
    async fn copy_libraries(&self, root: &Path) -> anyhow::Result<()> {
        let linked = run(Command::new("ldd").arg(self.executable)).await?;
        for library in linked.split_whitespace().filter(|word| word.starts_with('/')) {
            let to = root.join(library.trim_start_matches('/'));
            fs::create_dir_all(to.parent().context("a library lies in a folder")?).await?;
            fs::copy(library, to).await.with_context(|| format!("copying {library}"))?;
        }
        Ok(())
    }

    async fn copy_provider(&self, root: &Path) -> anyhow::Result<()> {
        let mut registries = fs::read_dir(self.providers).await.context("looking for providers")?;
        while let Some(registry) = registries.next_entry().await? {
            let google = registry.path().join("hashicorp/google");
            if google.is_dir() {
                let to = root.join("providers").join(registry.file_name()).join("hashicorp");
                fs::create_dir_all(&to).await?;
                run(Command::new("cp").args(["-rL"]).arg(google).arg(to)).await?;
            }
        }
        Ok(())
    }
}

/// An image of one layer, in the form that `docker save` writes.
async fn archive(folder: &Path, root: &Path) -> anyhow::Result<PathBuf> {
    let layer = folder.join("layer.tar");
    run(Command::new("tar").args(["--owner=0", "--group=0", "-cf"]).arg(&layer).arg("-C").arg(root).arg(".")).await?;
    let printed = run(Command::new("sha256sum").arg(&layer)).await?;
    let digest = printed.split_whitespace().next().context("sha256sum printed nothing")?;
    let configuration = json!({
        "architecture": if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" },
        "os": "linux",
        "config": {
            "Entrypoint": ["/usr/bin/kubeopera"],
            "User": "65532:65532",
            "Env": [
                "PATH=/usr/bin",
                "TF_CLI_CONFIG_FILE=/etc/terraform.rc",
                "STANDIN_FOLDER=/work",
                "STANDIN_ANSWERS=/standin/answers.json",
            ],
        },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{digest}")] },
    });
    let manifest = json!([{ "Config": "config.json", "RepoTags": [JOB_IMAGE], "Layers": ["layer.tar"] }]);
    fs::write(folder.join("config.json"), configuration.to_string()).await?;
    fs::write(folder.join("manifest.json"), manifest.to_string()).await?;
    let image = folder.join("image.tar");
    let parts = ["manifest.json", "config.json", "layer.tar"];
    run(Command::new("tar").arg("-cf").arg(&image).arg("-C").arg(folder).args(parts)).await?;
    Ok(image)
}
