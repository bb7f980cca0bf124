-- The record style: borrowers, loans and repayments under ids of the client's own, and keys for its callers.

-- The order in which rows came. An id of the client's own says nothing of it, and created_at has ties: a walk through the
-- pages of a list meets each row once because those made meanwhile come after it. The index gives the count of a list
-- and the place of a page without touching the rows.
ALTER TABLE customer ADD COLUMN arrival bigint NOT NULL GENERATED ALWAYS AS IDENTITY;
ALTER TABLE loan ADD COLUMN arrival bigint NOT NULL GENERATED ALWAYS AS IDENTITY;
ALTER TABLE loan_entry ADD COLUMN arrival bigint NOT NULL GENERATED ALWAYS AS IDENTITY;
CREATE INDEX customer_arrival ON customer (organization_id, arrival);
CREATE INDEX loan_arrival ON loan (organization_id, arrival);
-- What the list of repayments holds: what a customer paid, and that stands.
CREATE INDEX loan_entry_arrival ON loan_entry (organization_id, arrival)
  WHERE type IN ('Repayment', 'Recovery Repayment') AND reversed_at IS NULL;

-- What a record system told that the book has no column for; null where it told nothing. Numbers are kept as text, as
-- they were written: no reader of JSON can then round them.
ALTER TABLE loan ADD COLUMN record jsonb;
ALTER TABLE loan_entry ADD COLUMN record jsonb;

-- A caller of the record style without a password. Ids come from the accounts' sequence, so that the audit trail's
-- account_id names either. The hash alone is unique: it is looked up before an organization is known.
CREATE TABLE api_key (
  organization_id integer NOT NULL REFERENCES organization (id),
  id              integer NOT NULL DEFAULT nextval('account_id_seq'),
  name            text NOT NULL,
  -- sha256 of the key, in hexadecimal; the key itself is shown once and kept nowhere.
  hash            text NOT NULL UNIQUE,
  -- The key's first characters, by which people tell keys apart.
  prefix          text NOT NULL,
  roles           text[] NOT NULL,
  created_at      timestamptz NOT NULL,
  revoked_at      timestamptz,
  PRIMARY KEY (organization_id, id)
);
