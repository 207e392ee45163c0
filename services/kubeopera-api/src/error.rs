//! Why something was not done, and what the client is told about it.

use ::http::StatusCode;
use auth_service_contract::AuthError;
use axum::response::{IntoResponse, Response};
use sea_orm::DbErr;
use service_kit::Problem;
use vocabulary::Trouble;

/// Why a use case did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AppError {
    #[error("there is no session")]
    NoSession,
    #[error("the role does not allow it")]
    Forbidden,
    #[error("there is no such cluster")]
    NoSuchCluster,
    #[error("another cluster is the host cluster")]
    AnotherHost,
    #[error("the cluster is being let go of")]
    BeingRemoved,
    #[error(transparent)]
    Auth(#[from] AuthError),
    #[error(transparent)]
    Trouble(#[from] Trouble),
    #[error("the database did not do it")]
    Database(#[from] DbErr),
}

impl From<AppError> for Problem {
    fn from(error: AppError) -> Self {
        match error {
            AppError::NoSession | AppError::Auth(AuthError::NoSession) => Self::new(
                StatusCode::UNAUTHORIZED,
                "session_expired",
                "You are not logged in, or the session has ended.",
            )
            .hint("Log in again."),
            AppError::Forbidden => Self::new(StatusCode::FORBIDDEN, "forbidden", "Your role does not allow this.")
                .hint("Ask a platform administrator to do it or to change your role."),
            AppError::NoSuchCluster => {
                Self::new(StatusCode::NOT_FOUND, "no_such_cluster", "KubeOpera has no cluster with this id.")
            }
            AppError::AnotherHost => Self::new(
                StatusCode::CONFLICT,
                "another_host_cluster",
                "KubeOpera now runs on another cluster than the one that is marked as the host cluster.",
            )
            .hint("There is only ever one. Disconnect the old host cluster first."),
            AppError::BeingRemoved => Self::new(
                StatusCode::CONFLICT,
                "being_removed",
                "This cluster is registered, but KubeOpera is just letting go of it.",
            )
            .hint("Register it again when it has disappeared from the list."),
            AppError::Auth(AuthError::WrongCredentials) => {
                Self::new(StatusCode::UNAUTHORIZED, "wrong_credentials", "The user name or the password is wrong.")
            }
            AppError::Auth(error @ AuthError::TooManyAttempts { retry_after }) => {
                Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_attempts", sentence(&error.to_string()))
                    .retry_after(retry_after)
            }
            AppError::Auth(AuthError::Unavailable) => not_now("auth-service is not available at the moment."),
            AppError::Trouble(trouble) => trouble.into(),
            AppError::Database(error) => {
                tracing::error!("the database failed: {}", service_kit::chain(&error));
                not_now("KubeOpera's database is not available at the moment.")
            }
        }
    }
}

impl IntoResponse for AppError {
    fn into_response(self) -> Response {
        Problem::from(self).into_response()
    }
}

fn not_now(detail: &'static str) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not_available", detail)
        .hint("Try again in a moment.")
        .retry_after(std::time::Duration::from_secs(5))
}

/// An error's text begins small, as part of a chain; shown alone it begins like a sentence.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
