//! `/api/v1/chats`: messages to agents, and stored conversations.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use deft_service::talk::{
    self, ConversationQuery, NewChatMessage, Talk, conversation_cursor, find_conversation,
};
use deft_wire::Done;
use deft_wire::api::{ConversationPage, WaitQuery};
use deft_wire::chat::{
    ChatReply, ConversationDeleted, ConversationDetail, ConversationDocument, MessageList,
    PromptView,
};
use deft_wire::requests::{ChatListQuery, ChatRequest, MessageQuery};
use deft_wire::token::TokenScope as Scope;
use futures_util::future::BoxFuture;

use super::{next_cursor, page_size};
use crate::answer::Answer;
use crate::route::{Call, MAX_WAIT, Nothing, Route, Verb};

/// Channel of conversations over the API.
const CHANNEL: &str = "api";

pub(super) fn routes() -> Vec<Route> {
    use Scope::{Admin, Read, Run};
    use Verb::{Delete, Get, Post};
    vec![
        Route::new(
            Get,
            "/api/v1/chats",
            "List conversations, latest first",
            Read,
            list,
        ),
        Route::new_waiting::<_, _, ChatReply>(
            Post,
            "/api/v1/chats",
            "Send a message to an agent; `Idempotency-Key` is its permanent key",
            Run,
            send,
        )
        .without_stored_reply(),
        Route::new(
            Get,
            "/api/v1/chats/{id}",
            "Show a conversation with its messages",
            Read,
            show,
        ),
        Route::new(
            Delete,
            "/api/v1/chats/{id}",
            "Move a conversation to the trash",
            Admin,
            delete,
        ),
        Route::new_waiting::<_, _, ChatReply>(
            Post,
            "/api/v1/chats/{id}/resume",
            "Resume an interrupted answer",
            Run,
            resume,
        ),
        Route::new(
            Get,
            "/api/v1/messages",
            "Search the messages of conversations",
            Read,
            search,
        ),
        Route::new(
            Post,
            "/api/v1/prompts/chat",
            "Preview the prompt for a chat message; no model is called",
            Read,
            prompt,
        ),
    ]
}

fn talk<Q, B>(call: &Call<Q, B>) -> Arc<dyn Talk> {
    talk::host(&call.server.app)
}

fn list(call: &Call<ChatListQuery>) -> Done<ConversationPage> {
    let (talk, query) = (talk(call), &call.query);
    let limit = page_size(query.limit);
    let found = talk.conversations(ConversationQuery {
        channel: query.channel.clone(),
        cursor: query.cursor.clone(),
        limit: Some(limit),
    });
    let conversations = call.server.app.block_on(found)?;
    let cursor = conversations.last().map(conversation_cursor);
    Ok(ConversationPage {
        next_cursor: next_cursor(cursor, conversations.len(), limit),
        conversations,
    })
}

fn show(call: &Call) -> Done<ConversationDocument> {
    let talk = talk(call);
    call.server.app.block_on(async {
        let found = find_conversation(&*talk, call.param(), None).await?;
        let messages = talk.messages(&found.view.id).await?;
        Ok(ConversationDocument {
            conversation: ConversationDetail {
                view: found.view,
                messages,
                open_run: found.open.map(|open| open.run),
            },
        })
    })
}

fn delete(call: &Call) -> Done<ConversationDeleted> {
    let talk = talk(call);
    call.server.app.block_on(async {
        let conversation = find_conversation(&*talk, call.param(), None).await?.view.id;
        let ok = talk.delete(&conversation).await?;
        Ok(ConversationDeleted { ok, conversation })
    })
}

fn search(call: &Call<MessageQuery>) -> Done<MessageList> {
    let (talk, query) = (talk(call), &call.query);
    let found = talk.search(&query.search, page_size(query.limit));
    let messages = call.server.app.block_on(found)?;
    Ok(MessageList { messages })
}

fn say(body: ChatRequest) -> NewChatMessage {
    NewChatMessage {
        conversation: body.conversation,
        agent: body.agent,
        channel: CHANNEL.to_owned(),
        text: body.text,
        model: body.model,
        ..NewChatMessage::default()
    }
}

fn prompt(call: &Call<Nothing, ChatRequest>) -> Done<PromptView> {
    let talk = talk(call);
    call.server.app.block_on(async {
        let mut say = say(call.body.clone());
        if let Some(id) = &say.conversation {
            let found = find_conversation(&*talk, id, None).await?;
            say.conversation = Some(found.view.id);
        }
        talk.prompt(say).await
    })
}

/// Returns how long to wait for the answer. Unlike other requests, a chat request waits by default, because
/// its purpose is the answer.
fn wait_time(query: &WaitQuery) -> Duration {
    let given = query
        .wait
        .map(|seconds| Duration::from_secs(seconds.into()));
    given.map_or(MAX_WAIT, |time| time.min(MAX_WAIT))
}

fn send(call: Call<WaitQuery, ChatRequest>) -> BoxFuture<'static, Done<Answer>> {
    Box::pin(async move {
        let say = NewChatMessage {
            key: call.key.clone(),
            origin: call.origin.clone(),
            ..say(call.body.clone())
        };
        let reply = talk::say_and_wait(talk(&call), say, wait_time(&call.query));
        respond(&reply.await?)
    })
}

fn resume(call: Call<WaitQuery>) -> BoxFuture<'static, Done<Answer>> {
    Box::pin(async move {
        let time = wait_time(&call.query);
        let reply = talk::resume_and_wait(talk(&call), call.param(), time);
        respond(&reply.await?)
    })
}

/// Responds with 200 if there is an answer, even a failed one or a question, and with 202 if it takes longer.
fn respond(reply: &ChatReply) -> Done<Answer> {
    let status = match reply.answer {
        Some(_) => StatusCode::OK,
        None => StatusCode::ACCEPTED,
    };
    Answer::json(status, reply)
}
