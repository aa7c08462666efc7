//! An HTTP client that adds the access token. If the server rejects the token, the request is sent once
//! more with a new token, provided that one can be obtained without a person.

use std::sync::Arc;

use futures_util::stream::BoxStream;
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::access::Access;
use super::capped::{CappedClient, Fault, Headers};

/// An HTTP client that adds the access token, if the server has one.
#[derive(Clone)]
pub(super) struct AuthorizedClient {
    client: CappedClient,
    access: Option<Arc<Access>>,
}

impl AuthorizedClient {
    pub(super) fn new(client: CappedClient, access: Option<Arc<Access>>) -> Self {
        Self { client, access }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "`rmcp` has many kinds of errors and may add more"
    )]
    async fn with_token<T, S, F>(&self, send: S) -> Result<T, Fault>
    where
        S: Fn(Option<String>) -> F + Send + Sync,
        F: Future<Output = Result<T, Fault>> + Send,
        T: Send,
    {
        let Some(access) = &self.access else {
            return send(None).await;
        };
        let token = Box::pin(access.token()).await?;
        let text = token.as_ref().map(|token| token.expose().to_owned());
        let refused = match send(text).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let next = match &refused {
            Fault::AuthRequired(error) => {
                let challenge = &error.www_authenticate_header;
                Box::pin(access.after_refusal(token.as_ref(), challenge)).await?
            }
            Fault::InsufficientScope(error) => {
                let challenge = &error.www_authenticate_header;
                Box::pin(access.after_missing_scope(token.as_ref(), challenge)).await?
            }
            _ => None,
        };
        match next {
            Some(token) => send(Some(token.expose().to_owned())).await,
            None => Err(refused),
        }
    }
}

impl StreamableHttpClient for AuthorizedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let client = &self.client;
        self.with_token(|token| {
            client.post_message(
                uri.clone(),
                message.clone(),
                session.clone(),
                token,
                headers.clone(),
            )
        })
        .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<(), Fault> {
        let client = &self.client;
        self.with_token(|token| {
            client.delete_session(uri.clone(), session.clone(), token, headers.clone())
        })
        .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Fault> {
        let client = &self.client;
        self.with_token(|token| {
            client.get_stream(
                uri.clone(),
                session.clone(),
                last.clone(),
                token,
                headers.clone(),
            )
        })
        .await
    }
}
