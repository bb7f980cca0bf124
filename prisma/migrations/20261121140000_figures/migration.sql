-- Totals of the book, for metrics and the operator's page: computed now and then by one instance for all, never by a
-- reader, so that looking costs one row however large the book is.
CREATE TABLE book_figures (
  organization_id integer NOT NULL PRIMARY KEY REFERENCES organization (id),
  computed_at     timestamptz NOT NULL,
  -- What it cost; the next time is put off in proportion.
  took_ms         integer NOT NULL,
  figures         jsonb NOT NULL
);

-- What was collected lately, without reading the rest: entries are appended in the order of time, and such an index
-- costs a posting next to nothing.
CREATE INDEX loan_entry_posted ON loan_entry USING brin (posted_at) WITH (pages_per_range = 32, autosummarize = on);
