-- The statements and receipts that were made, by their codes, so that a document can be checked later. The code is a keyed
-- hash over the other columns: a row that was changed has another code, and its document is unknown then.
CREATE TABLE document (
  organization_id integer NOT NULL,
  code text NOT NULL CHECK (code ~ '^[0-9A-HJKMNP-TV-Z]{16}$'),
  kind text NOT NULL CHECK (kind IN ('statement', 'receipt')),
  loan_id bigint NOT NULL,
  -- The transaction of a receipt.
  transaction_id bigint CHECK ((kind = 'receipt') = (transaction_id IS NOT NULL)),
  -- The first day of a statement.
  from_date date CHECK ((kind = 'statement') = (from_date IS NOT NULL)),
  -- The last day of a statement, or the value date of a receipt.
  to_date date NOT NULL,
  language text NOT NULL CHECK (language IN ('en', 'sw')),
  currency text NOT NULL,
  -- The closing balance of a statement, or the amount of a receipt: minor units.
  amount bigint NOT NULL,
  reversed boolean NOT NULL,
  lender text NOT NULL,
  borrower text NOT NULL,
  -- SHA-256 over all that the document says.
  digest bytea NOT NULL CHECK (length(digest) = 32),
  made_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, code)
);

-- The table is new and empty, and has no foreign key: to add one would lock the loans against changes. No row is written. The
-- version before this one does not know the table.
-- The way back: DROP TABLE document; and mark it rolled back, as docs/operating/recovery.md says. Documents that were made
-- cannot be checked any more then.
