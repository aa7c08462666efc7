-- Format 1. Instants are microseconds since 1970. `n` is what other tables refer to: an integer is
-- a sixth of the name of a run, and events are many.
--
-- Every index that a commit touches is a page more to write and sync, so that each has to earn its
-- place: a run that is driven at once touches three when it begins and one when it ends.
PRAGMA application_id = 1684366964;

-- `n` grows with every run and is never less than `admitted_at` in milliseconds. So it is the order
-- of age, and the way to the runs since an instant, without an index for that.
CREATE TABLE run (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    skill TEXT NOT NULL,
    revision TEXT NOT NULL,
    tier TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    cause TEXT NOT NULL,
    slot INTEGER,
    -- A stretch of slots that brought no run is one row.
    slot_until INTEGER,
    slot_count INTEGER NOT NULL DEFAULT 1,
    key TEXT,
    parent TEXT,
    -- A list of more than two words would be made into a tree of its own with every row that is
    -- written.
    status TEXT NOT NULL CHECK
        (status = 'queued' OR status = 'running' OR status = 'waiting' OR status = 'done'),
    outcome TEXT,
    -- The lease. The token outlives it and fences off whoever had it before.
    owner TEXT,
    token INTEGER NOT NULL DEFAULT 0,
    lease_until INTEGER,
    -- The place among the active runs of the skill until the run is over, and whether it waits to
    -- be the first.
    turn INTEGER,
    in_turn INTEGER NOT NULL,
    skill_limit INTEGER,
    -- Something happened that the driver may have missed, so that it must not park past it.
    nudged_at INTEGER,
    cancel_by TEXT,
    admitted_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    wake_at INTEGER,
    waiting_for TEXT,
    finish_ordinal INTEGER NOT NULL DEFAULT 0,
    -- Long texts come last, so that the rest is read without them.
    inputs TEXT NOT NULL,
    outputs TEXT,
    error TEXT,
    usage TEXT
) STRICT;

