//! Encryption of a listener: a certificate and its key as texts, which may be replaced while it listens.
//! Where they lie is not known here.

use std::sync::{Arc, Mutex, PoisonError};

use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        self, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    },
};

/// Why a certificate and a key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadCertificate {
    /// There is none, or it is broken.
    #[error("the file of the certificate has none in PEM ({0})")]
    Certificate(String),
    /// There is none, or it is broken.
    #[error("the file of the key has none in PEM ({0})")]
    Key(String),
    /// They do not belong together, or are of a kind that is not known.
    #[error("certificate and key cannot be used together: {0}")]
    Unusable(rustls::Error),
}

/// The certificate of a listener. Clones are of the same one.
#[derive(Clone)]
pub struct Tls(Arc<Mutex<Arc<ServerConfig>>>);

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls(..)")
    }
}

impl Tls {
    /// Takes a chain of certificates and a private key, both as PEM.
    ///
    /// # Errors
    /// If one is missing or broken, or they do not belong together.
    pub fn new(certificates: &[u8], key: &[u8]) -> Result<Self, BadCertificate> {
        Ok(Self(Arc::new(Mutex::new(config(certificates, key)?))))
    }

    /// Takes others for connections that begin from now on.
    ///
    /// # Errors
    /// As [`new`](Self::new); those before stay in use then.
    pub fn replace(&self, certificates: &[u8], key: &[u8]) -> Result<(), BadCertificate> {
        let config = config(certificates, key)?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = config;
        Ok(())
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn config(certificates: &[u8], key: &[u8]) -> Result<Arc<ServerConfig>, BadCertificate> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(certificates)
        .collect::<Result<_, _>>()
        .map_err(|error| BadCertificate::Certificate(error.to_string()))?;
    if chain.is_empty() {
        return Err(BadCertificate::Certificate("it is empty".to_owned()));
    }
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|error| BadCertificate::Key(error.to_string()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(BadCertificate::Unusable)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(BadCertificate::Unusable)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
