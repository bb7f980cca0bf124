-- Webhooks: the endpoints to which events are sent, the events that wait for another attempt, and what was attempted.
-- The version before this one knows none of the tables, and changes nothing in them.
-- The way back: DROP TABLE webhook_attempt, webhook_parked, webhook_endpoint; and mark it rolled back, as
-- docs/operating/recovery.md says.

CREATE TABLE webhook_endpoint (
  organization_id integer NOT NULL REFERENCES organization (id),
  id              bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  url             text NOT NULL,
  -- Types of events, `loan.*`, or `*`.
  types           text[] NOT NULL,
  -- The words of the events: `partner` or `record`.
  style           text NOT NULL,
  description     text NOT NULL,
  -- `active`, `backing_off` or `disabled`, and why it is not active.
  state           text NOT NULL,
  state_reason    text,
  -- Encrypted with KEY_ENCRYPTION_SECRET; the one before signs, too, until its time ends.
  secret          text NOT NULL,
  previous_secret text,
  previous_until  timestamptz,
  -- Every event up to this number was taken, given up or parked, or is of a type that the endpoint does not want.
  position        bigint NOT NULL,
  -- Failures in a row, without a success; and the step of the back-off.
  failures        integer NOT NULL,
  step            integer NOT NULL,
  -- Nothing is sent before.
  next_attempt_at timestamptz,
  -- Counts the changes by operators, for the process that holds the lease.
  version         integer NOT NULL,
  -- The process that sends, and until when no other may.
  leased_by       text,
  leased_until    timestamptz,
  -- Those that were sent to longest ago come first.
  last_leased_at  timestamptz,
  created_at      timestamptz NOT NULL,
  updated_at      timestamptz NOT NULL,
  PRIMARY KEY (organization_id, id)
);

-- Events that wait for another attempt, and those of the same subject behind them.
CREATE TABLE webhook_parked (
  organization_id integer NOT NULL,
  endpoint_id     bigint NOT NULL,
  sequence        bigint NOT NULL,
  -- The loan or the customer of the event.
  subject         text NOT NULL,
  type            text NOT NULL,
  -- Attempts so far.
  attempts        integer NOT NULL,
  -- Null: behind another event of its subject.
  next_attempt_at timestamptz,
  PRIMARY KEY (organization_id, endpoint_id, sequence),
  FOREIGN KEY (organization_id, endpoint_id) REFERENCES webhook_endpoint (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX webhook_parked_due ON webhook_parked (organization_id, endpoint_id, next_attempt_at);

CREATE TABLE webhook_attempt (
  organization_id integer NOT NULL,
  endpoint_id     bigint NOT NULL,
  id              bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  sequence        bigint NOT NULL,
  type            text NOT NULL,
  -- 1 is the first.
  attempt         integer NOT NULL,
  at              timestamptz NOT NULL,
  -- `delivered`, `waiting` for the next attempt, `retried` since, or `exhausted`.
  state           text NOT NULL,
  -- The status of the answer; null where there was none, and then the error says why.
  status          integer,
  ms              integer NOT NULL,
  error           text,
  next_attempt_at timestamptz,
  PRIMARY KEY (organization_id, endpoint_id, id),
  FOREIGN KEY (organization_id, endpoint_id) REFERENCES webhook_endpoint (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX webhook_attempt_state ON webhook_attempt (organization_id, endpoint_id, state, id);
