/**
 * A fault of a restructured loan or of a top-up: what is planted, by SQL in which `:name` is an id of the test; what `book check` says by
 * arithmetic alone, on a book that is not sealed; and what the seal says. Null: that one does not find it.
 */
export interface RestructureFault {
  readonly name: string
  readonly spoil: string
  readonly computed: RegExp | null
  readonly sealed: RegExp | null
}

/** Changes the text of the restructure of an entry. */
const text = (id: string, from: string, to: string): string =>
  `UPDATE loan_entry SET restructure = replace(restructure, '${from}', '${to}') WHERE id = ${id}`

const SEALED_TEXT = (id: string) => new RegExp(`^loan_entry ${id}: restructure is not what change \\d+ sealed$`, 'm')
const sealedColumn = (id: string, column: string) =>
  new RegExp(`^loan_entry ${id}: ${column} is not what change \\d+ sealed$`, 'm')

/** The entry of a restructure, and those that were posted with it. */
const ENTRY_FAULTS: readonly RestructureFault[] = [
  {
    name: 'a longer holiday',
    spoil: text(':holiday', ' 1 ', ' 2 '),
    computed:
      /^loan :moved: entry :holiday is a Restructure of \d+ .*, which is a holiday of 2 periods .*, and the trail says .*, which is a holiday of 1 period for hardship/m,
    sealed: SEALED_TEXT(':holiday'),
  },
  {
    name: 'another kind of change',
    spoil: text(':holiday', 'postponeBy 1', 'numberOfRepayments 5'),
    computed: /^loan :moved: entry :holiday is .*, which is a division into 5 instalments for hardship/m,
    sealed: SEALED_TEXT(':holiday'),
  },
  {
    name: 'another first due date',
    spoil: text(':early', '2026-04-15', '2026-04-20'),
    computed:
      /^loan :twice: entry :early is .*, which is a first due date on 2026-04-20 .*, and the trail says .* 2026-04-15/m,
    sealed: SEALED_TEXT(':early'),
  },
  {
    name: 'another distance of the instalments',
    spoil: text(':early', '1/months', '2/months'),
    computed: /^loan :twice: entry :early is .*, of instalments 2 months apart, and the trail says .* 1 month apart/m,
    sealed: SEALED_TEXT(':early'),
  },
  {
    name: 'no interest for the added time',
    spoil: text(':holiday', ' keep ', ' none '),
    computed: /^loan :moved: the restructure :holiday is marked with \d+, and 0 was added/m,
    sealed: SEALED_TEXT(':holiday'),
  },
  {
    name: 'another rate of interest for the added time',
    spoil: text(':holiday', ' keep ', ' 9000000/month '),
    computed:
      /^loan :moved: entry :holiday is .*, with interest of 9 percent a month, .*, with interest by the rate of the loan/m,
    sealed: SEALED_TEXT(':holiday'),
  },
  {
    name: 'another reason, from which arrears follow',
    spoil: text(':holiday', ' hardship', ' error'),
    computed: /^loan :moved: entry :holiday is .* for error, .*, and the trail says .* for hardship/m,
    sealed: SEALED_TEXT(':holiday'),
  },
  {
    name: 'a plan that cannot be read',
    spoil: text(':holiday', 'postponeBy', 'postpone'),
    computed: /^loan :moved: cannot be replayed: the restructure of an entry cannot be read: "1 postpone 1 /m,
    sealed: SEALED_TEXT(':holiday'),
  },
  {
    name: 'an earlier effective date',
    spoil: 'UPDATE loan_entry SET value_date = value_date - 2 WHERE id = :holiday',
    computed:
      /^loan :moved: entry :waiver was posted with the restructure :holiday, and is dated 2026-03-10; the restructure counts from 2026-03-08/m,
    sealed: sealedColumn(':holiday', 'value_date'),
  },
  {
    name: 'more interest than was added',
    spoil: 'UPDATE loan_entry SET amount = amount + 1 WHERE id = :holiday',
    computed: /^loan :moved: the restructure :holiday is marked with \d+, and \d+ was added/m,
    sealed: sealedColumn(':holiday', 'amount'),
  },
  {
    name: 'a restructure that moves nothing',
    spoil: 'UPDATE loan_entry SET restructure = NULL WHERE id = :holiday',
    computed: /^loan :moved: entry :holiday is a restructure, and does not say what it changes/m,
    sealed: SEALED_TEXT(':holiday'),
  },
  {
    name: 'a smaller fee',
    spoil: 'UPDATE loan_entry SET amount = amount - 100 WHERE id = :fee',
    computed: /^loan :moved: entry :fee is a Fee of \d+ .*, and the trail says a Fee of \d+/m,
    sealed: sealedColumn(':fee', 'amount'),
  },
  {
    name: 'a fee that is due on another day',
    spoil: 'UPDATE loan_entry SET due_on = due_on + 3 WHERE id = :fee',
    computed:
      /^loan :moved: entry :fee is a Fee of \d+ on 2026-03-10, due on 2026-03-13 .*, and the trail says .* due on 2026-03-10/m,
    sealed: sealedColumn(':fee', 'due_on'),
  },
  {
    name: 'a fee that is not due at once',
    spoil: text(':fee', ' now', ''),
    computed:
      /^loan :moved: entry :fee is .* entry number \d+, and the trail says .* entry number \d+, and due at once/m,
    sealed: SEALED_TEXT(':fee'),
  },
  {
    name: 'a waiver of another restructure',
    spoil: `UPDATE loan_entry SET restructure = 'of 9' WHERE id = :waiver`,
    computed:
      /^loan :moved: entry :waiver was posted with a restructure that is entry number 9 of the loan, and that is none/m,
    sealed: SEALED_TEXT(':waiver'),
  },
  {
    name: 'a waiver without its restructure',
    spoil: 'UPDATE loan_entry SET restructure = NULL WHERE id = :waiver',
    computed:
      /^loan :moved: entry :waiver is .*, and the trail says .*, posted with the restructure that is entry number 3/m,
    sealed: SEALED_TEXT(':waiver'),
  },
  {
    name: 'a waiver of another component',
    spoil: `UPDATE loan_entry SET type = 'Waive Fees' WHERE id = :waiver`,
    computed: /^loan :moved: entry :waiver is a Waive Fees of \d+ .*, and the trail says a Waive Interest/m,
    sealed: sealedColumn(':waiver', 'type'),
  },
  {
    name: 'a repayment that was posted with a restructure',
    spoil: `UPDATE loan_entry SET restructure = 'of 3' WHERE id = :paid`,
    computed: /^loan :moved: entry :paid is a Repayment, which is never posted with a restructure/m,
    sealed: SEALED_TEXT(':paid'),
  },
]

