/** What is planted, by SQL in which `:name` is an id of the test, and what `book check` says of it. */
type Fault = readonly [name: string, spoil: string, said: RegExp]

/** Terms and entries of a loan that do not follow from what they must. */
export const TERM_FAULTS: readonly Fault[] = [
  [
    'another currency',
    `UPDATE loan SET currency = 'KES' WHERE id = :plain`,
    /loan :plain: currency is KES, and by product 3 it is TZS/,
  ],
  [
    'another rate',
    'UPDATE loan SET rate_per_period = 1 WHERE id = :plain',
    /loan :plain: rate_per_period is 1, and by product 3 it is 5000000/,
  ],
  [
    'another principal, and a schedule that sums to it',
    `UPDATE loan SET principal = principal + 100 WHERE id = :plain;
     UPDATE loan_period SET principal = principal + 100 WHERE loan_id = :plain AND period = 6`,
    /loan :plain: instalment 1 is 1000000 \+ 300000 .*, and by product 3 it is 1000017 \+ 300005/,
  ],
  [
    'a principal beyond the product',
    'UPDATE loan_product SET principal_max = 200000 WHERE id = 3',
    /loan :plain: principal is 6000000, and product 3 lends 100000 to 200000/,
  ],
  [
    'interest moved between instalments',
    'UPDATE loan_period SET interest = interest + CASE period WHEN 2 THEN 5 ELSE -5 END WHERE loan_id = :plain AND period IN (2, 3)',
    /loan :plain: instalment 2 is 1000000 \+ 300005 .*, and by product 3 it is 1000000 \+ 300000/,
  ],
  [
    'an instalment due a day later',
    `UPDATE loan_period SET due_date = due_date + 1 WHERE loan_id = :plain AND period = 2`,
    /loan :plain: instalment 2 is .* to 2026-04-01, and by product 3 it is .* to 2026-03-31/,
  ],
  [
    'due at another time of day',
    `UPDATE loan SET due_at = due_at + interval '1 hour' WHERE id = :plain`,
    /loan :plain: due_at is 2026-07-31T07:30:00(\.\d{3}Z), and by product 3 it is 2026-07-31T06:30:00\1$/,
  ],
  [
    'disbursed on another day',
    'UPDATE loan SET disbursed_on = disbursed_on - 1 WHERE id = :plain',
    /loan :plain: disbursed_on is 2026-01-30, and by product 3 it is 2026-01-31/,
  ],
  [
    'no penalty where the product has one',
    'UPDATE loan SET penalty_amount = NULL WHERE id = :penalized',
    /loan :penalized: penalty_amount is none, and by product 2 it is 600000/,
  ],
  [
    'a penalty where the product has none',
    'UPDATE loan SET penalty_amount = 5 WHERE id = :plain',
    /loan :plain: penalty_amount is 5, and by product 3 it is none/,
  ],
  [
    'another rate in what a record system sent',
    `UPDATE loan SET record = jsonb_set(record, '{extended,loan_interest}', '"3"') WHERE id = :extended`,
    /loan :extended: rate_per_period is 2500000, and by what the record system sent it is 3000000/,
  ],
  [
    'another principal of a basic loan, and a schedule that sums to it',
    `UPDATE loan SET principal = principal + 100 WHERE id = :basic;
     UPDATE loan_period SET principal = principal + 100 WHERE loan_id = :basic`,
    /loan :basic: 500100 were owed when it was made, and the trail says 500000/,
  ],
  [
    'other terms than the last update agreed',
    `UPDATE audit_entry SET after = jsonb_set(after, '{principal}', '1200000') WHERE entity_id = :'extended' AND action = 'update'`,
    /loan :extended: it is a loan of 1300000 from 2026-01-31 to \S+, and the trail says of 1200000/,
  ],
  [
    'another due date in the terms before a change',
    `UPDATE loan_earlier_terms SET terms = replace(terms, '2026-02-28', '2026-02-27') WHERE loan_id = :extended`,
    /loan_earlier_terms :extended\/1: is not what the trail says of the terms before a change/,
  ],
  [
    'terms before a change that lasted longer',
    `UPDATE loan_earlier_terms SET until = until + interval '1 hour' WHERE loan_id = :extended`,
    /loan_earlier_terms :extended\/1: is not what the trail says of the terms before a change/,
  ],
  [
    'terms before a change that are gone',
    'DELETE FROM loan_earlier_terms WHERE loan_id = :extended',
    /loan_earlier_terms :extended\/1: is not there, and the trail says that the terms before a change were kept/,
  ],
  [
    'terms before a change that was never made',
    'INSERT INTO loan_earlier_terms SELECT organization_id, :basic, version, until, terms FROM loan_earlier_terms',
    /loan_earlier_terms :basic\/1: is not what the trail says of the terms before a change/,
  ],
  [
    'neither a product nor other terms',
    'UPDATE loan SET product_id = NULL WHERE id = :plain',
    /loan :plain: it has neither a product nor the terms of a record system/,
  ],
  [
    'a value date in the future',
    'UPDATE loan_entry SET value_date = value_date + 400 WHERE id = :entry',
    /loan :plain: entry :entry is dated 2027-03-07, after the day it was posted, 2026-01-31/,
  ],
  [
    'a value date before disbursement',
    'UPDATE loan_entry SET value_date = value_date - 1 WHERE id = :entry',
    /loan :plain: entry :entry is dated before disbursement/,
  ],
  [
    'reversed at another moment than the trail says',
    `UPDATE loan_entry SET reversed_at = posted_at - interval '1 day' WHERE id = :wrong`,
    /loan :plain: the trail says that entry :wrong was reversed at \d+, and it is marked \d+/,
  ],
  [
    'reversed before it was posted',
    `WITH gone AS (DELETE FROM audit_entry WHERE entity_id = :'plain' AND action = 'reverse' RETURNING *)
     INSERT INTO audit_entry OVERRIDING SYSTEM VALUE
       SELECT (jsonb_populate_record(NULL::audit_entry, to_jsonb(gone) || '{"id": -1}')).* FROM gone`,
    /loan :plain: entry :wrong is reversed before it was posted/,
  ],
  [
    'a charge-off marked with another amount',
    'UPDATE loan_entry SET amount = amount - 1 WHERE id = :chargeOff',
    /loan :off: the charge-off :chargeOff is marked with 6499999, and 6500000 was owed/,
  ],
]

