-- Customers by the words of their names, each after a space; only record systems send names.
-- The way back: DROP INDEX customer_words; and mark it rolled back, as docs/operating/recovery.md says.
CREATE INDEX customer_words ON customer USING gin ((' ' || lower(business_name)) gin_trgm_ops) WHERE business_name IS NOT NULL;
