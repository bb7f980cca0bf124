import { type AtChargeOff, type Forgone, NOTHING_UNEARNED, type Unearned } from '../recognition.ts'
import { amountFromText, amountToText, portionsFromText, portionsToText } from './portionsText.ts'

/** Writes interest and fees; empty for none of both. */
export const unearnedToText = ({ interest, fees }: Unearned): string =>
  interest === 0n && fees === 0n ? '' : `${amountToText(interest)},${amountToText(fees)}`

/** Reads interest and fees. @throws SyntaxError where one is missing, or is not a number */
export function unearnedFromText(text: string): Unearned {
  if (text === '') return NOTHING_UNEARNED
  const [interest, fees, ...more] = text.split(',')
  if (fees === undefined || more.length > 0) throw new SyntaxError('interest and fees')
  return { interest: amountFromText(interest), fees: amountFromText(fees) }
}

/** Writes what was given up before it fell due: `waived/writtenOff`. */
export const forgoneToText = ({ waived, writtenOff }: Forgone): string =>
  `${unearnedToText(waived)}/${unearnedToText(writtenOff)}`

/** Reads what `forgoneToText` wrote. @throws SyntaxError */
export function forgoneFromText(text: string): Forgone {
  const [waived = '', writtenOff = '', ...more] = text.split('/')
  if (more.length > 0) throw new SyntaxError('two amounts')
  return { waived: unearnedFromText(waived), writtenOff: unearnedFromText(writtenOff) }
}

/** Writes the totals at a charge-off: `charged/paid/waived/writtenOff/unearned/forgone`; empty for none. */
export function atChargeOffToText(at: AtChargeOff | null): string {
  if (at === null) return ''
  const totals = [at.due, at.paid, at.waived, at.writtenOff].map(portionsToText)
  return [...totals, unearnedToText(at.unearned), forgoneToText(at.forgone)].join('/')
}

/** Reads what `atChargeOffToText` wrote. @throws SyntaxError */
export function atChargeOffFromText(text: string): AtChargeOff | null {
  if (text === '') return null
  const [due = '', paid = '', waived = '', writtenOff = '', unearned = '', ...forgone] = text.split('/')
  return {
    due: portionsFromText(due),
    paid: portionsFromText(paid),
    waived: portionsFromText(waived),
    writtenOff: portionsFromText(writtenOff),
    unearned: unearnedFromText(unearned),
    forgone: forgoneFromText(forgone.join('/')),
  }
}