/** Rows that refer to nothing, and those that the audit trail or a key tells otherwise of. */
export const BOOK_FAULTS: readonly Fault[] = [
  [
    'entries without a loan',
    'DELETE FROM loan WHERE id = :plain',
    /loan :plain: is not there, and entry :entry is of it/,
  ],
  [
    'instalments without a loan',
    'DELETE FROM loan WHERE id = :plain',
    /loan :plain: is not there, and instalment 1 is of it/,
  ],
  ['a loan without a customer', 'DELETE FROM customer WHERE id = 7', /loan :basic: is of customer 7, who is not there/],
  [
    'a loan without its product',
    'DELETE FROM loan_product WHERE id = 3',
    /loan :plain: has the product 3, which is not there/,
  ],
  [
    'a customer without an organization',
    'UPDATE customer SET organization_id = 99 WHERE id = 7',
    /customer 7: is of an organization that is not there/,
  ],
  [
    'a loan without an organization',
    'UPDATE loan SET organization_id = 99 WHERE id = :basic',
    /loan :basic: is of an organization that is not there/,
  ],
  [
    'a product without an organization',
    'UPDATE loan_product SET organization_id = 99 WHERE organization_id = 1 AND id = 4',
    /loan product 4: is of an organization that is not there/,
  ],
  [
    'an account without an organization',
    'UPDATE account SET organization_id = 99',
    /account \d+: is of an organization that is not there/,
  ],
  [
    'an entry of an account that is not there',
    'UPDATE loan_entry SET account_id = 77 WHERE id = :entry',
    /entry :entry: was posted by account 77, which is not there/,
  ],
  [
    'a credit decision without a customer',
    'UPDATE credit_decision SET customer_id = 77',
    /credit decision \d+: is about customer 77, who is not there/,
  ],

  [
    'a loan that the trail does not know',
    `DELETE FROM audit_entry WHERE entity_id = :'plain' AND action = 'create'`,
    /loan :plain: the trail says 0 times that it was made/,
  ],
  [
    'a loan of another customer than the trail says',
    'UPDATE loan SET customer_id = 7 WHERE id = :plain',
    /loan :plain: its customer is 7, and the trail says \d+/,
  ],
  [
    'a loan of another product than the trail says',
    'UPDATE loan SET product_id = 4 WHERE id = :plain',
    /loan :plain: its product is 4, and the trail says 3/,
  ],
  [
    'an entry that the trail does not know',
    `DELETE FROM audit_entry WHERE change #>> '{posted,id}' = :'entry'`,
    /loan :plain: entry :entry is not in the trail/,
  ],
  [
    'an entry of another amount than the trail says',
    'UPDATE loan_entry SET amount = 399999 WHERE id = :entry',
    /loan :plain: entry :entry is a Repayment of 399999 on 2026-01-31, and the trail says a Repayment of 400000/,
  ],
  [
    'an entry with another note than the trail says',
    `UPDATE loan_entry SET note = 'cash' WHERE id = :entry`,
    /loan :plain: entry :entry is a Repayment of 400000 on 2026-01-31 with the note "cash", and the trail says/,
  ],
  [
    'an entry that is gone',
    'DELETE FROM loan_entry WHERE id = :entry',
    /loan :plain: the trail says that entry :entry was posted, and it is not there/,
  ],
  [
    'a reversal that the trail does not know',
    `UPDATE loan_entry SET reversed_at = posted_at + interval '1 hour' WHERE id = :entry`,
    /loan :plain: entry :entry is reversed, and the trail does not say so/,
  ],
  [
    'a reversal that was taken off',
    'UPDATE loan_entry SET reversed_at = NULL WHERE id = :wrong',
    /loan :plain: the trail says that entry :wrong was reversed at \d+, and it is marked as posted/,
  ],
  [
    'one change in the trail twice',
    `INSERT INTO audit_entry (organization_id, at, action, entity, entity_id, change)
     SELECT organization_id, at, action, entity, entity_id, change FROM audit_entry WHERE change #>> '{posted,id}' = :'entry'`,
    /loan :plain: the trail says twice that entry :entry was posted/,
  ],
  [
    'a version that no change made',
    'UPDATE loan SET version = 9 WHERE id = :plain',
    /loan :plain: version is 9, and the trail has 4 rows/,
  ],
  [
    'a loan of which only the trail knows',
    'DELETE FROM loan WHERE id = :basic',
    /loan :basic: is not there, and the trail says that it was made/,
  ],
  [
    'a customer of whom only the trail knows',
    'DELETE FROM customer WHERE id = 7',
    /customer 7: is not there, and the trail says that it was made/,
  ],
  [
    'a customer whom the trail does not know',
    `DELETE FROM audit_entry WHERE entity = 'customer' AND entity_id = '7'`,
    /customer 7: is not in the trail/,
  ],
  [
    'a customer under another externalId',
    `UPDATE customer SET external_id = 'juma' WHERE external_id = 'asha'`,
    /customer \d+: has another externalId than its words, which are sealed/,
  ],
  [
    'a customer with other words than its trail',
    `UPDATE customer SET words = (SELECT words FROM customer WHERE id = 7) WHERE external_id = 'asha'`,
    /customer \d+: has not the words that the trail says/,
  ],
  [
    'a customer with the hashes of another person',
    `UPDATE customer SET identity_hashes = '{7}' WHERE external_id = 'asha'`,
    /customer \d+: has other hashes than its identity/,
  ],
  [
    'a customer of another status',
    `UPDATE customer SET status = 'Pending' WHERE id = 7`,
    /customer 7: is Pending, and the trail says Active/,
  ],

  [
    'a key of a loan that is not there',
    'UPDATE idempotency_key SET entity_id = 77',
    /loan 77: is not there, and an Idempotency-Key of account \d+ names it/,
  ],
  [
    'a key of a customer who is not there',
    `UPDATE idempotency_key SET entity = 'customer', entity_id = 77`,
    /customer 77: is not there, and an Idempotency-Key/,
  ],
  [
    'a key of an entry that is not there',
    'UPDATE idempotency_key SET transaction_id = 77',
    /loan :plain: has no entry 77, and an Idempotency-Key/,
  ],
  [
    'a key of an account that did not post its entry',
    'UPDATE idempotency_key SET account_id = 77',
    /loan :plain: 1 Idempotency-Key of account 77 names its entry :entry, and by the trail that account made 0 such/,
  ],
]
