import type { PostingKind } from '../domain/accounting/postingKinds.ts'
import type { PaymentStatus } from '../domain/payments/payment.ts'
import { LINE_WORDS } from './documents.ts'
import type { Words } from './words.ts'

// The words of names that the contract gives to kinds, states, buckets and presets. The Kiswahili has to be reviewed by a
// native speaker who works with loans.

/** The kinds of postings of the journal. */
export const POSTING_WORDS = {
  disbursement: ['disbursement', LINE_WORDS.Disbursement[1]],
  repayment: ['repayment', LINE_WORDS.Repayment[1]],
  recovery_repayment: ['recovery', LINE_WORDS['Recovery Repayment'][1]],
  waive_interest: ['interest waived', LINE_WORDS['Waive Interest'][1]],
  refund: ['refund', LINE_WORDS.Refund[1]],
  credit_balance_refund: ['refund of overpayment', LINE_WORDS['Credit Balance Refund'][1]],
  charge_off: ['charge-off', LINE_WORDS['Charge-off'][1]],
  write_off: ['write-off', LINE_WORDS['Write-off'][1]],
  fee: ['fee', LINE_WORDS.Fee[1]],
  penalty: ['penalty', LINE_WORDS.Penalty[1]],
  settlement_waiver: ['interest forgiven at settlement', LINE_WORDS['Settlement Waiver'][1]],
  waive_fees: ['fees waived', LINE_WORDS['Waive Fees'][1]],
  waive_penalty: ['penalty waived', LINE_WORDS['Waive Penalty'][1]],
  restructure: ['restructure', LINE_WORDS.Restructure[1]],
  reversal: ['reversal', 'Ubatilishaji'],
  adjustment: ['adjustment', 'Marekebisho'],
  restatement: ['change of terms', 'Mabadiliko ya masharti'],
  time: ['what time changed', 'Yaliyobadilika kwa muda'],
  opening: ['opening', 'Ufunguzi'],
  method_changed: ['change of method', 'Mabadiliko ya njia ya hesabu'],
  chart_changed: ['change of the chart', 'Mabadiliko ya orodha ya akaunti'],
  provision: ['provision', 'Tengo la hasara'],
  payment_received: ['payment received', 'Malipo yaliyopokelewa'],
  payment_returned: ['payment returned', 'Malipo yaliyorudishwa'],
  payment_reversed: ['payment reversed', 'Malipo yaliyobatilishwa'],
} as const satisfies Words<PostingKind>

/** The states of received payments. */
export const PAYMENT_STATUS_WORDS = {
  received: ['received', 'yamepokelewa'],
  allocated: ['allocated', 'yamegawiwa'],
  partly_allocated: ['partly allocated', 'yamegawiwa kwa sehemu'],
  unmatched: ['in suspense', 'yanasubiri'],
  returned: ['paid back', 'yamerudishwa'],
  reversed: ['taken back', 'yamebatilishwa'],
} as const satisfies Words<PaymentStatus>

/** The types of accounts of the journal. */
export const ACCOUNT_WORDS = {
  asset: ['asset', 'mali'],
  liability: ['liability', 'dhima'],
  equity: ['equity', 'mtaji wa mmiliki'],
  income: ['income', 'mapato'],
  expense: ['expense', 'gharama'],
} as const satisfies Words

/** The presets of the delinquency policy. */
export const PRESET_WORDS = {
  par: ['par', 'mikopo iliyo hatarini (PAR)'],
  cbk: ['cbk', 'Benki Kuu ya Kenya (CBK)'],
  ifrs9: ['ifrs9', 'IFRS 9'],
} as const satisfies Words

/** The buckets and the classes of the presets. A bucket that a lender has named itself keeps its name. */
export const BUCKET_WORDS = {
  current: ['current', 'haijachelewa'],
  '1-30': ['1-30', '1-30'],
  '31-60': ['31-60', '31-60'],
  '61-90': ['61-90', '61-90'],
  'over 90': ['over 90', 'zaidi ya 90'],
  normal: ['normal', 'kawaida'],
  watch: ['watch', 'ya kuangaliwa'],
  substandard: ['substandard', 'duni'],
  doubtful: ['doubtful', 'yenye shaka'],
  loss: ['loss', 'hasara'],
  Normal: ['Normal', 'Kawaida'],
  Watch: ['Watch', 'Ya kuangaliwa'],
  Substandard: ['Substandard', 'Duni'],
  Doubtful: ['Doubtful', 'Yenye shaka'],
  Loss: ['Loss', 'Hasara'],
  'stage 1': ['stage 1', 'hatua ya 1'],
  'stage 2': ['stage 2', 'hatua ya 2'],
  'stage 3': ['stage 3', 'hatua ya 3'],
} as const satisfies Words

/** States, and the other words of which the contract has a list. */
export const STATE_WORDS = {
  open: ['open', 'wazi'],
  closing: ['closing', 'unafungwa'],
  closed: ['closed', 'imefungwa'],
  active: ['active', 'hai'],
  backing_off: ['failing', 'inashindwa'],
  disabled: ['disabled', 'imezimwa'],
  retired: ['retired', 'imesitishwa'],
  revoked: ['revoked', 'imefutwa'],
  pending: ['waiting', 'inasubiri'],
  approved: ['approved', 'imeidhinishwa'],
  rejected: ['rejected', 'imekataliwa'],
  withdrawn: ['withdrawn', 'imeondolewa'],
  delivered: ['delivered', 'imefika'],
  waiting: ['waiting', 'inasubiri'],
  retried: ['sent again', 'imetumwa tena'],
  exhausted: ['given up', 'imeachwa'],
  live: ['live', 'halisi'],
  test: ['test', 'majaribio'],
  raised: ['raised', 'kimeongezwa'],
  unchanged: ['unchanged', 'hakijabadilika'],
  cooldown: ['too soon', 'mapema mno'],
  reverse: ['reverse', 'kubatilisha'],
  'reverse-charge': ['reverse a charge', 'kubatilisha tozo'],
  adjust: ['adjust', 'kurekebisha'],
  'write-off': ['write off', 'kufuta deni'],
  'waive-interest': ['waive interest', 'kusamehe riba'],
  restructure: ['restructure', 'kupanga upya marejesho'],
  'reverse-restructure': ['reverse a restructure', 'kubatilisha mpango mpya wa marejesho'],
  'reverse-allocations': ['reverse allocations of a payment', 'kubatilisha mgao wa malipo'],
  'return-payment': ['pay a payment back', 'kumrudishia mlipaji malipo'],
  days: ['days', 'siku'],
  weeks: ['weeks', 'wiki'],
  months: ['months', 'miezi'],
  years: ['years', 'miaka'],
} as const satisfies Words
