//! What a person's `dns.truce.dev/confirm` on a GlobalHostname agrees to.
//!
//! Invariant: a word agrees to exactly what was shown with its hash, and once: the hash counts in the word that was
//! carried out last, so the same thing later is shown with another.

use crate::value::ids::HostnameKey;
use crate::value::short_hash::short_hash;
use crate::world::hostnames::Hostname;

/// The annotation of one hostname, with what it agreed to before.
#[derive(Debug, Clone, Copy)]
pub struct Confirm<'a> {
    /// Whose.
    pub hostname: &'a HostnameKey,
    /// The annotation as it stands.
    pub word: Option<&'a str>,
    /// The word that was carried out last.
    pub spent: Option<&'a str>,
}

impl Confirm<'_> {
    /// What the annotation must say to agree to something, told so that it differs from anything else.
    pub fn hash(&self, what: &str) -> String {
        match self.spent {
            None => short_hash(what),
            Some(spent) => short_hash(&format!("{what}\nafter {spent}")),
        }
    }

    /// Whether a person agreed to it.
    pub fn agrees(&self, what: &str) -> bool {
        self.word == Some(self.hash(what).as_str())
    }

    /// The command that agrees to it.
    pub fn command(&self, what: &str) -> String {
        let HostnameKey { namespace, name } = self.hostname;
        format!(
            "kubectl annotate ghn {name} -n {namespace} --overwrite {}={}",
            truce_api::CONFIRM,
            self.hash(what)
        )
    }
}

/// Which word a hostname's plans act upon, and which they have carried out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// The one that something waits for to be done.
    acting: Option<String>,
    /// The one carried out last; kept in the status.
    pub spent: Option<String>,
}

impl Words {
    /// After a plan: `acts` tells whether something that the word agrees to is still to be done.
    pub fn after(&mut self, acts: bool, word: Option<&str>) {
        if acts {
            self.acting = word.map(str::to_owned);
        } else if let Some(done) = self.acting.take() {
            self.spent = Some(done);
        }
    }

    /// What the annotation of a hostname agrees to now.
    pub fn confirm<'a>(&'a self, hostname: &'a Hostname) -> Confirm<'a> {
        Confirm {
            hostname: &hostname.key,
            word: hostname.confirm.as_deref(),
            spent: self.spent.as_deref(),
        }
    }

    /// As an earlier process left them.
    pub fn restored(spent: Option<String>) -> Self {
        Self { acting: None, spent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_counts_once() {
        let hostname = HostnameKey::new("shop", "app");
        let mut words = Words::default();
        let confirm = |word, spent| Confirm {
            hostname: &hostname,
            word,
            spent,
        };
        let word = confirm(None, None).hash("A 198.51.100.1");
        assert!(confirm(Some(&word), None).agrees("A 198.51.100.1"));
        assert!(!confirm(Some(&word), None).agrees("A 198.51.100.2"));
        words.after(true, Some(&word));
        assert_eq!(words.spent, None, "not before it is done");
        words.after(false, Some(&word));
        let spent = words.spent.as_deref();
        assert!(!confirm(Some(&word), spent).agrees("A 198.51.100.1"));
        let again = confirm(None, spent).hash("A 198.51.100.1");
        assert!(confirm(Some(&again), spent).agrees("A 198.51.100.1"));
    }
}
