//! One acts and the others stand by: a Lease that one process at a time holds, by the rules of client-go's leader
//! election (<https://pkg.go.dev/k8s.io/client-go/tools/leaderelection>).
//!
//! No clock is compared with another's: who stands by measures, by its own monotonic clock, how long the Lease has not
//! changed. Whoever leads counts from before its last renewal was sent, stops before others may take over, and every
//! write names the version it was read at, so that a process that slept for a while can take nothing back. A machine that
//! is suspended is another matter: its monotonic clock stands still, so that its process takes itself for the leader after
//! a resume, until its next renewal is refused, within [`LeaseTimes::retry`].

use std::{
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use k8s_openapi::{
    api::coordination::v1::{Lease as Object, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::MicroTime,
};
use kube::{
    Api, Client,
    api::{ObjectMeta, PostParams},
};
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use vocabulary::Trouble;

use crate::trouble::{Attempt, trouble};

/// How long a Lease lasts, and how its holder keeps it.
#[derive(Debug, Clone, Copy)]
pub struct LeaseTimes {
    /// Others take it over when it has not been renewed for so long. Whole seconds: Kubernetes knows no parts of them.
    pub duration: Duration,
    /// The holder acts no more when it could not renew it for so long. What is under way then has until shortly before
    /// `duration` is over.
    pub renew_within: Duration,
    /// Between two renewals, and between two looks of one that stands by.
    pub retry: Duration,
}

impl Default for LeaseTimes {
    /// 12 s, 8 s and 2 s: after a SIGKILL another leads within 17 s, and the same at its seat at once.
    fn default() -> Self {
        Self { duration: Duration::from_secs(12), renew_within: Duration::from_secs(8), retry: Duration::from_secs(2) }
    }
}

/// Whether this process leads, at this very moment.
#[derive(Debug, Clone)]
pub struct Leadership(Arc<Mutex<Standing>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    StandsBy,
    /// Until then, or for good.
    Leads(Option<Instant>),
}

impl Leadership {
    /// Of a process that shares its work with no other.
    pub fn unshared() -> Self {
        Self(Arc::new(Mutex::new(Standing::Leads(None))))
    }

    /// Of a process that stands by.
    pub fn standing_by() -> Self {
        Self(Arc::new(Mutex::new(Standing::StandsBy)))
    }

    /// To be asked right before each effect: a process that was stopped for a while learns from it that others have taken
    /// over.
    pub fn is_held(&self) -> bool {
        match *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Standing::StandsBy => false,
            Standing::Leads(end) => end.is_none_or(|end| Instant::now() < end),
        }
    }

    fn set(&self, standing: Standing) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = standing;
    }
}

/// Who holds a Lease: a process, as the one at its seat.
///
/// A seat is where no two processes are at once, such as behind the lock of a folder: whoever held the Lease from it before
/// has ended, so that a process that comes back after a crash need not wait until its own Lease is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    seat: String,
    start: String,
}

impl Holder {
    /// `start` has to be another at each start, and has no underscore.
    pub fn new(seat: impl Into<String>, start: impl Into<String>) -> Self {
        Self { seat: seat.into(), start: start.into() }
    }

    fn identity(&self) -> String {
        format!("{}_{}", self.seat, self.start)
    }

    /// Whether a holder was at this seat before.
    fn succeeds(&self, identity: &str) -> bool {
        identity.rsplit_once('_').is_some_and(|(seat, start)| seat == self.seat && start != self.start)
    }
}

/// A Lease and this process as one that may hold it.
pub struct Lease {
    api: Api<Object>,
    name: String,
    holder: Holder,
    times: LeaseTimes,
    leadership: Leadership,
}

/// The Lease as this process wrote it, and when it began to write it.
struct Held {
    lease: Object,
    since: Instant,
}

impl Lease {
    /// The Lease of that name, which need not exist.
    pub fn new(client: Client, namespace: &str, name: &str, holder: Holder, times: LeaseTimes) -> Self {
        Self {
            api: Api::namespaced(client, namespace),
            name: name.to_owned(),
            holder,
            times,
            leadership: Leadership::standing_by(),
        }
    }

    /// Whether this process leads.
    pub fn leadership(&self) -> Leadership {
        self.leadership.clone()
    }

