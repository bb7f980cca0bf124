-- By which rules a lender says how late a loan is, in their versions: append-only, the highest one is in force. A lender that
-- has none goes by the preset `par`. The table is new, and the version before this one reads and writes nothing of it: its
-- arrears are by presets alone. Set a policy once no instance of it runs: it would seal the change without its row. The foreign key locks `organization` against writes for a moment, and reads a small table.
-- The way back, where no policy was set: DROP TABLE delinquency_policy; and mark it rolled back, as
-- docs/operating/recovery.md says. Otherwise keep the table: the trail and its seal name the rows.
CREATE TABLE delinquency_policy (
  organization_id integer NOT NULL REFERENCES organization (id),
  -- From 1 on, without a gap.
  version         integer NOT NULL CHECK (version > 0),
  -- The preset that was set by its name; null: rules of the lender's own.
  name            text,
  -- The rules in full, also of a preset: a later version of the service may have other figures under its name.
  rules           jsonb NOT NULL CHECK (jsonb_typeof(rules) = 'object'),
  created_at      timestamptz NOT NULL,
  PRIMARY KEY (organization_id, version)
);
