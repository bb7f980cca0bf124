-- Entries by their dedupe token, on one loan or on any: the same columns as before, in another order.
-- The way back: CREATE UNIQUE INDEX loan_entry_token_loan ON loan_entry (organization_id, loan_id, token) WHERE token IS
-- NOT NULL; DROP INDEX loan_entry_token; ALTER INDEX loan_entry_token_loan RENAME TO loan_entry_token; and mark it rolled
-- back, as docs/operating/recovery.md says.
CREATE UNIQUE INDEX loan_entry_token_anywhere ON loan_entry (organization_id, token, loan_id) WHERE token IS NOT NULL;
DROP INDEX loan_entry_token;
ALTER INDEX loan_entry_token_anywhere RENAME TO loan_entry_token;
