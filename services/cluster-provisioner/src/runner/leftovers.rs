//! What is left in the cloud once Terraform has deleted all it knew of: asked by tag, with Terraform's own provider, so that
//! it is the same account, role and region.

use serde::Deserialize;
use vocabulary::{Secret, Trouble};

use super::{Runner, Stopped, state::StateKeeper};

/// The module that asks.
pub(super) const MODULE: &str = "aws-leftovers";
const MAY_NOT_LIST: &str = "All that Terraform knew of is gone. Whether anything else carries the cluster's tag is not known: the \
    credential may not tag:GetResources.";
const NOT_ASKED: &str = "All that Terraform knew of is gone. Whether anything else of the cluster is left is not known: Google \
    Cloud is not asked.";
/// So many are named in a message; all of them are in the ledger.
const NAMED: usize = 3;

#[derive(Deserialize)]
struct Answer {
    arns: Output,
}

#[derive(Deserialize)]
struct Output {
    value: Vec<String>,
}

impl Runner {
    /// Makes sure that nothing of the cluster is left, and says so where nobody could.
    pub(super) async fn verify(&self, state: &StateKeeper) -> Result<Option<String>, Stopped> {
        let not_known = |why: &str| {
            self.teller.say(why);
            Ok(Some(why.to_owned()))
        };
        let found = match self.tagged(state).await {
            // Whoever may delete everything and may not list it has done all there is to do.
            Err(Stopped::Trouble(trouble)) if trouble.reason == "PermissionMissing" => return not_known(MAY_NOT_LIST),
            other => other?,
        };
        let Some(found) = found else { return not_known(NOT_ASKED) };
        match state.add(&found).await? {
            0 => {
                self.teller.say("Nothing in the cloud carries the cluster's tag any more.");
                Ok(None)
            }
            left => Err(left_over(left, &found).into()),
        }
    }

    /// Deletes a cluster of which something may have been made and nothing is known: it is gone if the cloud says so, and
    /// only then.
    pub(super) async fn destroy_without_state(&self, state: &StateKeeper) -> Result<(), Stopped> {
        match self.tagged(state).await? {
            Some(found) if state.add(&found).await? == 0 => Ok(()),
            _ => Err(state_lost().into()),
        }
    }

    /// What carries the cluster's tags; none where the cloud has no such question.
    async fn tagged(&self, state: &StateKeeper) -> Result<Option<Vec<String>>, Stopped> {
        if self.order.module == "managed_gke" {
            return Ok(None);
        }
        self.tell("Looking for what is left in the cloud.").await?;
        let folder = self.folder.join(MODULE);
        self.terraform(&folder, state, &["init", "-input=false", "-no-color"], None).await?;
        let ask = ["apply", "-input=false", "-no-color", "-json", "-auto-approve"];
        self.terraform(&folder, state, &ask, None).await?;
        Ok(Some(arns(&self.engine.output(&folder, &self.environment()).await?)?))
    }
}

fn arns(answer: &Secret) -> Result<Vec<String>, Trouble> {
    let answer = serde_json::from_str::<Answer>(answer.reveal());
    let answer = answer.map_err(|_| Trouble::transient("CloudNotAvailable", "The cloud did not say what is left."))?;
    Ok(answer.arns.value)
}

fn left_over(left: usize, found: &[String]) -> Trouble {
    let plain =
        |arn: &String| arn.chars().filter(|c| c.is_ascii_alphanumeric() || ":/_.-".contains(*c)).collect::<String>();
    let names: Vec<_> = found.iter().take(NAMED).map(plain).collect();
    Trouble::transient(
        "LeftInCloud",
        format!(
            "What Terraform had made is gone, but {left} more with the tag of this cluster are in the cloud, such as {}. Load \
             balancers and disks that were made from within the cluster are like that: delete them there. It is looked again.",
            names.join(", ")
        ),
    )
}

fn state_lost() -> Trouble {
    Trouble::rejected(
        "StateUnavailable",
        "Something was begun in the cloud, and Terraform's state of it was lost, so that it is not known what there is. Nothing \
         was deleted. Put the Secret of the run back from a backup; or delete in the cloud's console what has the tag \
         kubeopera.io/cluster-id of this cluster, and then have KubeOpera give its infrastructure up.",
    )
}
