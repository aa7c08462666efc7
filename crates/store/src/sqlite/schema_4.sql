-- Which revision a skill file had when it could last be read, so that a broken edit leaves it in use.
CREATE TABLE good_file (
    path TEXT PRIMARY KEY,
    skill TEXT NOT NULL,
    revision TEXT NOT NULL
) STRICT;
