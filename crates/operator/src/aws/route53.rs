//! The calls: one function a zone effect, each one request but for the pages of one name.
//!
//! Invariant: nothing is retried here. Deliberately absent: deadlines (`exec/gate.rs`) and budgets (the engine's).

use aws_sdk_route53::primitives::DateTime;
use aws_sdk_route53::types::{ChangeBatch, ChangeStatus, ResourceRecordSet, RrType};
use truce_engine::effect::Change;
use truce_engine::event::{Class, Cursor, Failure, Success};
use truce_engine::time::Wall;
use truce_engine::value::dns_name::RecordName;
use truce_engine::value::ids::HostedZoneId;
use truce_engine::value::record::RecordSet;

use super::records;
use crate::exec::class::{self, Call, failure};

/// Sets in a page of an audit: the most that Route 53 gives (ListResourceRecordSets, MaxItems).
const PAGE: i32 = 300;
/// Sets asked for when one name is read; more come in further pages.
const NAME_PAGE: i32 = 100;

/// Route 53 and STS with one identity.
#[derive(Debug, Clone)]
pub struct Route53 {
    zones: aws_sdk_route53::Client,
    identity: aws_sdk_sts::Client,
}

impl Route53 {
    /// Clients of one SDK configuration.
    #[must_use]
    pub fn new(config: &aws_config::SdkConfig) -> Self {
        Self {
            zones: aws_sdk_route53::Client::new(config),
            identity: aws_sdk_sts::Client::new(config),
        }
    }

    /// GetCallerIdentity and GetHostedZone.
    ///
    /// # Errors
    /// What AWS refused.
    pub async fn verify(&self, zone: &HostedZoneId) -> Result<Success, Failure> {
        let caller = self.identity.get_caller_identity().send();
        let caller = caller.await.map_err(|error| class::aws(&error, Call::Read))?;
        let answer = self.zones.get_hosted_zone().id(zone.as_str()).send();
        let answer = answer.await.map_err(|error| class::aws(&error, Call::Read))?;
        let Some(found) = answer.hosted_zone() else {
            return Err(undecodable("GetHostedZone answered without a hosted zone"));
        };
        Ok(Success::Zone {
            account: caller.account().unwrap_or_default().to_owned(),
            name: found.name().to_owned(),
            private: found.config().is_some_and(|config| config.private_zone()),
            record_sets: found
                .resource_record_set_count()
                .and_then(|count| u64::try_from(count).ok())
                .unwrap_or_default(),
        })
    }

    /// One page of the zone.
    ///
    /// # Errors
    /// What Route 53 refused.
    pub async fn read_page(&self, zone: &HostedZoneId, start: Option<&Cursor>) -> Result<Success, Failure> {
        let page = self.list(zone, start, PAGE).await?;
        Ok(Success::Page {
            sets: converted(&page.sets),
            next: page.next,
        })
    }

    /// All sets under one name: pages until the name changes.
    ///
    /// # Errors
    /// What Route 53 refused.
    pub async fn read_name(&self, zone: &HostedZoneId, name: &RecordName) -> Result<Success, Failure> {
        let mut sets = Vec::new();
        let mut start = Some(Cursor {
            name: name.as_str().to_owned(),
            record_type: String::new(),
            set_identifier: None,
        });
        while let Some(from) = start {
            let page = self.list(zone, Some(&from), NAME_PAGE).await?;
            let under = page
                .sets
                .iter()
                .take_while(|set| RecordName::listed(set.name()) == *name);
            let under: Vec<_> = under.cloned().collect();
            let whole = under.len() == page.sets.len();
            sets.extend(converted(&under));
            start = page
                .next
                .filter(|next| whole && RecordName::listed(&next.name) == *name);
        }
        Ok(Success::Name { sets })
    }

