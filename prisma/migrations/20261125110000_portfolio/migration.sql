-- The sums of a portfolio at the end of a day, kept so that a question about a past day is answered at once. A kept day is a
-- cache: it can be deleted at any time, and is computed again when it is asked for.
CREATE TABLE portfolio_day (
  organization_id integer NOT NULL REFERENCES organization (id),
  policy_version integer NOT NULL,
  day date NOT NULL,
  computed_at timestamptz NOT NULL,
  -- The changes of the trail up to this one are in the sums, all of them.
  seen_to bigint NOT NULL,
  -- When a change that is dated on the day or before it was found; null: the sums are right.
  stale_at timestamptz,
  cells jsonb NOT NULL CHECK (jsonb_typeof(cells) = 'array'),
  PRIMARY KEY (organization_id, policy_version, day)
);

-- How far an organization's portfolio is kept.
CREATE TABLE portfolio_head (
  organization_id integer NOT NULL PRIMARY KEY REFERENCES organization (id),
  -- The changes of the trail up to this one have marked the days that they make stale.
  change_id bigint NOT NULL DEFAULT 0,
  -- The last day at whose beginning all changes of buckets were told; null: none.
  told_on date,
  -- The last day before which the days of the portfolio were kept; null: none.
  kept_on date
);

-- The bucket of a loan that was told last. A loan that is not here was told to be in the best one, or was never told.
CREATE TABLE loan_bucket (
  organization_id integer NOT NULL,
  loan_id bigint NOT NULL,
  bucket text NOT NULL CHECK (length(bucket) BETWEEN 1 AND 100),
  policy_version integer NOT NULL,
  told_on date NOT NULL,
  PRIMARY KEY (organization_id, loan_id)
);

-- The tables are new and empty: no row is written, and no table is read. The version before this one does not know them.
-- The way back: DROP TABLE loan_bucket, portfolio_head, portfolio_day; and mark it rolled back, as docs/operating/recovery.md
-- says. Nothing is lost but which changes of buckets were told.
