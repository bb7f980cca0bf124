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
    /the journal: has \d+ postings, from 1 to \d+, and its head says \d+/,
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
    /transfers between accounts: are from version 1 to 2 on 2026-02-01, TZS, product 3: 500, and .* must be none/,
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
  [
    'another first open day',
    `UPDATE journal SET open_from = '2026-03-01'`,
    /the journal: is open from 2026-03-01, and by the closes from 2026-02-01/,
  ],
  [
    'no first open day',
    'UPDATE journal SET open_from = NULL',
    /the journal: is open from the beginning, and by the closes from 2026-02-01/,
  ],
  [
    'a journal beyond the seal',
    'UPDATE journal SET change_id = change_id + 100',
    /the journal: has come to change \d+, and the seal to \d+/,
  ],
  [
    'a journal that goes back',
    `UPDATE journal SET change_id = (SELECT min(change_id) FROM posting)`,
    /the journal: has come to change \d+, and has a posting of change \d+/,
  ],
  [
    'another number of the last event',
    'UPDATE journal SET sequence = sequence - 1',
    /the journal: has come to event \d+, and the last one up to its last change is \d+/,
  ],
  ['a walk that nothing began', 'UPDATE journal SET walked_to = 5', /the journal: has come to loan 5 of a walk/],
  [
    'another chart that counts',
    'UPDATE journal SET chart_version = 1',
    /the journal: has version 1 of the chart, and the trail has version 2/,
  ],
  ['a journal that is gone', 'DELETE FROM journal', /the journal: has postings, and no head/],
  [
    'a closed month that is gone',
    'DELETE FROM accounting_period',
    /month 2026-01: was closed by the trail, and is not among the months/,
  ],
  [
    'a closed month without its hash',
    'UPDATE accounting_period SET trial_balance_hash = NULL',
    /month 2026-01: is closed, and has no hash/,
  ],
  [
    'another number of a close',
    'UPDATE accounting_period SET close_sequence = close_sequence + 1',
    /month 2026-01: was closed at event \d+, and the event of its close is \d+/,
  ],
  [
    'another moment of a close',
    `UPDATE accounting_period SET closed_at = closed_at + interval '1 second'`,
    /month 2026-01: was closed at .*, and by the trail at/,
  ],
  [
    'a month closed by hand',
    `INSERT INTO accounting_period VALUES (1, '2026-02-01', now(), now(), 9, repeat('0', 64))`,
    /month 2026-02-01: has no close in the trail/,
  ],
  [
    'another day from which a chart counts',
    `UPDATE accounting_chart SET counts_from = NULL`,
    /version 2 of the chart: counts from the beginning, and by the closes it must count from 2026-02-01/,
  ],
  [
    'a chart that is not taken up',
    'UPDATE accounting_chart SET taken_up = false',
    /version 2 of the chart: is not taken up, and the journal has come to it/,
  ],
  ['a chart that is gone', 'DELETE FROM accounting_chart', /version 2 of the chart: was set by the trail/],
  [
    'a chart that is gone, and what closed months show with it',
    `DELETE FROM accounting_chart; UPDATE posting SET moved_from = 2, moved_to = 3, loan_id = NULL, booked_on = '2026-01-31' WHERE ${LAST}`,
    /month 2026-01: cannot be checked: a chart of version 2, which a posting names/,
  ],
  [
    'another number of a posting',
    `UPDATE posting SET sequence = sequence + 1 WHERE ${FIRST}`,
    /loan :loan: posting \d+ is numbered \d+, and the event of its change \d+/,
  ],
  [
    'a posting numbered before an earlier one',
    `UPDATE posting SET sequence = 0 WHERE kind = 'method_changed'`,
    /posting \d+: is numbered 0, and the one before it \d+/,
  ],
  [
    'another transaction of a posting',
    `UPDATE posting SET transaction_id = transaction_id + 1 WHERE ${LAST}`,
    /loan :loan: posting \d+ is of transaction \d+, and by the trail of \d+/,
  ],
  [
    'another moment of a posting',
    `UPDATE posting SET posted_at = posted_at + interval '1 second' WHERE ${FIRST}`,
    /loan :loan: posting \d+ was posted at .*, and by the trail the change was made at/,
  ],
  [
    'another kind of a posting',
    `UPDATE posting SET kind = 'refund' WHERE ${LAST}`,
    /loan :loan: posting \d+ is a refund, and by the trail a repayment/,
  ],
  [
    'a repayment of no change, moved to another open day',
    `UPDATE posting SET change_id = NULL, booked_on = '2026-02-20' WHERE ${LAST}`,
    /loan :loan: posting \d+ is of no change, and of the kind repayment/,
  ],
  [
    'a repayment of no change as one of another method',
    `UPDATE posting SET change_id = NULL, kind = 'method_changed' WHERE ${LAST}`,
    /loan :loan: posting \d+ is of another method, and the method is that of the posting before it/,
  ],
  [
    'a repayment of no change as an opening',
    `UPDATE posting SET change_id = NULL, kind = 'opening' WHERE ${LAST}`,
    /loan :loan: posting \d+ is of no change, and of the kind opening/,
  ],
  [
    'a posting of a change of something else',
    `UPDATE posting SET change_id = (SELECT min(id) FROM audit_entry WHERE organization_id = 1) WHERE ${LAST}`,
    /loan :loan: posting \d+ is of change \d+, which is no change of the loan/,
  ],
  [
    'two postings of the same change',
    `UPDATE posting SET change_id = (SELECT change_id FROM posting WHERE ${FIRST}) WHERE ${LAST}`,
    /loan :loan: posting \d+ is of change \d+, and a posting before it of that one or a later one/,
  ],
  [
    'another amount of provisions',
    `UPDATE posting SET provision_expense = 45001, loan_loss_allowance = -45001 WHERE kind = 'provision'`,
    /provisions of 2026-01-31, change \d+: have the postings TZS, product 3, .*,45001,-45001, and by the trail/,
  ],
  [
    'provisions that are gone',
    `DELETE FROM posting WHERE kind = 'provision'`,
    /provisions of 2026-01-31, change \d+: have the postings none, and by the trail they must be TZS, product 3, of 2026-01-31 on 2026-02-01/,
  ],
  [
    'provisions of another day',
    `UPDATE posting SET value_date = '2026-01-30' WHERE kind = 'provision'`,
    /provisions of 2026-01-31, change \d+: have the postings .* of 2026-01-30/,
  ],
  [
    'provisions as another kind',
    `UPDATE posting SET kind = 'chart_changed' WHERE kind = 'provision'`,
    /posting \d+: moves amounts to version none of the chart otherwise than the trail says/,
  ],
  [
    'provisions of a change of something else',
    `UPDATE posting SET change_id = (SELECT min(id) FROM audit_entry WHERE organization_id = 1) WHERE kind = 'provision'`,
    /posting \d+: is of change \d+, which books no provisions/,
  ],
]
