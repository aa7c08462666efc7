-- The index of format 6 lists its kinds after IN. SQLite makes a list of more than two words into a tree of its own with
-- every row that is written.
DROP INDEX event_pause;
CREATE INDEX event_pause ON event (run) WHERE kind = 'asked' OR kind = 'recovered' OR kind = 'resumed';