/** Restructures that are removed, added, swapped, reversed or not. */
const ROW_FAULTS: readonly RestructureFault[] = [
  {
    name: 'a restructure removed, so that a version of the schedule is missing',
    spoil: 'DELETE FROM loan_entry WHERE id = :later',
    computed: /^loan :twice: the trail says that entry :later was posted, and it is not there/m,
    sealed: /^loan_entry :later: is not there, and change \d+ sealed it$/m,
  },
  {
    name: 'a restructure added',
    spoil: `INSERT INTO loan_entry (organization_id, id, loan_id, ordinal, place, type, value_date, posted_at, amount, restructure)
      SELECT organization_id, 900001, loan_id, ordinal + 1, ordinal + 1, type, value_date, posted_at, 0,
        replace(restructure, ' keep ', ' none ') FROM loan_entry WHERE id = :later`,
    computed: /^loan :twice: entry 900001 is not in the trail/m,
    sealed: null,
  },
  {
    name: 'two restructures that change places',
    spoil: `UPDATE loan_entry e SET restructure = o.restructure FROM loan_entry o
      WHERE (e.id, o.id) IN ((:early, :later), (:later, :early))`,
    computed:
      /^loan :twice: entry :early is .* into 6 instalments .*, and the trail says .* a first due date on 2026-04-15/m,
    sealed: SEALED_TEXT(':early'),
  },
  {
    name: 'a restructure of another loan',
    spoil: 'UPDATE loan_entry SET loan_id = :plain, ordinal = 1, place = 1 WHERE id = :later',
    computed: /^loan :plain: entry :later is not in the trail/m,
    sealed: sealedColumn(':later', 'loan_id'),
  },
  {
    name: 'the reversal of a restructure taken off',
    spoil: 'UPDATE loan_entry SET reversed_at = NULL WHERE id = :undone',
    computed: /^loan :back: the trail says that entry :undone was reversed at \d+, and it is marked as posted/m,
    sealed: null,
  },
  {
    name: 'a restructure reversed that stands',
    spoil: `UPDATE loan_entry SET reversed_at = posted_at + interval '1 hour' WHERE id = :holiday`,
    computed: /^loan :moved: entry :holiday is reversed, and the trail does not say so/m,
    sealed: null,
  },
  {
    name: 'a waiver reversed without its restructure',
    spoil: `UPDATE loan_entry SET reversed_at = posted_at + interval '1 hour' WHERE id = :waiver`,
    computed:
      /^loan :moved: entry :waiver was posted with the restructure :holiday, and only one of the two is reversed/m,
    sealed: null,
  },
  {
    name: 'a waiver reversed without its restructure, in the trail, too',
    spoil: `UPDATE loan_entry SET reversed_at = now() WHERE id = :waiver;
      INSERT INTO audit_entry (organization_id, at, action, entity, entity_id, change)
        SELECT organization_id, now(), 'reverse', entity, entity_id,
          (change::jsonb - 'posted' || '{"reversed": {"id": ":waiver", "type": "Waive Interest"}}')::json
        FROM audit_entry WHERE change #>> '{posted,id}' = ':waiver';
      UPDATE loan SET version = version + 1 WHERE id = :moved`,
    computed:
      /^loan :moved: entry :waiver was posted with the restructure :holiday, and only one of the two is reversed/m,
    // The row that was added is the last of the trail: what is not sealed yet is no fault of the seal.
    sealed: null,
  },
]