    /// ChangeResourceRecordSets, sent once.
    ///
    /// # Errors
    /// What Route 53 refused, or a lost answer (`ambiguous`).
    pub async fn submit(&self, zone: &HostedZoneId, changes: &[Change]) -> Result<Success, Failure> {
        let changes = changes.iter().map(records::change).collect::<Result<Vec<_>, _>>();
        let changes = changes.map_err(|error| failure(Class::Permanent, "NotWritable", error.to_string()))?;
        let batch = ChangeBatch::builder().set_changes(Some(changes)).build();
        let batch = batch.map_err(|error| failure(Class::Permanent, "NotWritable", error.to_string()))?;
        let call = self
            .zones
            .change_resource_record_sets()
            .hosted_zone_id(zone.as_str())
            .change_batch(batch)
            .send();
        let answer = call.await.map_err(|error| match error.as_service_error() {
            // The messages of a refused batch stand in a list of their own.
            Some(service) if !refusals(service).is_empty() => {
                let refused = class::aws(&error, Call::Write);
                failure(refused.class, refused.code, refusals(service))
            }
            _ => class::aws(&error, Call::Write),
        })?;
        let Some(info) = answer.change_info() else {
            return Err(class::late(Call::Write, "Undecodable", "the answer names no change"));
        };
        Ok(Success::Submitted {
            change_id: short_id(info.id()),
            at: wall(info.submitted_at()),
        })
    }

    /// GetChange.
    ///
    /// # Errors
    /// What Route 53 refused.
    pub async fn check_change(&self, change_id: &str) -> Result<Success, Failure> {
        let answer = self.zones.get_change().id(change_id).send();
        let answer = answer.await.map_err(|error| class::aws(&error, Call::Read))?;
        let Some(info) = answer.change_info() else {
            return Err(undecodable("GetChange answered without a change"));
        };
        Ok(Success::Change {
            insync: *info.status() == ChangeStatus::Insync,
        })
    }

    async fn list(&self, zone: &HostedZoneId, start: Option<&Cursor>, most: i32) -> Result<Page, Failure> {
        let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let answer = self
            .zones
            .list_resource_record_sets()
            .hosted_zone_id(zone.as_str())
            .set_start_record_name(start.and_then(|at| some(&at.name)))
            .set_start_record_type(start.and_then(|at| some(&at.record_type)).as_deref().map(RrType::from))
            .set_start_record_identifier(start.and_then(|at| at.set_identifier.clone()))
            .max_items(most)
            .send()
            .await
            .map_err(|error| class::aws(&error, Call::Read))?;
        let next = answer.is_truncated().then(|| Cursor {
            name: answer.next_record_name().unwrap_or_default().to_owned(),
            record_type: answer
                .next_record_type()
                .map(|t| t.as_str().to_owned())
                .unwrap_or_default(),
            set_identifier: answer.next_record_identifier().map(str::to_owned),
        });
        if next.as_ref().is_some_and(|next| next.name.is_empty()) {
            return Err(undecodable(
                "ListResourceRecordSets cut its answer without saying where it goes on",
            ));
        }
        Ok(Page {
            sets: answer.resource_record_sets,
            next,
        })
    }
}

struct Page {
    sets: Vec<ResourceRecordSet>,
    next: Option<Cursor>,
}

fn refusals(error: &aws_sdk_route53::operation::change_resource_record_sets::ChangeResourceRecordSetsError) -> String {
    use aws_sdk_route53::operation::change_resource_record_sets::ChangeResourceRecordSetsError as E;
    match error {
        E::InvalidChangeBatch(refused) => refused.messages().join("; "),
        _ => String::new(),
    }
}

fn converted(sets: &[ResourceRecordSet]) -> Vec<RecordSet> {
    let convert = |set| {
        let converted = records::from_sdk(set);
        if converted.is_none() {
            tracing::warn!(
                name = set.name(),
                kind = set.r#type().as_str(),
                "Skipping a record type that is not known"
            );
        }
        converted
    };
    sets.iter().filter_map(convert).collect()
}

fn undecodable(message: &str) -> Failure {
    failure(Class::Retry, "Undecodable", message)
}

/// `C123` of `/change/C123`.
fn short_id(id: &str) -> String {
    id.rsplit('/').next().unwrap_or(id).to_owned()
}

fn wall(at: &DateTime) -> Wall {
    let millis = at.to_millis().unwrap_or_default();
    Wall::from_millisecond(millis).unwrap_or_default()
}
