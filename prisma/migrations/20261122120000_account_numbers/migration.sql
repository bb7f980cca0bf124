-- The account numbers of customers and loans: a running number of each organization's own, from 1. The rows that are
-- there get theirs after this migration, in batches, oldest first, so that no row is locked for long; until then, and
-- for what the version before this one still inserts, the column is null.
-- The way back: ALTER TABLE customer DROP COLUMN account_no; ALTER TABLE loan DROP COLUMN account_no;
-- DROP TABLE account_number; and mark it rolled back, as docs/operating/recovery.md says.
CREATE TABLE account_number (
  organization_id integer NOT NULL,
  kind            text NOT NULL CHECK (kind IN ('customer', 'loan')),
  -- The last number that was drawn.
  last            bigint NOT NULL,
  PRIMARY KEY (organization_id, kind)
);
ALTER TABLE customer ADD COLUMN account_no bigint;
ALTER TABLE loan ADD COLUMN account_no bigint;
