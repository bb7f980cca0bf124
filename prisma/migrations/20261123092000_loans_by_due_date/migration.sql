-- Loans by their last due date, which only an update of a record system changes.
-- The way back: DROP INDEX loan_due; and mark it rolled back, as docs/operating/recovery.md says.
CREATE INDEX loan_due ON loan (organization_id, due_on, arrival);
