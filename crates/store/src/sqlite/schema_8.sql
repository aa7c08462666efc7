-- Queued runs in groups: those of one skill that are treated alike when a run is claimed. A claim looks at one run of each
-- group, so that a long queue of a skill at its limit does not slow down the claims of others.
CREATE INDEX run_group ON run (skill, in_turn, skill_limit, admitted_at, id) WHERE status = 'queued';
