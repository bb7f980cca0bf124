import type { LineKind } from '../domain/payments/reconciliation.ts'
import type { StatementLayout } from '../domain/payments/statementLayouts.ts'
import type { Words } from './words.ts'

// The words of the office pages about statements of providers that are compared with the payments. The Kiswahili has to be
// reviewed by a native speaker who works with loans.

export const reconciliationWords = {
  reconciliation: ['Reconciliation', 'Ulinganisho'],
  reconciliations: ['Reconciliations', 'Ulinganisho wa taarifa'],
  reconciliationsNewest: ['Reconciliations, the newest first', 'Ulinganisho wa taarifa, wa karibuni kwanza'],
  noReconciliation: ['No statement has been compared.', 'Hakuna taarifa iliyolinganishwa.'],
  daysOfStatement: ['Days', 'Siku'],
  layout: ['Layout', 'Mpangilio'],
  outcomeOf: ['Outcome', 'Matokeo ya ulinganisho'],
  balanced: ['balanced', 'inalingana'],
  notBalanced: ['not balanced', 'hailingani'],
  difference: ['Difference', 'Tofauti'],
  firstCompared: ['First compared', 'Ililinganishwa mara ya kwanza'],
  lastCompared: ['Last compared', 'Ililinganishwa mara ya mwisho'],
  balanceBefore: ['Balance before', 'Salio la awali'],
  balanceAfter: ['Balance after', 'Salio la mwisho'],
  linesByKind: ['Lines by kind', 'Mistari kwa aina'],
  lines: ['Lines', 'Mistari'],
  differenceMeans: [
    'Difference = money of payments by the statement − by the payments here.',
    'Tofauti = fedha za malipo kwa taarifa − kwa malipo yaliyopo hapa.',
  ],
  differences: ['Differences', 'Zinazotofautiana'],
  noDifference: ['No line differs.', 'Hakuna mstari unaotofautiana.'],
  restOfLines: ['Other lines', 'Mistari mingine'],
  allLines: ['All lines', 'Mistari yote'],
  noLine: ['There is no such line.', 'Hakuna mstari wa aina hii.'],
  amountThere: ['In the statement', 'Kwenye taarifa'],
  amountHere: ['Here', 'Hapa'],
  takesBack: ['Takes back', 'Hubatilisha'],
  compareStatement: ['Compare a statement', 'Linganisha taarifa'],
  meansCompare: [
    'It says what is in the statement and what is in the payments, and takes nothing in. A payment that waited for the statement and is in it is confirmed. The same statement of the same days is the same reconciliation, compared again.',
    'Inaonyesha yaliyo kwenye taarifa na yaliyo kwenye malipo, na haiingizi chochote. Malipo yaliyosubiri taarifa na yaliyomo yanathibitishwa. Taarifa ileile ya siku zilezile ni ulinganisho uleule, uliofanywa tena.',
  ],
  firstDay: ['First day', 'Siku ya kwanza'],
  lastDay: ['Last day', 'Siku ya mwisho'],
  openingOrSaid: ['Balance before (as the statement says when empty)', 'Salio la awali (la taarifa ikiwa tupu)'],
  closingOrSaid: ['Balance after (as the statement says when empty)', 'Salio la mwisho (la taarifa ikiwa tupu)'],
  statementFile: ['File of the statement, CSV or XML', 'Faili ya taarifa, CSV au XML'],
  applyStatement: ['Take in what is missing here', 'Ingiza yasiyopo hapa'],
  titleApply: ['Take in what is missing of reconciliation {id}', 'Ingiza yasiyopo ya ulinganisho {id}'],
  meansApply: [
    'Payments that are missing here are received, and go to loans like all others. What the provider took back is taken back here. Then the statement is compared again. What has come since is not taken in twice.',
    'Malipo yasiyopo hapa yanapokelewa, na kwenda kwenye mikopo kama mengine. Yaliyobatilishwa na mtoa huduma yanabatilishwa hapa. Kisha taarifa inalinganishwa tena. Yaliyofika baadaye hayaingizwi mara mbili.',
  ],
  askTakeIn: [
    'Payments that are taken in: {count}, for {amount} {currency}.',
    'Malipo yatakayoingizwa: {count}, ya {amount} {currency}.',
  ],
  askTakeBack: [
    'Lines that are taken back: {count}, for {amount} {currency}.',
    'Mistari itakayobatilishwa: {count}, ya {amount} {currency}.',
  ],
  changedReconciliation: [
    'The statement was compared again since you looked. This is how it is now.',
    'Taarifa imelinganishwa tena tangu ulipoangalia. Hivi ndivyo ilivyo sasa.',
  ],
} as const satisfies Words

/** The kinds of lines of a comparison. */
export const LINE_KIND_WORDS = {
  matched: ['in both', 'ziko pande zote'],
  missing_here: ['missing here', 'hazipo hapa'],
  missing_there: ['not in the statement', 'hazipo kwenye taarifa'],
  amount_differs: ['another amount', 'kiasi tofauti'],
  reversal: ['taken back', 'yaliyobatilishwa'],
  reversal_missing: ['taken back, not known here', 'yaliyobatilishwa yasiyojulikana'],
  other: ['of no payment', 'si za malipo'],
} as const satisfies Words<LineKind>

/** How statements are laid out; `lines` were told one by one. */
export const LAYOUT_WORDS = {
  plain: ['plain CSV', 'CSV ya kawaida'],
  daraja_organization: ['M-Pesa organization portal, CSV', 'CSV ya mfumo wa mashirika wa M-Pesa'],
  camt053: ['bank, camt.053', 'benki, camt.053'],
  lines: ['lines told by HTTP', 'mistari iliyotumwa kwa HTTP'],
} as const satisfies Words<StatementLayout | 'lines'>
