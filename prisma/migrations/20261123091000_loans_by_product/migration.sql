-- Loans of a product in the order in which they came.
-- The way back: DROP INDEX loan_product_arrival; and mark it rolled back, as docs/operating/recovery.md says.
CREATE INDEX loan_product_arrival ON loan (organization_id, product_id, arrival);
