-- The chain of changes, and the events that are told of them. Each row of the trail is sealed into the chain of its
-- organization, off the money path: one row of `event` for each event of a change, in the order of the trail.
-- The columns of the trail have no default, so no row is rewritten, and the version before this one goes on adding rows
-- without them.
-- The way back: DROP TABLE event, event_chain; ALTER TABLE audit_entry DROP COLUMN balances, DROP COLUMN consequences,
-- DROP COLUMN unannounced; and mark it rolled back, as docs/operating/recovery.md says.

-- Of a change of a loan: its balances after it, and the portions of the entry posted; in the text of the domain.
ALTER TABLE audit_entry ADD COLUMN balances text;
-- What followed from the change of a loan, such as loan.closed; types of events, separated by spaces.
ALTER TABLE audit_entry ADD COLUMN consequences text;
-- True: no receiver is told, as of an import of an old book.
ALTER TABLE audit_entry ADD COLUMN unannounced boolean;

CREATE TABLE event_chain (
  organization_id integer PRIMARY KEY,
  -- Changes up to this row of the trail are older than the events: they are sealed, and no receiver is told.
  opened_at_change bigint NOT NULL,
  -- The last row of the trail that was sealed, the last number of an event, and the last hash.
  change_id       bigint NOT NULL,
  sequence        bigint NOT NULL,
  hash            bytea NOT NULL,
  -- Names the secret of the chain, without telling it.
  key_id          text NOT NULL
);

CREATE TABLE event (
  organization_id integer NOT NULL,
  change_id       bigint NOT NULL,
  -- 0 is the change itself, 1 and so on what followed from it.
  part            integer NOT NULL,
  -- Null: no receiver is told of it.
  sequence        bigint,
  type            text NOT NULL,
  sealed_at       timestamptz NOT NULL,
  -- SHA-256 of the row that the change made true, and two bytes for each of its columns and those of the trail; null
  -- where it made none true.
  digest          bytea,
  marks           bytea NOT NULL,
  hash            bytea NOT NULL,
  PRIMARY KEY (organization_id, change_id, part)
);
CREATE UNIQUE INDEX event_sequence ON event (organization_id, sequence) WHERE sequence IS NOT NULL;

-- The trail of before: sealed by the service in the background, and not told.
INSERT INTO event_chain (organization_id, opened_at_change, change_id, sequence, hash, key_id)
SELECT o.id, (SELECT coalesce(max(id), 0) FROM audit_entry a WHERE a.organization_id = o.id), 0, 0, '', ''
FROM (SELECT id FROM organization UNION ALL SELECT 0) AS o;
