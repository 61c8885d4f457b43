//! All metrics of the operator.
//!
//! Invariant: labels are closed enums, never text from objects or errors. Deliberately absent: what the engine counts
//! of zones and hostnames, which stands in their status.

use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use truce_engine::effect::{Effect, HubEffect, MemberEffect, ZoneEffect};
use truce_engine::event::{Class, Event, HubEvent, MemberEvent, Outcome as Ended};

/// Kinds of effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
#[expect(missing_docs, reason = "each variant is the effect of that name")]
pub enum Kind {
    WriteStatus,
    SetFinalizer,
    EmitEvent,
    OpenMember,
    CloseMember,
    Watch,
    Unwatch,
    ApplyEndpoint,
    DeleteEndpoint,
    DropFinalizer,
    VerifyZone,
    ReadPage,
    ReadName,
    Submit,
    CheckChange,
}

impl Kind {
    /// The kind of an effect.
    #[must_use]
    pub fn of(effect: &Effect) -> Self {
        match effect {
            Effect::Hub(HubEffect::WriteStatus(_)) => Self::WriteStatus,
            Effect::Hub(HubEffect::SetFinalizer { .. }) => Self::SetFinalizer,
            Effect::Hub(HubEffect::EmitEvent(_)) => Self::EmitEvent,
            Effect::Member(_, MemberEffect::Open(_)) => Self::OpenMember,
            Effect::Member(_, MemberEffect::Close) => Self::CloseMember,
            Effect::Member(_, MemberEffect::Watch(_)) => Self::Watch,
            Effect::Member(_, MemberEffect::Unwatch(_)) => Self::Unwatch,
            Effect::Member(_, MemberEffect::ApplyEndpoint(_)) => Self::ApplyEndpoint,
            Effect::Member(_, MemberEffect::DeleteEndpoint { .. }) => Self::DeleteEndpoint,
            Effect::Member(_, MemberEffect::DropFinalizer { .. }) => Self::DropFinalizer,
            Effect::Zone(_, ZoneEffect::Verify { .. }) => Self::VerifyZone,
            Effect::Zone(_, ZoneEffect::ReadPage { .. }) => Self::ReadPage,
            Effect::Zone(_, ZoneEffect::ReadName { .. }) => Self::ReadName,
            Effect::Zone(_, ZoneEffect::Submit { .. }) => Self::Submit,
            Effect::Zone(_, ZoneEffect::CheckChange { .. }) => Self::CheckChange,
        }
    }
}

/// How an effect ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
#[expect(missing_docs, reason = "`Ok`, or the class of the failure")]
pub enum Outcome {
    Ok,
    Retry,
    Throttled,
    Conflict,
    Denied,
    Permanent,
}

impl From<&Ended> for Outcome {
    fn from(ended: &Ended) -> Self {
        match ended.as_ref().map_err(|failure| failure.class) {
            Ok(_) => Self::Ok,
            Err(Class::Retry) => Self::Retry,
            Err(Class::Throttled) => Self::Throttled,
            Err(Class::Conflict) => Self::Conflict,
            Err(Class::Denied) => Self::Denied,
            Err(Class::Permanent) => Self::Permanent,
        }
    }
}

/// Where an event came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
#[expect(missing_docs, reason = "each variant is the event of that name")]
pub enum Origin {
    Hub,
    MemberListed,
    MemberChanged,
    MemberWatchFailed,
    Done,
}

impl From<&Event> for Origin {
    fn from(event: &Event) -> Self {
        match event {
            Event::Hub(HubEvent::Identity { .. } | HubEvent::Applied(_) | HubEvent::Gone(_) | HubEvent::Synced) => {
                Self::Hub
            }
            Event::Member { event, .. } => match event {
                MemberEvent::Listed { .. } => Self::MemberListed,
                MemberEvent::Applied(_) | MemberEvent::Gone { .. } => Self::MemberChanged,
                MemberEvent::WatchFailed { .. } => Self::MemberWatchFailed,
            },
            Event::Done(..) => Self::Done,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EffectLabels {
    kind: Kind,
    outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabel {
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OriginLabel {
    origin: Origin,
}

/// The metrics; clones count into the same ones.
#[derive(Debug, Clone)]
pub struct Metrics {
    effects: Family<EffectLabels, Counter>,
    effect_seconds: Family<KindLabel, Histogram>,
    events: Family<OriginLabel, Counter>,
    plan_seconds: Histogram,
    /// Events that wait for the engine.
    pub queue: Gauge,
    /// Effects that are being executed.
    pub in_flight: Gauge,
    /// Members with an open session.
    pub members_open: Gauge,
    /// Watches in members that stand.
    pub member_watches: Gauge,
    /// Objects of the hub that could not be read as what they are.
    pub undecodable: Counter,
    /// Watches of the hub that broke.
    pub hub_watch_errors: Counter,
}

impl Default for Metrics {
    fn default() -> Self {
        // A call takes milliseconds on a good day; 20 s is the longest deadline.
        let call = || Histogram::new([0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0]);
        Self {
            effects: Family::default(),
            effect_seconds: Family::new_with_constructor(call),
            events: Family::default(),
            // One event is to be planned within 1 ms, all 10,000 hostnames within 1 s.
            plan_seconds: Histogram::new([0.0001, 0.0005, 0.001, 0.005, 0.02, 0.1, 0.5, 1.0, 5.0]),
            queue: Gauge::default(),
            in_flight: Gauge::default(),
            members_open: Gauge::default(),
            member_watches: Gauge::default(),
            undecodable: Counter::default(),
            hub_watch_errors: Counter::default(),
        }
    }
}

impl Metrics {
    /// All of them under their names, each with how to read it.
    #[must_use]
    pub fn registry(&self) -> Registry {
        let mut all = Registry::with_prefix("truce");
        all.register(
            "effects",
            "Calls made, by kind and how they ended",
            self.effects.clone(),
        );
        all.register_with_unit(
            "effect_duration",
            "How long calls took, by kind",
            Unit::Seconds,
            self.effect_seconds.clone(),
        );
        all.register("events", "What happened, by origin", self.events.clone());
        all.register_with_unit(
            "plan_duration",
            "How long the engine took to take in events and to plan",
            Unit::Seconds,
            self.plan_seconds.clone(),
        );
        all.register(
            "event_queue_length",
            "Events that wait for the engine; alert if it stays above 0",
            self.queue.clone(),
        );
        all.register("effects_in_flight", "Calls that are being made", self.in_flight.clone());
        all.register(
            "members_open",
            "Members with an open session",
            self.members_open.clone(),
        );
        all.register(
            "member_watches",
            "Watches in members that stand",
            self.member_watches.clone(),
        );
        all.register(
            "undecodable_objects",
            "Objects of the hub that could not be read; alert if it grows",
            self.undecodable.clone(),
        );
        all.register(
            "hub_watch_errors",
            "Watches of the hub that broke and were begun again",
            self.hub_watch_errors.clone(),
        );
        all
    }

    /// Counts an event.
    pub fn event(&self, origin: Origin) {
        self.events.get_or_create(&OriginLabel { origin }).inc();
    }

    /// Counts an effect that ended.
    pub fn effect(&self, kind: Kind, outcome: Outcome, took: Duration) {
        self.effects.get_or_create(&EffectLabels { kind, outcome }).inc();
        self.effect_seconds
            .get_or_create(&KindLabel { kind })
            .observe(took.as_secs_f64());
    }

    /// Counts one run of the engine.
    pub fn plan(&self, took: Duration) {
        self.plan_seconds.observe(took.as_secs_f64());
    }
}
