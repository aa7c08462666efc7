-- What kind of thing a parked run waits for. Earlier versions told it by how `waiting_for` begins.
ALTER TABLE run ADD COLUMN waiting_kind TEXT;
UPDATE run SET waiting_kind = CASE
    WHEN instr(waiting_for, 'tool: ') = 1 THEN 'tool'
    WHEN instr(waiting_for, 'an answer') = 1 THEN 'answer'
    WHEN instr(waiting_for, 'a wait until ') = 1 THEN 'time'
    WHEN instr(waiting_for, 'a retry at ') = 1 THEN 'retry'
    ELSE 'record'
END WHERE waiting_for IS NOT NULL;
