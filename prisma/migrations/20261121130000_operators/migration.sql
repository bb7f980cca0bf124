-- What the operators' command line changes.

-- A retired key no longer signs, and goes on verifying what it has signed until it is revoked.
ALTER TABLE signing_key ADD COLUMN retired_at timestamptz;

-- Tokens issued to the account before this instant are no longer taken.
ALTER TABLE account ADD COLUMN tokens_from timestamptz;

-- How far the import of a file has come: written in the transaction of each batch, so that an import which was cut short
-- goes on where it was. A file is known by its content.
CREATE TABLE book_import (
  organization_id integer NOT NULL,
  kind            text NOT NULL CHECK (kind IN ('customers', 'loans', 'transactions')),
  -- SHA-256 of the file, hexadecimal.
  digest          text NOT NULL,
  lines_done      bigint NOT NULL DEFAULT 0,
  imported        bigint NOT NULL DEFAULT 0,
  -- Lines whose customer, loan or transaction was there already.
  present         bigint NOT NULL DEFAULT 0,
  refused         bigint NOT NULL DEFAULT 0,
  -- How long the report of refused lines was then.
  report_bytes    bigint NOT NULL DEFAULT 0,
  started_at      timestamptz NOT NULL,
  updated_at      timestamptz NOT NULL,
  finished_at     timestamptz,
  PRIMARY KEY (organization_id, kind, digest)
);
