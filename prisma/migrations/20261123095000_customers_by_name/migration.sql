-- Customers by the beginning of a name, in lower case: the name that a partner sees of its own customers, and the name
-- that a record system gave. The order of the characters, not that of a language, is what a prefix needs.
-- The way back: DROP INDEX customer_display_name, customer_business_name; and mark it rolled back, as
-- docs/operating/recovery.md says.
CREATE INDEX customer_display_name ON customer (organization_id, lower(external_id || ' Customer') text_pattern_ops)
  WHERE external_id IS NOT NULL;
CREATE INDEX customer_business_name ON customer (organization_id, lower(business_name) text_pattern_ops)
  WHERE business_name IS NOT NULL;
