-- Settings of an organization: what its documents say of the lender, and the amount above which a reversal, an adjustment, a
-- write-off and a waiver wait for a second ADMIN.
ALTER TABLE organization
  ADD COLUMN legal_name text,
  ADD COLUMN licence_number text,
  -- Minor units of the currency of the organization; null: nothing waits.
  ADD COLUMN approval_above bigint CHECK (approval_above >= 0);

-- A table of its own: the row of an organization is read for every repayment.
CREATE TABLE organization_logo (
  organization_id integer NOT NULL PRIMARY KEY REFERENCES organization (id),
  type text NOT NULL CHECK (type IN ('image/png', 'image/jpeg')),
  content bytea NOT NULL CHECK (octet_length(content) BETWEEN 1 AND 65536)
);

-- The columns may be null and have no default, so that no row is written, and the check reads the organizations only, which
-- are few. The version before this one neither reads nor writes them.
-- The way back: DROP TABLE organization_logo; ALTER TABLE organization DROP COLUMN legal_name, DROP COLUMN licence_number, DROP
-- COLUMN approval_above; and mark it rolled back, as docs/operating/recovery.md says. An organization whose name, licence number
-- or amount was sealed is then reported by book check as of a later version.
