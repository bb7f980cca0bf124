-- Pending actions, months, codes of documents and the access trail are evidence: what they say of a live organization can neither
-- be changed nor deleted by the service. A test organization's can go, when it is emptied.
-- The way back: DROP TRIGGER pending_action_kept ON pending_action; DROP TRIGGER pending_action_ended ON pending_action; DROP TRIGGER
-- accounting_period_kept ON accounting_period; DROP TRIGGER accounting_period_closed ON accounting_period; DROP TRIGGER document_kept
-- ON document; DROP TRIGGER document_unchanged ON document; DROP TRIGGER access_entry_unchanged ON access_entry; DROP FUNCTION
-- refuse_to_delete, refuse_to_change, purge_access_entries; and mark it rolled back, as docs/operating/recovery.md says.

CREATE FUNCTION refuse_to_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM organization WHERE id = OLD.organization_id AND mode = 'test') THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'rows of % are kept: only those of a test organization can be deleted', TG_TABLE_NAME
    USING ERRCODE = 'check_violation';
END $$;

CREATE FUNCTION refuse_to_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'this row of % cannot be changed any more', TG_TABLE_NAME USING ERRCODE = 'check_violation';
END $$;

CREATE TRIGGER pending_action_kept BEFORE DELETE ON pending_action FOR EACH ROW EXECUTE FUNCTION refuse_to_delete();
CREATE TRIGGER pending_action_ended BEFORE UPDATE ON pending_action
  FOR EACH ROW WHEN (OLD.state <> 'pending') EXECUTE FUNCTION refuse_to_change();
CREATE TRIGGER accounting_period_kept BEFORE DELETE ON accounting_period FOR EACH ROW EXECUTE FUNCTION refuse_to_delete();
CREATE TRIGGER accounting_period_closed BEFORE UPDATE ON accounting_period
  FOR EACH ROW WHEN (OLD.closed_at IS NOT NULL) EXECUTE FUNCTION refuse_to_change();
CREATE TRIGGER document_kept BEFORE DELETE ON document FOR EACH ROW EXECUTE FUNCTION refuse_to_delete();
CREATE TRIGGER document_unchanged BEFORE UPDATE ON document FOR EACH ROW EXECUTE FUNCTION refuse_to_change();
CREATE TRIGGER access_entry_unchanged BEFORE UPDATE ON access_entry FOR EACH ROW EXECUTE FUNCTION refuse_to_change();

-- The service may not delete entries of the access trail; this function may, as its owner, and it leaves the newest ones.
CREATE FUNCTION purge_access_entries(most integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  purged bigint;
BEGIN
  IF most < 10000 THEN
    RAISE EXCEPTION 'the newest 10,000 entries of each organization are kept' USING ERRCODE = 'check_violation';
  END IF;
  WITH whose AS (SELECT id FROM organization UNION ALL SELECT 0), last AS (
    SELECT whose.id AS organization_id, (
      SELECT a.id FROM access_entry a WHERE a.organization_id = whose.id ORDER BY a.id DESC OFFSET most LIMIT 1) AS id
    FROM whose
  )
  DELETE FROM access_entry USING last
  WHERE access_entry.organization_id = last.organization_id AND access_entry.id <= last.id;
  GET DIAGNOSTICS purged = ROW_COUNT;
  RETURN purged;
END $$;
REVOKE EXECUTE ON FUNCTION purge_access_entries(integer) FROM PUBLIC;
DO $$ BEGIN
  EXECUTE format('ALTER FUNCTION purge_access_entries(integer) SET search_path = %I, pg_temp', current_schema());
  EXECUTE format('ALTER FUNCTION refuse_to_delete() SET search_path = %I, pg_temp', current_schema());
END $$;