    /// Until `shutdown`, leads whenever nobody else does: begins `work` with a token that is cancelled when it has to end,
    /// which it has to within a few seconds, or it is cut off. Then the Lease is left to others at once.
    ///
    /// Work that ends by itself ends all, with what came of it.
    pub async fn lead<E, F: Future<Output = Result<(), E>>>(
        &self,
        shutdown: &CancellationToken,
        mut work: impl FnMut(CancellationToken) -> F,
    ) -> Result<(), E> {
        while let Some(mut held) = self.acquire(shutdown).await {
            tracing::info!(lease = self.name, holder = self.holder.identity(), "this process leads");
            let over = CancellationToken::new();
            let outcome = self.while_held(&mut held, work(over.clone()), &over, shutdown).await;
            self.leadership.set(Standing::StandsBy);
            tracing::info!(lease = self.name, holder = self.holder.identity(), "this process leads no more");
            self.release(held).await;
            if let Some(outcome) = outcome {
                return outcome;
            }
        }
        Ok(())
    }

    /// Works and renews. What came of the work, if it ended by itself or for a shutdown; none when the Lease was lost.
    async fn while_held<E>(
        &self,
        held: &mut Held,
        work: impl Future<Output = Result<(), E>>,
        over: &CancellationToken,
        shutdown: &CancellationToken,
    ) -> Option<Result<(), E>> {
        let mut work = pin!(work);
        let lost = tokio::select! {
            outcome = &mut work => return Some(outcome),
            () = self.renew_until_lost(held) => true,
            () = shutdown.cancelled() => false,
        };
        if lost {
            self.leadership.set(Standing::StandsBy);
            tracing::warn!(lease = self.name, "the Lease could not be renewed in time; others may take over");
        }
        over.cancel();
        // One retry earlier than others would take it.
        let end = held.since + self.times.duration.saturating_sub(self.times.retry / 2);
        let ended = timeout_at(end, work).await;
        if lost { None } else { Some(ended.unwrap_or(Ok(()))) }
    }

    /// Waits for the Lease; none after a shutdown.
    async fn acquire(&self, shutdown: &CancellationToken) -> Option<Held> {
        // The Lease as it was seen last, and since when it is like that.
        let mut seen: Option<(LeaseSpec, Instant)> = None;
        // Why it could not be asked about, as long as that is so.
        let mut told: Option<String> = None;
        loop {
            let attempt = timeout(self.times.renew_within / 2, self.try_to_acquire(&mut seen));
            let attempted = tokio::select! {
                attempted = attempt => attempted.unwrap_or_else(|_| Err(no_answer())),
                () = shutdown.cancelled() => return None,
            };
            match attempted {
                Ok(Some(held)) => return Some(held),
                Ok(None) => told = None,
                Err(trouble) if told.as_ref() == Some(&trouble.reason) => {
                    tracing::debug!(lease = self.name, "the Lease cannot be had: {trouble}");
                }
                Err(trouble) => {
                    tracing::warn!(
                        lease = self.name,
                        "the Lease cannot be had, and without it this process only stands by: {trouble}"
                    );
                    told = Some(trouble.reason);
                }
            }
            tokio::select! {
                // Spread, so that those who stand by do not all ask in the same moment.
                () = sleep(self.times.retry.mul_f64(0.8 + 0.4 * spread(&self.holder.identity()))) => {}
                () = shutdown.cancelled() => return None,
            }
        }
    }

    async fn try_to_acquire(&self, seen: &mut Option<(LeaseSpec, Instant)>) -> Result<Option<Held>, Trouble> {
        let found = self.read().await?;
        let now = Instant::now();
        let spec = found.as_ref().and_then(|lease| lease.spec.clone()).unwrap_or_default();
        if seen.as_ref().is_none_or(|(before, _)| *before != spec) {
            *seen = Some((spec.clone(), now));
        }
        let unchanged_since = seen.as_ref().map_or(now, |(_, since)| *since);
        let is_free =
            spec.holder_identity.as_deref().is_none_or(|holder| holder.is_empty() || self.holder.succeeds(holder));
        if !is_free && now < unchanged_since + lasts(&spec, self.times.duration) {
            return Ok(None);
        }
        let mut wanted = self.renewed(found.unwrap_or_else(|| Object {
            metadata: ObjectMeta { name: Some(self.name.clone()), ..ObjectMeta::default() },
            ..Object::default()
        }));
        if let Some(taken) = &mut wanted.spec {
            taken.holder_identity = Some(self.holder.identity());
            taken.acquire_time = taken.renew_time.clone();
            taken.lease_transitions = Some(spec.lease_transitions.map_or(0, |before| before.saturating_add(1)));
        }
        self.write(&wanted, now).await
    }

