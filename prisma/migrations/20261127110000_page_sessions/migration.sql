-- Sign-ins at the office pages. A session is known by the hash of its cookie, and ends with its account.
-- The way back: DROP TABLE page_session; and mark it rolled back, as docs/operating/recovery.md says.
CREATE TABLE page_session (
  organization_id integer NOT NULL,
  account_id integer NOT NULL,
  -- SHA-256 of the cookie's value, in hex digits.
  hash text NOT NULL UNIQUE,
  -- The secret from which the tokens of the session's forms are made.
  form_secret text NOT NULL,
  created_at timestamptz NOT NULL,
  -- The last request of a person; at most a minute old.
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, hash),
  FOREIGN KEY (organization_id, account_id) REFERENCES account (organization_id, id)
);
CREATE INDEX page_session_seen ON page_session (seen_at);
