//! The variables and headers of a server with their secrets resolved, and the redaction for its output.

use deft_model::Failure;

use crate::environment::Environment;
use crate::options::ServerOptions;
use crate::redact::{HIDDEN, Redaction};
use crate::secret::{Reference, Secret};

/// Variables and headers, resolved again at every start because secrets change.
#[derive(Debug, Default)]
pub(super) struct ResolvedOptions {
    pub(super) env: Vec<(String, Secret)>,
    pub(super) headers: Vec<(String, Secret)>,
    pub(super) redaction: Redaction,
}

impl ResolvedOptions {
    /// Resolves every reference in the options.
    pub(super) async fn resolve(
        name: &str,
        options: &ServerOptions,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let mut given = Self::default();
        for (variable, reference) in &options.env {
            let what = format!("`{variable}` of the server `{name}`");
            let text = given.take(reference, environment, &what).await?;
            given.env.push((variable.clone(), text));
        }
        for (header, reference) in &options.headers {
            let what = format!("the header `{header}` of the server `{name}`");
            let text = given.take(reference, environment, &what).await?;
            given.headers.push((header.clone(), text));
        }
        Ok(given)
    }

    async fn take(
        &mut self,
        reference: &Reference,
        environment: &Environment,
        what: &str,
    ) -> Result<Secret, Failure> {
        let resolved = reference.resolve(&environment.secrets, what).await?;
        if let Some(secret) = &resolved.secret {
            self.redaction.add(secret, HIDDEN);
        }
        Ok(resolved.text)
    }
}