/** What follows from a restructure: figures, the schedule as it was lent, the terms, what the trail told. */
const FOLLOWING_FAULTS: readonly RestructureFault[] = [
  {
    name: 'an instalment of the first version of the schedule',
    spoil: `UPDATE loan_period SET due_date = due_date + 1 WHERE loan_id = :moved AND period = 2`,
    computed: /^loan :moved: instalment 2 is .* to 2026-04-01, and by product \d+ it is .* to 2026-03-31/m,
    sealed: /^loan_period :moved\/2: due_date is not what change \d+ sealed$/m,
  },
  {
    name: 'the due date of the schedule in force in the place of the one that was lent',
    spoil: `UPDATE loan SET due_on = '2026-06-30', due_at = '2026-06-30T09:30:00+03' WHERE id = :moved`,
    computed: /^loan :moved: the last instalment is due on 2026-04-30, and the loan on 2026-06-30/m,
    sealed: /^loan :moved: due_on is not what change \d+ sealed$/m,
  },
  {
    name: 'the number of instalments in force in the place of those that were lent',
    spoil: 'UPDATE loan SET number_of_repayments = 6 WHERE id = :twice',
    computed: /^loan :twice: number_of_repayments is 6, and by product \d+ it is 3/m,
    sealed: /^loan :twice: number_of_repayments is not what change \d+ sealed$/m,
  },
  {
    name: 'the principal that is owed after a restructure',
    spoil: 'UPDATE loan SET principal_outstanding = principal_outstanding - 1 WHERE id = :moved',
    computed: /^loan :moved: principal_outstanding is \d+, and replay says \d+/m,
    sealed: null,
  },
  {
    name: 'arrears that a restructure was to take away',
    spoil: 'UPDATE loan SET total_overdue = 0, overdue_since = NULL WHERE id = :moved',
    computed: /^loan :moved: total_overdue is 0, and replay says \d+/m,
    sealed: null,
  },
  {
    name: 'the next due date of before a restructure',
    spoil: `UPDATE loan SET next_due_on = '2026-03-31' WHERE id = :twice`,
    computed: /^loan :twice: next_due_on is 2026-03-31, and replay says 2026-/m,
    sealed: null,
  },
  {
    name: 'the last due date of the schedule in force, as the trail told it',
    spoil: `UPDATE audit_entry SET change = jsonb_set(change::jsonb, '{balances,restructuredDueOn}', '"2026-12-31"')::json
      WHERE id = (SELECT max(id) FROM audit_entry WHERE entity = 'loan' AND entity_id = ':moved')`,
    computed: /^loan :moved: its last due date by its restructures is 2026-\d\d-\d\d, and the trail says 2026-12-31/m,
    sealed: /^audit_entry \d+: change is not what was sealed$/m,
  },
  {
    name: 'the plan of a restructure in the trail',
    spoil: `UPDATE audit_entry SET change = jsonb_set(change::jsonb, '{posted,restructure}', '"1 postponeBy 4 1/months - keep hardship"')::json
      WHERE change #>> '{posted,id}' = ':holiday'`,
    computed: /^loan :moved: entry :holiday is .* 1 period .*, and the trail says .*, which is a holiday of 4 periods/m,
    sealed: /^audit_entry \d+: change is not what was sealed$/m,
  },
  {
    name: 'another plan, in the entry and in the trail',
    spoil: `${text(':early', '2026-04-15', '2026-04-20')};
      UPDATE audit_entry SET change = replace(change::text, '2026-04-15 ', '2026-04-20 ')::json WHERE change #>> '{posted,id}' = ':early'`,
    // Both agree, and no interest was added: only the figures that follow differ, where any does.
    computed: /^loan :twice: \w+ is .*, and replay says/m,
    sealed: /^audit_entry \d+: change is not what was sealed$/m,
  },
  {
    name: 'wider bounds of the product for restructures',
    spoil: `UPDATE loan_product SET restructuring = '{"maxTimes": 9, "minPaidPercent": null, "maxDaysAdded": null}' WHERE id = :product`,
    computed: null,
    sealed: /^loan_product :product: restructuring is not what change \d+ sealed$/m,
  },
]

