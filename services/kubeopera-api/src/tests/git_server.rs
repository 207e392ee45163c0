//! A Git server as far as it is tried: it remembers what it was tried with and answers as it is told.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use gitops_scaffolder_contract::{
    Answer, Destination, GitOpsScaffolder, Question, RepositoryCheck, TreeInputs, TreeSeen, WrittenTree,
};
use vocabulary::{GitPath, Trouble};

#[derive(Clone, Default)]
pub(super) struct GitServer(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    tried: Vec<Destination>,
    answer: Option<RepositoryCheck>,
    panics_with: Option<String>,
}

impl GitServer {
    /// What it was tried with since somebody asked last.
    pub(super) fn tried(&self) -> Vec<Destination> {
        std::mem::take(&mut self.0.lock().unwrap().tried)
    }

    /// The next try is a fault of ours.
    pub(super) fn panic_with(&self, text: &str) {
        self.0.lock().unwrap().panics_with = Some(text.to_owned());
    }

    /// What the next tries find.
    pub(super) fn answer(&self, answer: RepositoryCheck) {
        self.0.lock().unwrap().answer = Some(answer);
    }
}

#[async_trait]
impl GitOpsScaffolder for GitServer {
    async fn look(&self, _: &str, _: &GitPath, _: &Destination) -> Result<TreeSeen, Trouble> {
        panic!("kubeopera-api looks at no trees")
    }

    async fn ensure_tree(&self, _: &TreeInputs, _: &Destination) -> Result<WrittenTree, Trouble> {
        panic!("kubeopera-api writes no trees")
    }

    async fn check(&self, destination: &Destination) -> Result<RepositoryCheck, Trouble> {
        let panics_with = self.0.lock().unwrap().panics_with.take();
        if let Some(text) = panics_with {
            panic!("{text}");
        }
        let mut state = self.0.lock().unwrap();
        state.tried.push(destination.clone());
        let all_is_well = || RepositoryCheck {
            answers: Question::ALL.into_iter().map(|question| (question, Answer::Yes)).collect(),
            branch: Some("main".to_owned()),
            is_empty: Some(false),
            offered_host_keys: Vec::new(),
        };
        Ok(state.answer.clone().unwrap_or_else(all_is_well))
    }
}
