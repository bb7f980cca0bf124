-- The terms that a loan had before a record system changed them: what was known of a loan at an instant is answered by the
-- terms of then. A row is written with the change, which keeps the SHA-256 of the text in its row of the trail. The table is
-- new, and the version before this one neither reads nor writes it: of a change that it makes the earlier terms are not kept.
-- The way back: DROP TABLE loan_earlier_terms; and mark it rolled back, as docs/operating/recovery.md says. What was known
-- before a change is then not answered any more, and the check of the book, if a later version makes the table again, names
-- the changes whose rows are gone.
CREATE TABLE loan_earlier_terms (
  organization_id integer NOT NULL,
  loan_id         bigint NOT NULL,
  -- The last version of the loan that had the terms.
  version         integer NOT NULL,
  -- When they were changed.
  until           timestamptz NOT NULL,
  -- The terms and the schedule, in the text of the domain.
  terms           text NOT NULL,
  PRIMARY KEY (organization_id, loan_id, version)
);
