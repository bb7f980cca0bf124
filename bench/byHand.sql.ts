// The statements of the floor. Same tables, same indexes, same audit row, one commit a write.

export const READ_LOAN = `
  SELECT l.version, l.total_paid, l.total_overpaid, l.disbursed_on::text,
    (SELECT json_agg(json_build_array(s.due_date, s.principal, s.interest) ORDER BY s.period)
       FROM loan_period s WHERE s.organization_id = l.organization_id AND s.loan_id = l.id) AS periods
  FROM loan l WHERE l.organization_id = $1 AND l.id = $2`

export const SAVE_REPAYMENT = `
  WITH saved AS (
    UPDATE loan SET version = version + 1, updated_at = $4, entry_count = entry_count + 1, status = $5,
      principal_outstanding = $6, interest_outstanding = $7, total_paid = $8, total_overpaid = $9, total_overdue = $10,
      next_due_on = $11, overdue_since = $12, closed_on = $13
    WHERE organization_id = $1 AND id = $2 AND version = $3
    RETURNING id, entry_count
  ), posted AS (
    INSERT INTO loan_entry (organization_id, loan_id, ordinal, place, type, value_date, posted_at, amount, token, account_id)
    SELECT $1, id, entry_count, entry_count, 'Repayment', $14, $4, $15, $16, $17 FROM saved
    RETURNING id
  ), audited AS (
    INSERT INTO audit_entry (organization_id, at, account_id, request_id, action, entity, entity_id, before, after)
    SELECT $1, $4, $17, $18, 'Repayment', 'loan', id::text, $19::jsonb, $20::jsonb FROM saved
  )
  SELECT id FROM posted`

export const READ_OFFER = `
  SELECT c.id AS customer_id, c.status AS customer_status, p.currency, p.number_of_repayments, p.rate_per_period,
    p.total_multiple_of
  FROM customer c JOIN loan_product p ON p.organization_id = c.organization_id
  WHERE c.organization_id = $1 AND c.external_id = $2 AND p.id = $3`

export const SAVE_LOAN = `
  WITH made AS (
    INSERT INTO loan (organization_id, customer_id, product_id, external_id, currency, principal, number_of_repayments,
                      rate_per_period, disbursed_at, disbursed_on, due_on, due_at, status, principal_outstanding,
                      interest_outstanding, next_due_on, next_change_at, created_at, updated_at, account_no)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'Active', $6, $13, $14, $15, $9, $9, nextval('loan_id_seq'))
    RETURNING id
  ), periods AS (
    INSERT INTO loan_period (organization_id, loan_id, period, from_date, due_date, principal, interest)
    SELECT $1, made.id, s.* FROM made,
      unnest($16::int[], $17::date[], $18::date[], $19::bigint[], $20::bigint[]) AS s
  ), audited AS (
    INSERT INTO audit_entry (organization_id, at, account_id, request_id, action, entity, entity_id, after)
    SELECT $1, $9, $21, $22, 'create', 'loan', id::text, $23::jsonb FROM made
  )
  SELECT id FROM made`

const SCHEDULE = `
  (SELECT json_agg(json_build_array(s.period, s.from_date, s.due_date, s.principal, s.interest, s.fees) ORDER BY s.period)
     FROM loan_period s WHERE s.organization_id = l.organization_id AND s.loan_id = l.id) AS periods`

export const READ_SINGLE = `
  SELECT l.*, c.external_id AS customer_external_id, p.name AS product_name, ${SCHEDULE},
    (SELECT json_agg(json_build_array(e.id, e.type, e.value_date, e.posted_at, e.amount, e.token, e.reversed_at)
                     ORDER BY e.ordinal DESC)
       FROM loan_entry e WHERE e.organization_id = l.organization_id AND e.loan_id = l.id) AS entries
  FROM loan l
  JOIN customer c ON c.organization_id = l.organization_id AND c.id = l.customer_id
  LEFT JOIN loan_product p ON p.organization_id = l.organization_id AND p.id = l.product_id
  WHERE l.organization_id = $1 AND l.id = $2`

export const READ_PAGE = `
  SELECT l.*, c.external_id AS customer_external_id, p.name AS product_name, ${SCHEDULE},
    (SELECT count(*) FROM loan WHERE organization_id = $1) AS total
  FROM (SELECT * FROM loan WHERE organization_id = $1 ORDER BY id LIMIT $2 OFFSET $3) l
  JOIN customer c ON c.organization_id = l.organization_id AND c.id = l.customer_id
  LEFT JOIN loan_product p ON p.organization_id = l.organization_id AND p.id = l.product_id
  ORDER BY l.id`

export const READ_SCORECARD = `
  SELECT c.id, c.external_id,
    coalesce(sum(l.principal_outstanding + l.interest_outstanding + l.fees_outstanding + l.penalty_outstanding), 0) AS owed,
    coalesce(sum(l.total_paid), 0) AS paid, count(l.id) AS loans
  FROM customer c LEFT JOIN loan l ON l.organization_id = c.organization_id AND l.customer_id = c.id
  WHERE c.organization_id = $1 AND c.external_id = $2
  GROUP BY c.organization_id, c.id`
