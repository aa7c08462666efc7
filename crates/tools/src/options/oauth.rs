//! How deft signs in to a server that asks for OAuth.

use serde::{Deserialize, Serialize};

use crate::secret::Reference;

/// Who deft is at the authorization server, and what it asks for. Everything may be left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OAuthOptions {
    /// The id of a client that was registered by hand.
    pub client_id: Option<String>,
    /// Its secret.
    pub client_secret: Option<Reference>,
    /// The HTTPS address of a document that describes the client, used as its id.
    pub client_metadata_url: Option<String>,
    /// Scopes to ask for; what the server names if there are none.
    pub scopes: Vec<String>,
    /// How a token is obtained.
    pub grant: Grant,
    /// The port of this machine to which the browser returns; 0 for a free one.
    pub callback_port: u16,
}

/// How a token is obtained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// A person signs in with a browser.
    #[default]
    AuthorizationCode,
    /// The client's own secret is enough.
    ClientCredentials,
}
