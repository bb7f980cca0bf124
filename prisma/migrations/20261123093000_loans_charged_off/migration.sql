-- Loans that are charged off, few of many, in the order in which they came.
-- The way back: DROP INDEX loan_charged_off; and mark it rolled back, as docs/operating/recovery.md says.
CREATE INDEX loan_charged_off ON loan (organization_id, arrival) WHERE charged_off_on IS NOT NULL;
