/** What is planted in the journal, by SQL in which `:loan` is the id of a loan, and what `book check` says of it. */
type Fault = readonly [name: string, spoil: string, said: RegExp]

const FIRST = 'id = (SELECT min(id) FROM posting WHERE loan_id = :loan)'
const LAST = 'id = (SELECT max(id) FROM posting WHERE loan_id = :loan)'

export const JOURNAL_FAULTS: readonly Fault[] = [
  [
    'an amount moved between two accounts',
    `UPDATE posting SET cash = cash + 100, loan_portfolio = loan_portfolio - 100 WHERE ${FIRST}`,
    /loan :loan: posting \d+ has -599900 in cash, and it must be -600000 by what the loan contributes/,
  ],
  [
    'debits that are not credits',
    `ALTER TABLE posting DROP CONSTRAINT posting_balanced; UPDATE posting SET cash = cash + 1 WHERE ${FIRST}`,
    /loan :loan: posting \d+ has other debits than credits/,
  ],
  [
    'another contribution',
    `UPDATE posting SET contribution = '-600000,600000,,,,,-7,,,,,,,7' WHERE ${LAST}`,
    /loan :loan: posting \d+ leaves a contribution of .* by the balances in the trail/,
  ],
  [
    'no contribution',
    `UPDATE posting SET contribution = 'x' WHERE ${FIRST}`,
    /loan :loan: posting \d+ does not say what the loan contributes/,
  ],
  [
    'a posting that is gone',
    `DELETE FROM posting WHERE ${LAST}`,
    /loan :loan: its postings sum to .* by replay|the journal: has \d+ postings/,
  ],
  [
    'a posting twice',
    `INSERT INTO posting SELECT (p).* FROM (SELECT jsonb_populate_record(q, jsonb_build_object('id', q.id + 1000)) AS p
       FROM posting q WHERE q.${LAST}) AS copy`,
    /the journal: has \d+ postings, the last of which is \d+, and its head says \d+/,
  ],
  [
    'another value date',
    `UPDATE posting SET value_date = value_date - 1 WHERE ${FIRST}`,
    /loan :loan: posting \d+ counts from 2026-01-30, and by the trail from 2026-01-31/,
  ],
  [
    'a posting booked in a closed month',
    `UPDATE posting SET booked_on = value_date WHERE ${LAST}`,
    /loan :loan: posting \d+ is booked on 2026-01-31, and it must be on 2026-02-01/,
  ],
  [
    'another currency',
    `UPDATE posting SET currency = 'KES' WHERE ${FIRST}`,
    /posting \d+: is of loan :loan in KES, which is not there or is another/,
  ],
  [
    'another sum of a day',
    `UPDATE posting_day SET debit = debit + 5 WHERE slot = 'cash' AND booked_on = '2026-02-01'`,
    /the sum of cash booked on 2026-02-01: is \d+ in debits/,
  ],
  [
    'a sum of a day that is gone',
    `DELETE FROM posting_day WHERE slot = 'loan_portfolio' AND booked_on = '2026-01-31'`,
    /the sum of loan_portfolio booked on 2026-01-31: is not there in debits/,
  ],
  [
    'a sum of a day of which there is no posting',
    `INSERT INTO posting_day VALUES (1, '2026-01-31', '2026-01-31', 'KES', 1, 'cash', 5, 5)`,
    /the sum of cash booked on 2026-01-31: is 5 in debits and 5 in credits, and the postings sum to nothing/,
  ],
  [
    'an amount moved to another account by hand',
    `INSERT INTO posting (organization_id, id, sequence, product_id, currency, kind, value_date, booked_on, posted_at, moved_from, moved_to, cash)
     VALUES (1, 99, 1, 3, 'TZS', 'chart_changed', '2026-02-01', '2026-02-01', now(), 1, 2, 500)`,
    /transfers between accounts: are to version 2 on 2026-02-01, TZS, product 3: 500, and .* must be none/,
  ],
  [
    'another hash of a closed month',
    `UPDATE accounting_period SET trial_balance_hash = repeat('0', 64)`,
    /month 2026-01: was closed with the hash 0{64}, and its trial balance has [0-9a-f]{64}/,
  ],
  [
    'another chart than was set',
    `UPDATE accounting_chart SET chart = jsonb_set(chart, '{slots,cash}', '"1100"')`,
    /version 2 of the chart: is not what the trail says was set/,
  ],
]
