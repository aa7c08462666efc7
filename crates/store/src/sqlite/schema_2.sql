-- Format 2: messages in parts, grants that allow more than one call, conversations, and what models
-- cost.

-- How many parts of a message have arrived.
ALTER TABLE outbox ADD COLUMN parts INTEGER NOT NULL DEFAULT 0;

-- Which other arguments are allowed; nothing here means exactly the ones that were shown.
ALTER TABLE grant_ ADD COLUMN pattern TEXT;

-- Conversations outlive the runs that spoke in them, so that they name them by their ids.
CREATE TABLE conversation (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    channel TEXT NOT NULL,
    title TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    -- How many messages there are, which is the number of the last one.
    messages INTEGER NOT NULL DEFAULT 0,
    run TEXT,
    archived_at INTEGER
) STRICT;

-- No index has the instant of the last message: each message would have to write to it.
CREATE INDEX conversation_channel ON conversation (channel);

CREATE TABLE message (
    n INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES conversation (n) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    role TEXT NOT NULL,
    run TEXT,
    -- The place among all that the run says in the conversation, for what came with a batch.
    place INTEGER,
    at INTEGER NOT NULL,
    text TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (conversation, seq)
) STRICT;

CREATE UNIQUE INDEX message_place ON message (run, place, conversation) WHERE place IS NOT NULL;

-- The words of messages under their numbers, and nothing else. They are cut and folded before they
-- come here, the same way for every backend, so that this only has to split at spaces.
CREATE VIRTUAL TABLE word USING fts5 (
    words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);

-- Calls of models: what they may use at most, until it is known what they used.
CREATE TABLE reservation (
    run INTEGER NOT NULL REFERENCES run (n) ON DELETE CASCADE,
    key TEXT NOT NULL,
    scope TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    micros INTEGER NOT NULL,
    PRIMARY KEY (run, key, scope)
) STRICT, WITHOUT ROWID;

CREATE INDEX reservation_scope ON reservation (scope);

-- Calls that were counted, so that none is twice.
CREATE TABLE counted (
    run INTEGER NOT NULL REFERENCES run (n) ON DELETE CASCADE,
    key TEXT NOT NULL,
    PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger (
    scope TEXT PRIMARY KEY,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    micros INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    -- The last time that something was spent.
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What agents used in ten minutes.
CREATE TABLE usage (
    agent TEXT NOT NULL,
    bucket INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    micros INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    PRIMARY KEY (agent, bucket)
) STRICT, WITHOUT ROWID;
