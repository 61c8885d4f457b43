//! A counting proxy between the operator and what it writes to: the API servers and the AWS double.
//!
//! All writes through all its doors are counted together. At the n-th it holds on, before the write took effect or
//! after, and says so; the operator is killed there, and the held write is forgotten. Reads and watches pass. API
//! servers are spoken to over TLS on both sides, with the run's own authority.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::HOST;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::pki::Authority;

type Body = BoxBody<Bytes, hyper::Error>;

/// Where the n-th write is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// It never arrives.
    Before,
    /// It took effect, and its answer never arrives.
    After,
}

/// What the doors share.
#[derive(Debug, Default)]
struct State {
    writes: Vec<String>,
    armed: Option<(usize, Hold)>,
    held: Option<String>,
}

/// The count of writes, and the place to hold at.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts from 0 again and holds the n-th write (from 1), if one is given.
    pub fn arm(&self, at: Option<(usize, Hold)>) {
        *self.state() = State {
            writes: Vec::new(),
            armed: at,
            held: None,
        };
    }

    /// Holds nothing any more; what is held stays so.
    pub fn disarm(&self) {
        self.state().armed = None;
    }

    /// The writes since the last `arm`, as `DOOR METHOD PATH`.
    #[must_use]
    pub fn writes(&self) -> Vec<String> {
        self.state().writes.clone()
    }

    /// Waits until a write is held, and returns it; nothing if none is within the time.
    #[must_use]
    pub fn wait_held(&self, within: Duration) -> Option<String> {
        let state = self.state();
        let waited = self
            .shared
            .1
            .wait_timeout_while(state, within, |state| state.held.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.held.clone()
    }

    /// Counts a write and says whether it is the one to hold.
    fn count(&self, write: String) -> Option<Hold> {
        let mut state = self.state();
        state.writes.push(write);
        state
            .armed
            .filter(|(n, _)| *n == state.writes.len())
            .map(|(_, hold)| hold)
    }

    fn hold(&self, write: &str) {
        self.state().held = Some(write.to_owned());
        self.shared.1.notify_all();
    }
}

/// What stands behind a door.
#[derive(Debug, Clone)]
enum Upstream {
    /// The AWS double, plain HTTP.
    Aws(SocketAddr),
    /// An API server.
    Kubernetes(SocketAddr, Arc<ClientConfig>),
}

/// A running proxy; it ends when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    /// Its count.
    pub gate: Gate,
    runtime: Runtime,
    server: Arc<ServerConfig>,
    client: Arc<ClientConfig>,
}

impl Proxy {
    /// A proxy without doors, known to whoever trusts the authority.
    ///
    /// # Errors
    /// If its certificate cannot be made or tokio cannot be started.
    pub fn new(authority: &Authority) -> Result<Self> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let identity = authority.serving()?;
        let chain = vec![CertificateDer::from_pem_slice(identity.certificate.as_bytes()).context("parse it")?];
        let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).context("parse the key")?;
        let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .context("TLS versions")?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .context("the proxy's certificate")?;
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).context("parse the authority")?)?;
        let client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .context("TLS versions")?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .context("start tokio")?;
        Ok(Self {
            gate: Gate::default(),
            runtime,
            server: Arc::new(server),
            client: Arc::new(client),
        })
    }

    /// Opens a door named `name` before the server at `url`, and returns the address to use in its place.
    ///
    /// # Errors
    /// If the address cannot be understood or no port can be opened.
    pub fn door(&self, name: &str, url: &str) -> Result<String> {
        let (scheme, address) = url.split_once("://").context("a URL has a scheme")?;
        let address: SocketAddr = address
            .trim_end_matches('/')
            .parse()
            .with_context(|| format!("the address of {url}"))?;
        let tls = scheme == "https";
        let upstream = if tls {
            Upstream::Kubernetes(address, Arc::clone(&self.client))
        } else {
            Upstream::Aws(address)
        };
        let listener = self
            .runtime
            .block_on(TcpListener::bind(("127.0.0.1", 0)))
            .context("open a door")?;
        let port = listener.local_addr().context("the door's address")?.port();
        let door = Door {
            name: name.to_owned(),
            gate: self.gate.clone(),
            upstream,
        };
        let acceptor = tls.then(|| TlsAcceptor::from(Arc::clone(&self.server)));
        self.runtime.spawn(accept(listener, acceptor, Arc::new(door)));
        Ok(format!("{scheme}://127.0.0.1:{port}"))
    }
}

async fn accept(listener: TcpListener, acceptor: Option<TlsAcceptor>, door: Arc<Door>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (door, acceptor) = (Arc::clone(&door), acceptor.clone());
        tokio::spawn(async move {
            match acceptor {
                None => serve(stream, door).await,
                // A client that breaks the handshake off has been killed.
                Some(acceptor) => {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        serve(stream, door).await;
                    }
                }
            }
        });
    }
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, door: Arc<Door>) {
    let service = service_fn(move |request| {
        let door = Arc::clone(&door);
        async move { Ok::<_, Infallible>(door.pass(request).await) }
    });
    // The end of a connection, however it comes, is no news to the proxy.
    drop(
        hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service)
            .await,
    );
}

/// One listener of the proxy.
#[derive(Debug)]
struct Door {
    name: String,
    gate: Gate,
    upstream: Upstream,
}

impl Door {
    async fn pass(&self, request: Request<Incoming>) -> Response<Body> {
        let write = format!("{} {} {}", self.name, request.method(), request.uri().path());
        let hold = if self.writes(&request) {
            self.gate.count(write.clone())
        } else {
            None
        };
        if hold == Some(Hold::Before) {
            self.gate.hold(&write);
            std::future::pending::<()>().await;
        }
        let answer = self.forward(request).await;
        if hold == Some(Hold::After) {
            self.gate.hold(&write);
            std::future::pending::<()>().await;
        }
        answer.unwrap_or_else(|error| {
            let text = Full::new(Bytes::from(format!("proxy: {error:#}"))).map_err(|never| match never {});
            let mut response = Response::new(text.boxed());
            *response.status_mut() = StatusCode::BAD_GATEWAY;
            response
        })
    }

    fn writes(&self, request: &Request<Incoming>) -> bool {
        let path = request.uri().path();
        match self.upstream {
            // Every call of the AWS APIs that the operator makes reads but this one; STS's are POST too.
            Upstream::Aws(_) => request.method() == Method::POST && path.trim_end_matches('/').ends_with("/rrset"),
            // Reviews are questions that are asked by POST.
            Upstream::Kubernetes(..) => {
                !matches!(*request.method(), Method::GET | Method::HEAD) && !path.ends_with("reviews")
            }
        }
    }

    async fn forward(&self, mut request: Request<Incoming>) -> Result<Response<Body>> {
        // The double checks no signature, so the changed Host does not matter to it.
        let (address, tls) = match &self.upstream {
            Upstream::Aws(address) => (*address, None),
            Upstream::Kubernetes(address, client) => (*address, Some(TlsConnector::from(Arc::clone(client)))),
        };
        request.headers_mut().insert(
            HOST,
            address.to_string().parse().context("an address is a header value")?,
        );
        let stream = TcpStream::connect(address).await.context("connect")?;
        match tls {
            None => send(stream, request).await,
            Some(connector) => {
                let stream = connector
                    .connect(ServerName::from(address.ip()), stream)
                    .await
                    .context("TLS")?;
                send(stream, request).await
            }
        }
    }
}

async fn send(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Incoming>,
) -> Result<Response<Body>> {
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender.send_request(request).await?.map(http_body_util::BodyExt::boxed))
}
