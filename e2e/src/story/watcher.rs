//! A resolver that asks for the shared name 50 times a second, for as long as the name has to answer.
//!
//! Invariant it looks for: from the first real answer on, every question gets an answer and none is the placeholder.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};

use crate::dns::Resolver;

/// RFC 5737's address that stands in before there is a real one.
pub(crate) const PLACEHOLDER: &str = "192.0.2.1";

/// Time between two questions.
const PERIOD: Duration = Duration::from_millis(20);

/// The running resolver.
#[derive(Debug)]
pub struct Watcher {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<(u64, Vec<String>)>,
}

impl Watcher {
    /// Starts asking for the addresses of `name`, in turn as each of the clients.
    #[must_use]
    pub fn start(name: &str, clients: Vec<Resolver>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (flag, name) = (Arc::clone(&stop), name.to_owned());
        let thread = std::thread::spawn(move || {
            let mut asked = 0;
            let mut wrong = Vec::new();
            for client in clients.iter().cycle() {
                if flag.load(Ordering::Relaxed) {
                    break;
                }
                let begun = Instant::now();
                asked += 1;
                match client.a(&name) {
                    Ok(answer) if answer.is_empty() => wrong.push(format!("question {asked}: no answer")),
                    Ok(answer) if answer.contains(PLACEHOLDER) => {
                        wrong.push(format!("question {asked}: {PLACEHOLDER}"))
                    }
                    Ok(_) => {}
                    Err(error) => wrong.push(format!("question {asked}: {error:#}")),
                }
                std::thread::sleep(PERIOD.saturating_sub(begun.elapsed()));
            }
            (asked, wrong)
        });
        Self { stop, thread }
    }

    /// Stops asking and returns how often it asked.
    ///
    /// # Errors
    /// If any question had no answer or the placeholder.
    pub fn finish(self) -> Result<u64> {
        self.stop.store(true, Ordering::Relaxed);
        let (asked, wrong) = self.thread.join().map_err(|_| anyhow!("the resolver panicked"))?;
        let shown: Vec<&str> = wrong.iter().take(5).map(String::as_str).collect();
        ensure!(
            wrong.is_empty(),
            "{} of {asked} questions went wrong: {}",
            wrong.len(),
            shown.join("; ")
        );
        Ok(asked)
    }
}