    /// Renews the Lease, and comes back when it is another's or may soon be.
    async fn renew_until_lost(&self, held: &mut Held) {
        loop {
            let end = held.since + self.times.renew_within;
            self.leadership.set(Standing::Leads(Some(end)));
            tokio::select! { () = sleep(self.times.retry) => {}, () = sleep_until(end) => return }
            match timeout_at(end.min(Instant::now() + self.times.renew_within / 2), self.renew(held)).await {
                Ok(Ok(Some(renewed))) => *held = renewed,
                Ok(Ok(None)) => return,
                Ok(Err(trouble)) => tracing::debug!(lease = self.name, "the Lease is not renewed: {trouble}"),
                Err(_) => tracing::debug!(lease = self.name, "the Lease is not renewed: {}", no_answer()),
            }
        }
    }

    /// None when it is another's.
    async fn renew(&self, held: &Held) -> Result<Option<Held>, Trouble> {
        let now = Instant::now();
        if let Some(renewed) = self.write(&self.renewed(held.lease.clone()), now).await? {
            return Ok(Some(renewed));
        }
        // Changed since: by a renewal whose answer was lost, by somebody's annotation, or by another who took it.
        match self.read().await?.filter(|lease| self.is_holder(lease)) {
            Some(found) => self.write(&self.renewed(found), now).await,
            None => Ok(None),
        }
    }

    /// Leaves the Lease to others at once, as far as it is still held. Whatever fails, it ends by itself.
    async fn release(&self, held: Held) {
        let mut lease = self.renewed(held.lease);
        if let Some(spec) = &mut lease.spec {
            spec.holder_identity = None;
            spec.lease_duration_seconds = Some(1);
        }
        if !matches!(timeout(self.times.retry, self.write(&lease, Instant::now())).await, Ok(Ok(Some(_)))) {
            tracing::debug!(lease = self.name, "the Lease is left to end by itself");
        }
    }

    fn renewed(&self, mut lease: Object) -> Object {
        let spec = lease.spec.get_or_insert_default();
        spec.renew_time = Some(MicroTime(jiff::Timestamp::now()));
        spec.lease_duration_seconds = Some(i32::try_from(self.times.duration.as_secs()).unwrap_or(i32::MAX));
        lease
    }

    fn is_holder(&self, lease: &Object) -> bool {
        lease.spec.as_ref().is_some_and(|spec| spec.holder_identity.as_ref() == Some(&self.holder.identity()))
    }

    async fn read(&self) -> Result<Option<Object>, Trouble> {
        self.api.get_opt(&self.name).await.map_err(|error| trouble(Attempt("read the Lease"), &error))
    }

    /// Writes it if nobody has changed it since it was read; none if somebody has.
    async fn write(&self, lease: &Object, since: Instant) -> Result<Option<Held>, Trouble> {
        let params = PostParams::default();
        let written = match &lease.metadata.resource_version {
            Some(_) => self.api.replace(&self.name, &params, lease).await,
            None => self.api.create(&params, lease).await,
        };
        match written {
            Ok(lease) => Ok(Some(Held { lease, since })),
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(None),
            // Deleted since. One that cannot be created for want of its namespace is trouble.
            Err(kube::Error::Api(status)) if status.code == 404 && lease.metadata.resource_version.is_some() => {
                Ok(None)
            }
            Err(error) => Err(trouble(Attempt("write the Lease"), &error)),
        }
    }
}

fn no_answer() -> Trouble {
    Trouble::transient("Timeout", "The API server does not answer about the Lease.")
}

/// How long the holder's Lease lasts by its own word; others may have been started with other times.
fn lasts(spec: &LeaseSpec, usual: Duration) -> Duration {
    let seconds = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
    seconds.map_or(usual, Duration::from_secs)
}

/// From 0 to 1, another for each holder.
fn spread(holder: &str) -> f64 {
    f64::from(holder.bytes().fold(0_u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte))) / 255.0
}

#[cfg(test)]
mod tests;
