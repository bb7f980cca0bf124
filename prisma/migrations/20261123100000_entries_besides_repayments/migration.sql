-- The entries that the index of repayments leaves out: reversed ones, and those of other types. The list of all
-- transactions merges the two, so that an entry is in one of them only.
-- The way back: DROP INDEX loan_entry_arrival_rest; and mark it rolled back, as docs/operating/recovery.md says.
CREATE INDEX loan_entry_arrival_rest ON loan_entry (organization_id, arrival)
  WHERE NOT (type IN ('Repayment', 'Recovery Repayment') AND reversed_at IS NULL);
