import { addPeriods, type LocalDate } from '../dates.ts'
import { failedPrecondition, LendingError } from '../errors.ts'

/** What a person may ask of a lender that knows of it (Kenya DPA 2019, s. 26; Tanzania PDPA, ss. 33 to 36; Uganda DPPA 2019, ss. 24 to 28). */
export const DATA_REQUEST_KINDS = ['access', 'rectification', 'erasure', 'restriction', 'objection'] as const
export type DataRequestKind = (typeof DATA_REQUEST_KINDS)[number]

/** The states of a request: an erasure waits for another ADMIN. All but the first two are final. */
export const DATA_REQUEST_STATES = ['open', 'waiting', 'done', 'refused', 'withdrawn'] as const
export type DataRequestState = (typeof DATA_REQUEST_STATES)[number]

/** The ends of a request, with the actions of the trail. */
export const DATA_REQUEST_ENDS = { done: 'complete', refused: 'reject', withdrawn: 'withdraw' } as const
export type DataRequestEnd = keyof typeof DATA_REQUEST_ENDS

/** The days within which the laws of the region want an answer: the shortest that one of them names (Kenya, LN 263/2021). */
const DAYS_TO_ANSWER = 7

/** Returns the day until which a request has to be answered. */
export const dueOf = (askedOn: LocalDate): LocalDate => addPeriods(askedOn, DAYS_TO_ANSWER, 'days')

/** A request, as far as it decides who may do what with it. */
interface Undecided {
  readonly kind: DataRequestKind
  readonly state: DataRequestState
  readonly askedBy: number | null
  readonly proposed: boolean
}

/** Requires that a request is not decided. @throws LendingError `failed_precondition` */
export function requireUndecided(request: Pick<Undecided, 'state'>): void {
  if (!isUndecided(request)) throw failedPrecondition(`the data request is ${request.state} already`)
}

/** Returns whether a request waits for somebody to decide it. */
export const isUndecided = ({ state }: Pick<Undecided, 'state'>): boolean => state === 'open' || state === 'waiting'

/** Returns whether an account is the one that asked; null: the command line. Nobody has asked for what the service proposes. */
export const isAsker = ({ proposed, askedBy }: Undecided, accountId: number | null): boolean =>
  !proposed && askedBy === accountId

/**
 * Requires that an account may confirm an erasure: another than the one that asked. What the service proposed, each ADMIN may confirm.
 * @throws LendingError `failed_precondition`, `permission_denied`
 */
export function requireConfirmable(request: Undecided, accountId: number | null): void {
  requireUndecided(request)
  if (request.kind !== 'erasure')
    throw failedPrecondition('only an erasure is confirmed: complete any other data request')
  if (isAsker(request, accountId))
    throw new LendingError(
      'permission_denied',
      'the one who asked cannot confirm the erasure: another account that has the role ADMIN has to',
    )
}

/**
 * Requires that what is known of the person may be handed out: for a request of access that was neither refused nor withdrawn.
 * @throws LendingError `failed_precondition`
 */
export function requireAnswerable({ kind, state }: Pick<Undecided, 'kind' | 'state'>): void {
  if (kind !== 'access')
    throw failedPrecondition(`the data request is of the kind ${kind}: only one of the kind access has a result`)
  if (state === 'refused' || state === 'withdrawn')
    throw failedPrecondition(
      `the data request is ${state}: keep another of the kind access where the person asks again`,
    )
}

/** Requires that a request is completed by people: an erasure is done by confirming it. @throws LendingError `failed_precondition` */
export function requireCompletable(request: Pick<Undecided, 'kind' | 'state'>): void {
  requireUndecided(request)
  if (request.kind === 'erasure') throw failedPrecondition('an erasure is done by another ADMIN who confirms it')
}
