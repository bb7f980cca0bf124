-- How a lender's customers pay: filled in by the service and kept with each transaction that moves money. A record
-- system's own method stays in `record`. Both defaults are constants, so that no row is rewritten, and the version before
-- this one goes on inserting without the columns.
-- The way back: ALTER TABLE organization DROP COLUMN payment_method; ALTER TABLE loan_entry DROP COLUMN payment_method;
-- and mark it rolled back, as docs/operating/recovery.md says.
ALTER TABLE organization ADD COLUMN payment_method text NOT NULL DEFAULT 'Mobile Money';
ALTER TABLE loan_entry ADD COLUMN payment_method text DEFAULT 'Mobile Money';
