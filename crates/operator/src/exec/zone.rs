//! Zone effects: each is a call of `aws/route53.rs`.
//!
//! Invariant: sent as the effect says, once.

use truce_engine::effect::ZoneEffect;
use truce_engine::event::Outcome;

use crate::aws::route53::Route53;

/// Carries one out.
///
/// # Errors
/// What AWS refused.
pub async fn carry_out(route53: &Route53, effect: &ZoneEffect) -> Outcome {
    match effect {
        ZoneEffect::Verify { hosted_zone } => route53.verify(hosted_zone).await,
        ZoneEffect::ReadPage { hosted_zone, start } => route53.read_page(hosted_zone, start.as_ref()).await,
        ZoneEffect::ReadName { hosted_zone, name } => route53.read_name(hosted_zone, name).await,
        ZoneEffect::Submit { hosted_zone, changes } => route53.submit(hosted_zone, changes).await,
        ZoneEffect::CheckChange { change_id } => route53.check_change(change_id).await,
    }
}
