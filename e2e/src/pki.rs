//! One throw-away certificate authority per run, for the API servers and for the proxy before them.
//!
//! Because both are signed by the same authority, a kubeconfig that goes through the proxy differs in its address only.

use anyhow::{Context, Result};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};

/// The authority of a run.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
}

/// A certificate with its key, all as PEM.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The certificate.
    pub certificate: String,
    /// Its PKCS 8 key.
    pub key: String,
    /// The public half alone, which kube-apiserver wants for checking ServiceAccount tokens.
    pub public_key: String,
}

impl Authority {
    /// A new authority.
    ///
    /// # Errors
    /// If the certificate cannot be made.
    pub fn new() -> Result<Self> {
        let mut params = CertificateParams::new(Vec::new()).context("describe the authority")?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        params.distinguished_name.push(DnType::CommonName, "truce-e2e");
        let key = KeyPair::generate().context("make the authority's key")?;
        let certificate = params.self_signed(&key).context("sign the authority")?.pem();
        Ok(Self {
            issuer: Issuer::new(params, key),
            certificate,
        })
    }

    /// The authority's certificate as PEM.
    #[must_use]
    pub fn pem(&self) -> &str {
        &self.certificate
    }

    /// A server certificate for 127.0.0.1 and localhost.
    ///
    /// # Errors
    /// If it cannot be signed.
    pub fn serving(&self) -> Result<Identity> {
        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        let params = CertificateParams::new(names).context("describe a server certificate")?;
        let key = KeyPair::generate().context("make a server key")?;
        let certificate = params
            .signed_by(&key, &self.issuer)
            .context("sign a server certificate")?;
        Ok(Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
            public_key: key.public_key_pem(),
        })
    }
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}
