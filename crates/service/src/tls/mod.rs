//! The certificate of the API: two PEM files, read at the start and again when they change.
//!
//! Not here: connections, which belong to `server`.

mod validity;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use deft_registry::read_text;
use deft_wire::{Done, Failure};
use jiff::Timestamp;
use parking_lot::Mutex;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{Error as TlsError, ServerConfig as TlsConfig};

/// Maximum size of a file with certificates or a key.
const MAX_BYTES: u64 = 1024 * 1024;

/// The paths of the certificate and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate and its chain.
    pub cert: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// A certificate with its key, ready for connections.
#[derive(Clone, Debug)]
pub struct TlsIdentity {
    /// The configuration for connections.
    pub config: Arc<TlsConfig>,
    /// When the certificate expires, if that can be read.
    pub expires_at: Option<Timestamp>,
}

impl TlsFiles {
    /// Returns the configured files; `None` if none are configured.
    pub fn from_config(config: &deft_config::ServerConfig) -> Done<Option<Self>> {
        let missing = |key: &str, other: &str| {
            let message = format!("`server.{other}` is set, but `server.{key}` is not");
            let hint = format!("`deft config set server.{key} FILE.pem`");
            Err(Failure::input("tls", message).hint(hint))
        };
        match (&config.tls_cert, &config.tls_key) {
            (None, None) => Ok(None),
            (Some(_), None) => missing("tls_key", "tls_cert"),
            (None, Some(_)) => missing("tls_cert", "tls_key"),
            (Some(cert), Some(key)) => Ok(Some(Self {
                cert: cert.clone(),
                key: key.clone(),
            })),
        }
    }

    /// Reads the files.
    pub fn load(&self) -> Done<TlsIdentity> {
        let certs = self.certs()?;
        let expires_at = certs.first().and_then(|cert| validity::expires_at(cert));
        let key = self.private_key()?;
        let config = TlsConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(certs, key));
        let mut config = config.map_err(|problem| self.refusal(&problem))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsIdentity {
            config: Arc::new(config),
            expires_at,
        })
    }

    fn certs(&self) -> Done<Vec<CertificateDer<'static>>> {
        let text = read(&self.cert, "tls_cert")?;
        let certs: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
        match certs {
            Ok(certs) if !certs.is_empty() => Ok(certs),
            Ok(_) | Err(_) => {
                let message = format!("`{}` has no certificate in PEM", self.cert.display());
                let hint = "a certificate begins with `-----BEGIN CERTIFICATE-----`";
                Err(Failure::input("tls", message).hint(hint))
            }
        }
    }

    fn private_key(&self) -> Done<PrivateKeyDer<'static>> {
        let text = read(&self.key, "tls_key")?;
        PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|_| {
            let message = format!("`{}` has no private key in PEM", self.key.display());
            let hint =
                "a key begins with `-----BEGIN PRIVATE KEY-----`; encrypted keys cannot be used";
            Failure::input("tls", message).hint(hint)
        })
    }

    fn refusal(&self, problem: &TlsError) -> Failure {
        let (cert, key) = (self.cert.display(), self.key.display());
        if let TlsError::InconsistentKeys(_) = problem {
            let message =
                format!("the key in `{key}` does not belong to the certificate in `{cert}`");
            let hint = "the first certificate of the file has to be that of this machine";
            return Failure::input("tls", message).hint(hint);
        }
        let message = format!("`{cert}` and `{key}` cannot be used: {problem}");
        Failure::input("tls", message).hint("use a certificate with an ECDSA, RSA or Ed25519 key")
    }

    /// Returns the modification times and sizes of the files, to detect changes.
    fn looks(&self) -> [Option<(SystemTime, u64)>; 2] {
        [&self.cert, &self.key].map(|path| {
            let data = fs::metadata(path).ok()?;
            Some((data.modified().ok()?, data.len()))
        })
    }
}

fn read(path: &Path, key: &str) -> Done<String> {
    read_text(path, MAX_BYTES).map_err(|problem| {
        let message = format!(
            "`server.{key}`: cannot read `{}`: {problem}",
            path.display()
        );
        Failure::input("tls", message).hint(format!("`deft config set server.{key} FILE.pem`"))
    })
}

