//! Tries a repository without writing to it: what a push would meet, up to the moment at which the commit would be sent.

use std::time::Duration;

use gitops_scaffolder_contract::{Answer, Destination, Question, RepositoryCheck};
use vocabulary::{Trouble, TroubleKind};

use crate::{
    Scaffolder,
    ensure::local,
    git::{
        clone::{Change, Clone, Tip},
        host_keys,
        program::Failure,
        trouble::{self, Attempt},
    },
};

/// For one exchange. A person waits for the answer; whoever takes longer is told so.
const WITHIN: Duration = Duration::from_secs(7);

/// Why the questioning ended, and at which question.
struct No(Question, Trouble);

impl Scaffolder {
    pub(crate) async fn check_repository(&self, destination: &Destination) -> Result<RepositoryCheck, Trouble> {
        let nothing_found =
            || RepositoryCheck { answers: Vec::new(), branch: None, is_empty: None, offered_host_keys: Vec::new() };
        let access = match self.access(destination).await {
            Err(trouble) if ["GitAddressForbidden", "GitUnreachable"].contains(&trouble.reason.as_str()) => {
                let answers = answers(Some(No(Question::Reach, trouble)));
                return Ok(RepositoryCheck { answers, ..nothing_found() });
            }
            access => access?,
        };
        // In a folder of its own, which goes with it: a repository that is only tried leaves nothing behind.
        let folder = tempfile::tempdir_in(self.config.work_dir.join("access"));
        let folder = folder.map_err(|error| local(&Failure::NotRun(error.to_string())))?;
        let git = self.git.within(WITHIN);
        let clone = Clone {
            git: &git,
            folder: folder.path().join("trial.git"),
            url: destination.url.as_str(),
            access: &access,
        };
        clone.ensure().await.map_err(|failure| local(&failure))?;

        let mut found = nothing_found();
        let no = match ask(&clone, destination, &mut found).await {
            Ok(()) => None,
            // Not about the repository.
            Err(No(_, trouble)) if matches!(trouble.reason.as_str(), "GitMissing" | "GitNotRun") => {
                return Err(trouble);
            }
            Err(no) => Some(no),
        };
        if let Some(No(Question::Identity, trouble)) = &no
            && [trouble::HOST_KEY_NOT_TRUSTED, trouble::HOST_KEY_CHANGED].contains(&trouble.reason.as_str())
        {
            // Without them there is less to compare, and nothing else is lost.
            found.offered_host_keys =
                host_keys::offered(&git, folder.path(), &destination.url, access.address()).await.unwrap_or_default();
        }
        found.answers = answers(no);
        Ok(found)
    }
}

async fn ask(clone: &Clone<'_>, destination: &Destination, found: &mut RepositoryCheck) -> Result<(), No> {
    let reading = |failure: Failure| {
        let trouble = trouble::of(&failure, &destination.url, Attempt::Read);
        No(question_of(&trouble), trouble)
    };
    let tip = clone.find(destination.branch.as_ref()).await.map_err(reading)?;
    let Tip { branch, commit } =
        tip.map_err(|missing| No(Question::Branch, trouble::no_branch(&missing, &destination.url)))?;
    found.branch = Some(branch.clone());
    found.is_empty = Some(commit.is_none());

    let writing = |trouble: Trouble| No(Question::Push, trouble);
    let change = Change { committer: "KubeOpera <>", message: "", write: Vec::new(), remove: Vec::new() };
    let nothing = clone.commit(None, &change).await.map_err(|failure| writing(local(&failure)))?;
    // Under a name that nothing has, so that it is not refused for what it stands on.
    let rehearsed = clone.rehearse_push(&nothing, &format!("kubeopera/check-{nothing}")).await;
    rehearsed.map_err(|failure| {
        // A server that lets nobody push may ask for another credential instead of saying so.
        let trouble = trouble::of(&failure, &destination.url, Attempt::Write);
        let question = if trouble.kind == TroubleKind::Transient { Question::Reach } else { Question::Push };
        No(question, trouble)
    })
}

/// Which question a trouble of reading is the answer to.
fn question_of(trouble: &Trouble) -> Question {
    match trouble.reason.as_str() {
        trouble::HOST_KEY_NOT_TRUSTED | trouble::HOST_KEY_CHANGED | "GitCertificateNotTrusted" => Question::Identity,
        "GitAuthenticationFailed" | "GitAccessDenied" | "GitRepositoryNotFound" => Question::Repository,
        _ => Question::Reach,
    }
}

/// Yes to whatever comes before the no.
fn answers(no: Option<No>) -> Vec<(Question, Answer)> {
    let mut no = no;
    let mut is_over = false;
    let answer = |question| match no.take_if(|No(at, _)| *at == question) {
        Some(No(_, trouble)) => {
            is_over = true;
            (question, Answer::No(trouble))
        }
        None if is_over => (question, Answer::NotAsked),
        None => (question, Answer::Yes),
    };
    Question::ALL.into_iter().map(answer).collect()
}
