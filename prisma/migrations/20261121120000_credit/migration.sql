-- Credit decisions: scores, and limits that a statement raised.

-- How an organization scores, in its versions: append-only, the one that came last is in force. An organization that has
-- none goes by the default of its currency.
CREATE TABLE credit_policy (
  organization_id integer NOT NULL REFERENCES organization (id),
  version         text NOT NULL,
  arrival         bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  policy          jsonb NOT NULL,
  created_at      timestamptz NOT NULL,
  PRIMARY KEY (organization_id, version)
);
CREATE INDEX credit_policy_arrival ON credit_policy (organization_id, arrival);

-- What was decided of a customer, when, by which version of the policy and on which facts: append-only, and enough to
-- decide the same again. Amounts are text, in the organization's currency; nothing of a statement but its figures.
CREATE TABLE credit_decision (
  organization_id integer NOT NULL,
  id              bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  customer_id     bigint NOT NULL,
  at              timestamptz NOT NULL,
  kind            text NOT NULL CHECK (kind IN ('score', 'boost')),
  policy_version  text NOT NULL,
  inputs          jsonb NOT NULL,
  result          jsonb NOT NULL,
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, customer_id) REFERENCES customer (organization_id, id)
);
CREATE INDEX credit_decision_customer ON credit_decision (organization_id, customer_id, id);

-- Where a customer stands between decisions: what the last kept score was made of, and the limit that a statement raised.
-- When the next may do so follows from the day of the last and the cooldown in force.
CREATE TABLE credit_standing (
  organization_id integer NOT NULL,
  customer_id     bigint NOT NULL,
  -- SHA-256 over inputs and result of the last kept score; null: none yet.
  score_digest    text,
  -- Minor units of the organization's currency; null: no statement has raised it.
  boosted_limit   bigint CHECK (boosted_limit > 0),
  boosted_on      date,
  -- One more with every raise; whoever raises names the number he read.
  boosts          integer NOT NULL DEFAULT 0,
  PRIMARY KEY (organization_id, customer_id),
  FOREIGN KEY (organization_id, customer_id) REFERENCES customer (organization_id, id),
  CHECK ((boosted_limit IS NULL) = (boosted_on IS NULL))
);

-- Statements that raised a limit, so that none does twice, whoever sends it: known by the file's hash, and by a
-- fingerprint of its transactions. The file itself is kept nowhere.
CREATE TABLE credit_statement (
  organization_id integer NOT NULL,
  -- SHA-256, hexadecimal, both.
  hash            text NOT NULL,
  fingerprint     text NOT NULL,
  customer_id     bigint NOT NULL,
  decision_id     bigint NOT NULL,
  at              timestamptz NOT NULL,
  PRIMARY KEY (organization_id, hash),
  FOREIGN KEY (organization_id, customer_id) REFERENCES customer (organization_id, id)
);
CREATE UNIQUE INDEX credit_statement_fingerprint ON credit_statement (organization_id, fingerprint);

-- Whether a loan of the product may not be above what is available of the customer's credit limit.
ALTER TABLE loan_product ADD COLUMN enforce_credit_limit boolean NOT NULL DEFAULT false;
