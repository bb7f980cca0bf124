-- Who signed in, and who was refused: apart from the audit trail, which tells changes of the book, and bounded, since
-- callers without any account can add to it. Organization 0 has those of callers that were not identified.
-- The way back: DROP TABLE access_entry; and mark it rolled back, as docs/operating/recovery.md says.
CREATE TABLE access_entry (
  organization_id integer NOT NULL,
  id              bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  at              timestamptz NOT NULL,
  -- Null where nobody was identified.
  account_id      integer,
  -- `signed in`, or the code of the refusal.
  outcome         text NOT NULL,
  route           text NOT NULL,
  address         text NOT NULL,
  request_id      text NOT NULL,
  PRIMARY KEY (organization_id, id)
);
