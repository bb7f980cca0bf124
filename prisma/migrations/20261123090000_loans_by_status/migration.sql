-- Loans of a status in the order in which they came, as the list of loans walks them. It takes the place of the index in
-- the order of the ids.
-- The way back: CREATE INDEX loan_status ON loan (organization_id, status, id); DROP INDEX loan_status_arrival; and mark
-- it rolled back, as docs/operating/recovery.md says.
CREATE INDEX loan_status_arrival ON loan (organization_id, status, arrival);
DROP INDEX loan_status;
