-- The journal: a balanced posting for each change of a loan, the charts of accounts, and the periods that are closed. The
-- tables are new, and the version before this one reads and writes none of them; a change that it makes is posted, too.
-- The way back: DROP TABLE posting, posting_day, accounting_period, accounting_chart, journal; and mark it rolled back, as
-- docs/operating/recovery.md says.

-- How far the journal of an organization goes; its row is claimed by the instance that continues it.
CREATE TABLE journal (
  organization_id integer PRIMARY KEY,
  -- Changes up to this row of the trail are in the journal; and the last number of an event among them.
  change_id       bigint NOT NULL,
  sequence        bigint NOT NULL,
  -- The last number of a posting.
  posting_id      bigint NOT NULL,
  -- The first day that is open; null: no period was ever closed.
  open_from       date,
  chart_version   integer NOT NULL,
  -- The loans that were there before the journal, or before their method was changed, are walked through in the order
  -- of their ids: `opening` or `method_changed`, and the last id; null: no walk is going on.
  walk            text,
  walked_to       bigint NOT NULL
);

CREATE TABLE accounting_chart (
  organization_id integer NOT NULL,
  version         integer NOT NULL,
  chart           jsonb NOT NULL,
  created_at      timestamptz NOT NULL,
  -- Whether the journal has come to it; and the booked day from which it counts, null: from the beginning.
  taken_up        boolean NOT NULL,
  counts_from     date,
  PRIMARY KEY (organization_id, version)
);

CREATE TABLE accounting_period (
  organization_id    integer NOT NULL,
  -- The first day of the month.
  month              date NOT NULL,
  requested_at       timestamptz NOT NULL,
  -- Null until the journal has come to the close.
  closed_at          timestamptz,
  close_sequence     bigint,
  trial_balance_hash text,
  PRIMARY KEY (organization_id, month)
);

CREATE TABLE posting (
  organization_id integer NOT NULL,
  -- 1, 2, 3 … of an organization, in the order of its changes.
  id              bigint NOT NULL,
  -- The number of the last event up to the change.
  sequence        bigint NOT NULL,
  -- The row of the trail; null for a posting of a walk.
  change_id       bigint,
  -- Null for a transfer between accounts.
  loan_id         bigint,
  -- 0: of no product.
  product_id      integer NOT NULL,
  currency        text NOT NULL,
  transaction_id  bigint,
  kind            text NOT NULL,
  value_date      date NOT NULL,
  booked_on       date NOT NULL,
  posted_at       timestamptz NOT NULL,
  -- Of a transfer: the versions of the chart from whose accounts and to whose accounts the amounts move.
  moved_from      integer,
  moved_to        integer,
  -- Minor units by slot: positive is a debit, negative a credit, null none.
  cash                 bigint,
  loan_portfolio       bigint,
  interest_receivable  bigint,
  fees_receivable      bigint,
  penalties_receivable bigint,
  unearned_interest    bigint,
  interest_income      bigint,
  fee_income           bigint,
  penalty_income       bigint,
  overpayments         bigint,
  waivers              bigint,
  write_offs           bigint,
  charge_offs          bigint,
  recoveries           bigint,
  opening_equity       bigint,
  -- The method by which the loan contributes, and its whole contribution after the posting, in the text of the domain.
  method          text,
  contribution    text,
  PRIMARY KEY (organization_id, id),
  CONSTRAINT posting_balanced CHECK (moved_from IS NOT NULL OR
    coalesce(cash, 0) + coalesce(loan_portfolio, 0) + coalesce(interest_receivable, 0) + coalesce(fees_receivable, 0)
    + coalesce(penalties_receivable, 0) + coalesce(unearned_interest, 0) + coalesce(interest_income, 0)
    + coalesce(fee_income, 0) + coalesce(penalty_income, 0) + coalesce(overpayments, 0) + coalesce(waivers, 0)
    + coalesce(write_offs, 0) + coalesce(charge_offs, 0) + coalesce(recoveries, 0) + coalesce(opening_equity, 0) = 0)
);
CREATE INDEX posting_loan ON posting (organization_id, loan_id, id) WHERE loan_id IS NOT NULL;
CREATE INDEX posting_transfer ON posting (organization_id, id) WHERE loan_id IS NULL;
CREATE INDEX posting_booked ON posting (organization_id, booked_on, id);

-- The sums of the postings by the days from which they count, for the trial balance: no posting is read for it.
CREATE TABLE posting_day (
  organization_id integer NOT NULL,
  booked_on       date NOT NULL,
  value_date      date NOT NULL,
  currency        text NOT NULL,
  product_id      integer NOT NULL,
  slot            text NOT NULL,
  debit           bigint NOT NULL,
  credit          bigint NOT NULL,
  PRIMARY KEY (organization_id, booked_on, value_date, currency, product_id, slot)
);

-- Books of before: their loans are opened by the service in the background.
INSERT INTO journal (organization_id, change_id, sequence, posting_id, open_from, chart_version, walk, walked_to)
SELECT o.id, (SELECT coalesce(max(id), 0) FROM audit_entry a WHERE a.organization_id = o.id), 0, 0, NULL, 1, 'opening', 0
FROM organization o;
