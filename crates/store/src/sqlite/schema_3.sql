-- What is counted for a call of a model whose process died before it said what the call used.
ALTER TABLE reservation ADD COLUMN agent TEXT NOT NULL DEFAULT '';
ALTER TABLE reservation ADD COLUMN estimated_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reservation ADD COLUMN estimated_micros INTEGER NOT NULL DEFAULT 0;

-- How much of the sums is estimated.
ALTER TABLE ledger ADD COLUMN estimated_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ledger ADD COLUMN estimated_micros INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ledger ADD COLUMN estimated_calls INTEGER NOT NULL DEFAULT 0;
