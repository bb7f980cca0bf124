-- The single charges that are due on a day: a charge after the last instalment is due with an instalment of its own, which the
-- page of the day lists. Few entries have the column, so the index is small.
-- The way back: DROP INDEX loan_entry_due_on; and mark it rolled back, as docs/operating/recovery.md says.
CREATE INDEX loan_entry_due_on ON loan_entry (organization_id, due_on) WHERE due_on IS NOT NULL;
