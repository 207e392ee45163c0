//! What a run is given: files in a folder, which in the Job is a mounted Secret.

use std::{collections::BTreeMap, path::Path};

use cluster_provisioner_terraform::Purpose;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use vocabulary::{ClusterId, Secret};

const ORDER: &str = "order.json";
const VARIABLES: &str = "terraform.tfvars.json";
const KEY: &str = "key";
const KUBECONFIG: &str = "kubeconfig";
/// The credential, in the form that the cloud's own libraries read.
pub(crate) const AWS_CREDENTIALS: &str = "aws-credentials";
pub(crate) const GOOGLE_CREDENTIALS: &str = "google-credentials.json";

/// What a run is to do.
#[derive(Debug, Clone)]
pub struct Order {
    /// For which cluster.
    pub cluster: ClusterId,
    /// Which run it is: the book takes nothing from any other.
    pub run: String,
    /// What for.
    pub purpose: Purpose,
    /// Folder of the module.
    pub module: String,
    /// Its values.
    pub variables: Value,
    /// The key of the book, as text.
    pub key: Secret,
    /// Files with the credential, by name.
    pub credential: BTreeMap<&'static str, Secret>,
    /// The way into the cluster that is to be deleted, if there is one.
    pub kubeconfig: Option<Secret>,
    /// UID of its kube-system namespace. On a cluster with another nothing is deleted.
    pub cluster_uid: Option<String>,
}

/// The folder does not hold an order.
#[derive(Debug, thiserror::Error)]
#[error("what the run was to do cannot be read from {file}")]
pub struct OrderError {
    file: &'static str,
    #[source]
    source: Option<std::io::Error>,
}

#[derive(Serialize, Deserialize)]
struct Written {
    cluster: ClusterId,
    run: String,
    destroys: bool,
    module: String,
    #[serde(default)]
    cluster_uid: Option<String>,
}

impl Order {
    /// The files, by name.
    pub fn files(&self) -> BTreeMap<&'static str, Secret> {
        let written = Written {
            cluster: self.cluster,
            run: self.run.clone(),
            destroys: self.purpose == Purpose::Destroy,
            module: self.module.clone(),
            cluster_uid: self.cluster_uid.clone(),
        };
        let mut files = self.credential.clone();
        files.insert(ORDER, Secret::new(serde_json::json!(written).to_string()));
        // One value a line: Terraform quotes the line that an error is about.
        files.insert(VARIABLES, Secret::new(format!("{:#}", self.variables)));
        files.insert(KEY, self.key.clone());
        files.extend(self.kubeconfig.clone().map(|kubeconfig| (KUBECONFIG, kubeconfig)));
        files
    }

    /// Reads what [`Order::files`] wrote.
    pub fn read(folder: &Path) -> Result<Self, OrderError> {
        let text = |file: &'static str| {
            std::fs::read_to_string(folder.join(file)).map_err(|error| OrderError { file, source: Some(error) })
        };
        let unreadable = |file: &'static str| move |_: serde_json::Error| OrderError { file, source: None };
        let written: Written = serde_json::from_str(&text(ORDER)?).map_err(unreadable(ORDER))?;
        let credential = [AWS_CREDENTIALS, GOOGLE_CREDENTIALS]
            .into_iter()
            .filter_map(|file| Some((file, Secret::new(text(file).ok()?))))
            .collect();
        Ok(Self {
            cluster: written.cluster,
            run: written.run,
            purpose: if written.destroys { Purpose::Destroy } else { Purpose::Create },
            module: written.module,
            variables: serde_json::from_str(&text(VARIABLES)?).map_err(unreadable(VARIABLES))?,
            key: Secret::new(text(KEY)?),
            credential,
            kubeconfig: text(KUBECONFIG).ok().map(Secret::new),
            cluster_uid: written.cluster_uid,
        })
    }
}