/** A loan that paid another off, and the one that it paid off. */
const TOP_UP_FAULTS: readonly RestructureFault[] = [
  {
    name: 'more paid off than the other loan got',
    spoil: `UPDATE loan SET rules = jsonb_set(rules, '{settled,0,amount}', '"1"') WHERE id = :new`,
    computed: /^loan :new: paid off 1 of loan :old, which has no such repayment/m,
    sealed: /^loan :new: rules is not what change \d+ sealed$/m,
  },
  {
    name: 'another loan paid off',
    spoil: `UPDATE loan SET rules = jsonb_set(rules, '{settled,0,loanId}', '":plain"') WHERE id = :new`,
    computed: /^loan :new: paid off \d+ of loan :plain, which has no such repayment/m,
    sealed: /^loan :new: rules is not what change \d+ sealed$/m,
  },
  {
    name: 'another name of the loan that was paid off',
    spoil: `UPDATE loan SET rules = jsonb_set(rules, '{settled,0,externalId}', '"plain"') WHERE id = :new`,
    computed: /^loan :new: paid off the loan plain, and loan :old has the externalId old/m,
    sealed: /^loan :new: rules is not what change \d+ sealed$/m,
  },
  {
    name: 'a top-up that paid nothing off',
    spoil: `UPDATE loan SET rules = jsonb_set(rules, '{settled}', '[]') WHERE id = :new`,
    computed: /^loan :new: rules is \{.*\}, and by product :product it is none/m,
    sealed: /^loan :new: rules is not what change \d+ sealed$/m,
  },
  {
    name: 'the repayment of a loan that was paid off removed',
    spoil: 'DELETE FROM loan_entry WHERE id = :payOff',
    computed: /^loan :new: paid off \d+ of loan :old, which has no such repayment/m,
    sealed: /^loan_entry :payOff: is not there, and change \d+ sealed it$/m,
  },
  {
    name: 'a smaller repayment of a loan that was paid off',
    spoil: 'UPDATE loan_entry SET amount = amount - 1 WHERE id = :payOff',
    computed: /^loan :old: entry :payOff is a Repayment of \d+ .*, and the trail says a Repayment of \d+/m,
    sealed: sealedColumn(':payOff', 'amount'),
  },
  {
    name: 'a repayment of a loan that was paid off in cash',
    spoil: `UPDATE loan_entry SET payment_method = 'Cash' WHERE id = :payOff`,
    computed: /^loan :new: paid off \d+ of loan :old, which has no such repayment/m,
    sealed: sealedColumn(':payOff', 'payment_method'),
  },
]

export const RESTRUCTURE_FAULTS: readonly RestructureFault[] = [
  ...ENTRY_FAULTS,
  ...ROW_FAULTS,
  ...FOLLOWING_FAULTS,
  ...TOP_UP_FAULTS,
]
