//! OAuth sign-in to a server.

use serde::{Deserialize, Serialize};

use crate::secret::Reference;

/// How deft identifies itself to the authorization server, and the scopes it requests. Every field is
/// optional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OAuthOptions {
    /// The id of a manually registered client.
    pub client_id: Option<String>,
    /// The secret of the client.
    pub client_secret: Option<Reference>,
    /// The HTTPS URL of a document that describes the client, used as its id.
    pub client_metadata_url: Option<String>,
    /// Scopes to request; if empty, the scopes that the server names.
    pub scopes: Vec<String>,
    /// How to obtain a token.
    pub grant: Grant,
    /// The local port to which the browser returns; 0 for any free port.
    pub callback_port: u16,
}

/// How to obtain a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// A person signs in with a browser.
    #[default]
    AuthorizationCode,
    /// The client's own secret is enough.
    ClientCredentials,
}