CREATE UNIQUE INDEX run_id ON run (id);
CREATE UNIQUE INDEX run_key ON run (key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX run_slot ON run (skill, slot) WHERE slot IS NOT NULL;
-- The number of the run is the last column of every index.
CREATE INDEX run_skill ON run (skill);
-- Finished runs are in none of these. The first one counts what is running, in all and of a skill,
-- and finds the first and the last turn of a skill with one look per status.
CREATE INDEX run_active ON run (status, skill, turn) WHERE turn IS NOT NULL;
CREATE INDEX run_queued ON run (admitted_at, id) WHERE status = 'queued';
CREATE INDEX run_asleep ON run (wake_at) WHERE status = 'waiting' AND wake_at IS NOT NULL;

-- A new event gets the number behind the newest one.
CREATE TABLE event (
    seq INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE INDEX event_run ON event (run);

-- A number is never given twice, also when the newest events were deleted: the newest one leaves an
-- empty row of no run behind. AUTOINCREMENT would write one page more with every commit.
CREATE TRIGGER event_newest BEFORE DELETE ON event
WHEN old.seq = (SELECT max(seq) FROM event)
BEGIN
    DELETE FROM event WHERE run = 0 AND seq < old.seq;
    UPDATE event SET run = 0, kind = '', body = '' WHERE seq = old.seq;
    SELECT raise(IGNORE);
END;

CREATE TABLE approval (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    run INTEGER NOT NULL REFERENCES run (n) ON DELETE CASCADE,
    path TEXT NOT NULL,
    message TEXT NOT NULL,
    options TEXT NOT NULL,
    operation TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    answer TEXT,
    decided_by TEXT,
    decided_at INTEGER,
    -- The run ended before anybody answered.
    closed_at INTEGER
) STRICT;

CREATE INDEX approval_run ON approval (run);
CREATE INDEX approval_open ON approval (run) WHERE decided_at IS NULL AND closed_at IS NULL;

CREATE TABLE grant_ (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    skill TEXT NOT NULL,
    revision TEXT NOT NULL,
    operation TEXT NOT NULL,
    describes TEXT NOT NULL,
    given_by TEXT NOT NULL,
    given_at INTEGER NOT NULL
) STRICT;

CREATE INDEX grant_skill ON grant_ (skill);

CREATE TABLE revision (
    id TEXT PRIMARY KEY,
    content TEXT NOT NULL
) STRICT;

CREATE TABLE cache (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX cache_age ON cache (expires_at);

CREATE TABLE catalog (
    server TEXT PRIMARY KEY,
    tools TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;

-- Skills: records, and file skills that are timed. `content` is the record itself; what is needed to
-- decide about a slot has columns of its own, so that a tick reads no contents.
CREATE TABLE skill (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    skill TEXT NOT NULL UNIQUE,
    agent_id TEXT NOT NULL,
    name TEXT NOT NULL,
    origin TEXT NOT NULL CHECK (origin IN ('record', 'file')),
    revision TEXT NOT NULL,
    tier TEXT NOT NULL,
    trigger_type TEXT NOT NULL,
    timing TEXT,
    required_tools TEXT NOT NULL,
    -- Nothing here means that it fires.
    disabled TEXT,
    streak INTEGER NOT NULL,
    backoff_until INTEGER,
    alerted_at INTEGER,
    notified_at INTEGER,
    anchor INTEGER,
    next_at INTEGER,
    last_run_at INTEGER,
    last_run_status TEXT,
    last_run_summary TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    content TEXT
) STRICT;

-- The order of time: a tick looks at its beginning and at nothing else.
CREATE INDEX skill_next ON skill (next_at) WHERE next_at IS NOT NULL AND disabled IS NULL;
CREATE INDEX skill_disabled ON skill (disabled) WHERE disabled IS NOT NULL;

-- Messages for people. A finish is told once under each key, however often it is recorded.
CREATE TABLE outbox (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER REFERENCES run (n) ON DELETE CASCADE,
    finish_ordinal INTEGER NOT NULL,
    skill TEXT,
    key TEXT NOT NULL,
    body TEXT NOT NULL,
    at INTEGER NOT NULL,
    status TEXT NOT NULL DEFAULT 'queued' CHECK
        (status = 'queued' OR status = 'sent' OR status = 'dead'),
    attempts INTEGER NOT NULL DEFAULT 0,
    -- When it is due; whoever takes it moves this on, so that nobody else tries meanwhile.
    try_at INTEGER,
    receipt TEXT,
    error TEXT,
    ended_at INTEGER,
    UNIQUE (run, finish_ordinal, key)
) STRICT;

CREATE UNIQUE INDEX outbox_key ON outbox (key) WHERE run IS NULL;
CREATE INDEX outbox_due ON outbox (try_at) WHERE try_at IS NOT NULL;

CREATE TABLE fact (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id TEXT NOT NULL,
    category TEXT NOT NULL,
    text TEXT NOT NULL,
    source TEXT,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX fact_category ON fact (category, n);

-- Skills whose runs nobody may claim.
CREATE TABLE hold (
    skill TEXT PRIMARY KEY,
    since INTEGER NOT NULL
) STRICT;

CREATE TABLE setting (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- What is left of deleted runs that had a key or a slot: neither is ever given again.
CREATE TABLE spent (
    id TEXT NOT NULL,
    skill TEXT NOT NULL,
    revision TEXT NOT NULL,
    tier TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    cause TEXT NOT NULL,
    slot INTEGER,
    slot_until INTEGER,
    slot_count INTEGER NOT NULL,
    key TEXT,
    parent TEXT,
    outcome TEXT,
    inputs TEXT NOT NULL,
    admitted_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    finish_ordinal INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX spent_key ON spent (key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX spent_slot ON spent (skill, slot) WHERE slot IS NOT NULL;