/// The current certificate. If changed files cannot be used, the last valid certificate stays in effect.
pub struct TlsReloader {
    files: TlsFiles,
    state: Mutex<TlsState>,
}

struct TlsState {
    looks: [Option<(SystemTime, u64)>; 2],
    config: Arc<TlsConfig>,
}

impl TlsReloader {
    /// Reads the files for the first time.
    pub fn open(files: TlsFiles) -> Done<Self> {
        // Read the times and sizes first, so that a change between the two calls is detected later.
        let looks = files.looks();
        let config = files.load()?.config;
        Ok(Self {
            state: Mutex::new(TlsState { looks, config }),
            files,
        })
    }

    /// Returns the configuration for a new connection. Open connections keep theirs.
    pub fn current(&self) -> Arc<TlsConfig> {
        let mut state = self.state.lock();
        let looks = self.files.looks();
        if looks != state.looks {
            state.looks = looks;
            match self.files.load() {
                Ok(identity) => {
                    state.config = identity.config;
                    tracing::info!("the certificate of the API was reloaded");
                }
                Err(failure) => tracing::warn!(
                    hint = failure.hint,
                    "the new certificate is not used: {}",
                    failure.message
                ),
            }
        }
        Arc::clone(&state.config)
    }
}

#[cfg(test)]
mod tests {
    use deft_testkit::Certificate;

    use super::*;

    fn pair() -> Certificate {
        Certificate::new("localhost", 2031)
    }

    fn files(folder: &Path, cert: &str, key: &str) -> TlsFiles {
        let files = TlsFiles {
            cert: folder.join("cert.pem"),
            key: folder.join("key.pem"),
        };
        fs::write(&files.cert, cert).unwrap();
        fs::write(&files.key, key).unwrap();
        files
    }

    #[test]
    fn mistakes_are_explained() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (pair(), pair());
        let says = |cert: &str, key: &str| {
            let failure = files(folder.path(), cert, key).load().unwrap_err();
            assert_eq!(failure.code, "tls");
            assert!(failure.hint.is_some());
            failure
                .message
                .replace(&folder.path().display().to_string(), "")
        };
        assert_eq!(
            says(&one.cert, &other.key),
            "the key in `/key.pem` does not belong to the certificate in `/cert.pem`"
        );
        assert_eq!(
            says("hello", &one.key),
            "`/cert.pem` has no certificate in PEM"
        );
        assert_eq!(
            says(&one.cert, &one.cert),
            "`/key.pem` has no private key in PEM"
        );
        let mut gone = files(folder.path(), &one.cert, &one.key);
        gone.key = folder.path().join("nothing.pem");
        let message = gone.load().unwrap_err().message;
        assert!(
            message.starts_with("`server.tls_key`: cannot read"),
            "{message}"
        );
    }

    #[test]
    fn new_files_are_used_and_broken_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (pair(), pair());
        let book = TlsReloader::open(files(folder.path(), &one.cert, &one.key)).unwrap();
        let first = book.current();
        assert!(Arc::ptr_eq(&first, &book.current()));
        // During a renewal, the new certificate does not match the old key for a moment.
        fs::write(folder.path().join("cert.pem"), format!("{}\n", other.cert)).unwrap();
        assert!(Arc::ptr_eq(&first, &book.current()));
        fs::write(folder.path().join("key.pem"), format!("{}\n", other.key)).unwrap();
        assert!(!Arc::ptr_eq(&first, &book.current()));
    }

    #[test]
    fn the_expiry_of_a_certificate_is_read() {
        for (year, text) in [
            (2031, "2031-06-01T00:00:00Z"),
            (2061, "2061-06-01T00:00:00Z"),
        ] {
            let made = Certificate::new("localhost", year);
            let end = validity::expires_at(&made.der()).unwrap();
            assert_eq!(end.to_string(), text);
        }
        assert_eq!(validity::expires_at(b"\x30\x03\x02\x01\x00"), None);
    }
}
