import type { LoanChanged } from '../../domain/loan/change.ts'
import { changeToText } from '../../domain/loan/changeText.ts'
import type { Entry } from '../../domain/loan/entry.ts'
import type { Trace } from '../audit/trail.ts'
import { figures } from './loanColumns.ts'

/** Further members of the trail before and after a change, for those who read it. */
export interface MoreOfTrail {
  readonly before?: object
  readonly after?: object
}

/** Returns the content of the audit trail about a change of a loan: its figures before and after, the entry, and the change. */
export function traceOf(changed: LoanChanged, more: MoreOfTrail = {}): Trace {
  const { action, before, after, posted, reversed, reason } = changed
  return {
    action,
    before: before && { ...figures(before), ...more.before },
    after: {
      ...figures(after),
      ...(posted && { posted: { ...shownEntry(posted), valueDate: posted.valueDate, note: posted.note } }),
      ...(reversed && { reversed: { ...shownEntry(reversed), reason } }),
      ...more.after,
    },
    change: changeToText(changed),
  }
}

const shownEntry = ({ id, type, amount }: Entry) => ({ id, type, amount })
