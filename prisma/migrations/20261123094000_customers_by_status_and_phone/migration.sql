-- Customers of a status in the order in which they came, and customers by their phone number.
-- The way back: DROP INDEX customer_status, customer_phone; and mark it rolled back, as docs/operating/recovery.md says.
CREATE INDEX customer_status ON customer (organization_id, status, arrival);
CREATE INDEX customer_phone ON customer (organization_id, phone) WHERE phone IS NOT NULL;
