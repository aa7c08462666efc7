//! `/api/v1/secrets` and `/api/v1/tokens`: values can be written but never read.

use deft_service::secrets::SecretPlace;
use deft_service::{secrets, tokens};
use deft_wire::Done;
use deft_wire::requests::{SecretRequest, SecretTestRequest, TokenRequest};
use deft_wire::secret::{SecretList, SecretRemoved, SetSecretResult};
use deft_wire::token::{AddTokenResult, TokenList, TokenRevoked, TokenScope as Scope};

use crate::route::{Call, Nothing, Route, Verb};

pub(super) fn routes() -> Vec<Route> {
    use Scope::{Admin, Read};
    use Verb::{Delete, Get, Post, Put};
    vec![
        Route::new(
            Get,
            "/api/v1/secrets",
            "List secrets by name, without their values",
            Read,
            list_secrets,
        ),
        Route::new(
            Post,
            "/api/v1/secrets/test",
            "Check whether secrets can be read; never returns their values",
            Read,
            test_secrets,
        ),
        Route::new(
            Put,
            "/api/v1/secrets/{name}",
            "Store a secret",
            Admin,
            set_secret,
        ),
        Route::new(
            Delete,
            "/api/v1/secrets/{name}",
            "Remove a secret",
            Admin,
            remove_secret,
        ),
        Route::new(
            Get,
            "/api/v1/tokens",
            "List API tokens by name, without their values",
            Admin,
            list_tokens,
        ),
        Route::new(
            Post,
            "/api/v1/tokens",
            "Create a token; it is shown only once",
            Admin,
            add_token,
        )
        .with_secret_reply(),
        Route::new(
            Delete,
            "/api/v1/tokens/{name}",
            "Revoke a token",
            Admin,
            revoke_token,
        ),
    ]
}

fn list_secrets(call: &Call) -> Done<SecretList> {
    secrets::list(&call.server.workspace)
}

fn test_secrets(call: &Call<Nothing, SecretTestRequest>) -> Done<SecretList> {
    secrets::test(&call.server.workspace, &call.body.names)
}

fn set_secret(call: &Call<Nothing, SecretRequest>) -> Done<SetSecretResult> {
    let SecretRequest { value, file } = &call.body;
    let place = if *file {
        SecretPlace::File
    } else {
        SecretPlace::KeyringOrFile
    };
    secrets::set(&call.server.workspace, call.param(), value, place)
}

fn remove_secret(call: &Call) -> Done<SecretRemoved> {
    secrets::remove(&call.server.workspace, call.param())
}

fn list_tokens(call: &Call) -> Done<TokenList> {
    tokens::list(&call.server.workspace)
}

fn add_token(call: &Call<Nothing, TokenRequest>) -> Done<AddTokenResult> {
    tokens::add(&call.server.workspace, &call.body.name, call.body.scope)
}

fn revoke_token(call: &Call) -> Done<TokenRevoked> {
    tokens::revoke(&call.server.workspace, call.param())
}
