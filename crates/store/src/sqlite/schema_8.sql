-- Queued runs in cohorts: those of one skill with the same limit, of which all may start or none. A claim can look at one
-- run of each, so that a long queue of a skill at its limit does not slow down the claims of others.
CREATE INDEX run_cohort ON run (skill, in_turn, skill_limit, admitted_at, id) WHERE status = 'queued';
