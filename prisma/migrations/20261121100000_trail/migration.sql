-- Who changed what, and what was answered.

-- Append-only: one row for every change, written in the statement or transaction that makes it. Organization 0 is the
-- service itself (signing keys).
CREATE TABLE audit_entry (
  organization_id integer NOT NULL,
  id              bigint GENERATED ALWAYS AS IDENTITY,
  at              timestamptz NOT NULL,
  -- Null: the service by itself.
  account_id      integer,
  request_id      text,
  action          text NOT NULL,
  entity          text NOT NULL,
  entity_id       text NOT NULL,
  before          jsonb,
  after           jsonb,
  PRIMARY KEY (organization_id, id)
);
CREATE INDEX audit_entry_entity ON audit_entry (organization_id, entity, entity_id, id);

-- The Idempotency-Key header: inserted by the statement that makes the change, so that the two stand or fall together;
-- the response follows. Where a crash came between them, the answer is made again from what was changed.
CREATE TABLE idempotency_key (
  organization_id integer NOT NULL,
  account_id      integer NOT NULL,
  key             text NOT NULL,
  request_hash    text NOT NULL,
  entity          text,
  entity_id       bigint,
  transaction_id  bigint,
  status          integer,
  response        text,
  created_at      timestamptz NOT NULL,
  PRIMARY KEY (organization_id, account_id, key)
);
CREATE INDEX idempotency_key_age ON idempotency_key (created_at);
