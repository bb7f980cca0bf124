-- Test organizations, whose business has a clock of its own. The mode of an organization is chosen when it is made.
ALTER TABLE organization ADD COLUMN mode text NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'test'));
ALTER TABLE organization ADD CONSTRAINT organization_mode UNIQUE (id, mode);

CREATE FUNCTION refuse_another_mode() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the mode of an organization is fixed when it is made' USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER organization_mode_fixed BEFORE UPDATE OF mode ON organization
  FOR EACH ROW WHEN (OLD.mode IS DISTINCT FROM NEW.mode) EXECUTE FUNCTION refuse_another_mode();

-- The clock of a test organization. A live one cannot have any: the key names the mode as well.
CREATE TABLE test_clock (
  organization_id integer NOT NULL PRIMARY KEY,
  mode text NOT NULL DEFAULT 'test' CHECK (mode = 'test'),
  -- The moment at which the clock stands; null: it runs with the clock of the machine.
  stands_at timestamptz,
  FOREIGN KEY (organization_id, mode) REFERENCES organization (id, mode)
);

-- The chain of a test organization that was emptied begins again, and the numbers of its events go on after this one.
ALTER TABLE event_chain ADD COLUMN begins_after bigint NOT NULL DEFAULT 0;

-- Empties a test organization. The service's role may not delete rows of the trail or of the entries: this function may,
-- as its owner, and it does so for a test organization only. Every table is named with its schema, so that no temporary
-- table can stand in its place.
CREATE FUNCTION empty_test_organization(emptied integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  last_change bigint;
BEGIN
  PERFORM FROM test_clock WHERE organization_id = emptied FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'organization % is not a test organization', emptied USING ERRCODE = 'check_violation';
  END IF;
  -- No job numbers, posts or tells meanwhile what is being deleted.
  PERFORM FROM event_chain WHERE organization_id = emptied FOR UPDATE;
  PERFORM FROM journal WHERE organization_id = emptied FOR UPDATE;
  PERFORM FROM portfolio_head WHERE organization_id = emptied FOR UPDATE;

  DELETE FROM webhook_attempt WHERE organization_id = emptied;
  DELETE FROM webhook_parked WHERE organization_id = emptied;
  DELETE FROM posting_day WHERE organization_id = emptied;
  DELETE FROM posting WHERE organization_id = emptied;
  DELETE FROM accounting_period WHERE organization_id = emptied;
  DELETE FROM accounting_chart WHERE organization_id = emptied;
  DELETE FROM journal WHERE organization_id = emptied;
  DELETE FROM loan_bucket WHERE organization_id = emptied;
  DELETE FROM portfolio_day WHERE organization_id = emptied;
  DELETE FROM portfolio_head WHERE organization_id = emptied;
  DELETE FROM delinquency_policy WHERE organization_id = emptied;
  DELETE FROM book_figures WHERE organization_id = emptied;
  DELETE FROM book_import WHERE organization_id = emptied;
  DELETE FROM idempotency_key WHERE organization_id = emptied;
  DELETE FROM loan_entry WHERE organization_id = emptied;
  DELETE FROM loan_period WHERE organization_id = emptied;
  DELETE FROM loan_earlier_terms WHERE organization_id = emptied;
  DELETE FROM loan WHERE organization_id = emptied;
  DELETE FROM credit_statement WHERE organization_id = emptied;
  DELETE FROM credit_standing WHERE organization_id = emptied;
  DELETE FROM credit_decision WHERE organization_id = emptied;
  DELETE FROM credit_policy WHERE organization_id = emptied;
  DELETE FROM customer WHERE organization_id = emptied;

  DELETE FROM event WHERE organization_id = emptied;
  DELETE FROM audit_entry WHERE organization_id = emptied
    AND entity NOT IN ('organization', 'account', 'api key', 'loan product', 'webhook endpoint');
  SELECT coalesce(max(id), 0) INTO last_change FROM audit_entry WHERE organization_id = emptied;
  UPDATE event_chain SET opened_at_change = last_change, change_id = 0, begins_after = sequence, hash = '', key_id = ''
    WHERE organization_id = emptied;
  -- The version tells the process that sends to the endpoint that its place is another one.
  UPDATE webhook_endpoint SET position = c.sequence, version = version + 1, leased_by = NULL, leased_until = NULL
    FROM event_chain c
    WHERE webhook_endpoint.organization_id = emptied AND c.organization_id = emptied;
  UPDATE test_clock SET stands_at = NULL WHERE organization_id = emptied;
END $$;
REVOKE EXECUTE ON FUNCTION empty_test_organization(integer) FROM PUBLIC;
DO $$ BEGIN
  EXECUTE format('ALTER FUNCTION empty_test_organization(integer) SET search_path = %I, pg_temp', current_schema());
END $$;

-- The columns have constant defaults, so that no row is written, and the check reads the organizations only, which are few.
-- The version before this one makes live organizations. Do not make a test organization while it still serves: it knows of
-- no test clock.
-- The way back: DROP FUNCTION empty_test_organization; ALTER TABLE event_chain DROP COLUMN begins_after; DROP TABLE
-- test_clock; DROP TRIGGER organization_mode_fixed ON organization; DROP FUNCTION refuse_another_mode; ALTER TABLE
-- organization DROP CONSTRAINT organization_mode, DROP COLUMN mode; and mark it rolled back, as docs/operating/recovery.md
-- says. Test organizations are live ones then: disable their accounts before.
