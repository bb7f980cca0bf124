-- Open loans by the due date of their oldest unpaid instalment: who is to pay today, and who is late.
-- The way back: DROP INDEX loan_next_due; and mark it rolled back, as docs/operating/recovery.md says.
CREATE INDEX loan_next_due ON loan (organization_id, next_due_on, id) WHERE status = 'Active';
