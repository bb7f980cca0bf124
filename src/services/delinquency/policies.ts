import type { Deps } from '../../app/deps.ts'
import type { Instant } from '../../domain/dates.ts'
import type { DelinquencyPolicy } from '../../domain/delinquency/policy.ts'
import { PRESETS } from '../../domain/delinquency/presets.ts'
import { invalidArgument } from '../../domain/errors.ts'

/** A policy that arrears are answered by. */
export interface NamedPolicy {
  /** The version of the lender's policies; 0 before the first one was set. Null: a preset that was asked for by name. */
  readonly version: number | null
  /** The name of the preset; null: the lender's own policy. */
  readonly name: string | null
  /** Where the figures of the preset are from; null: the lender's own policy. */
  readonly source: string | null
  readonly policy: DelinquencyPolicy
}

/** The policy that is asked for: by the name of a preset, by its version, or the one that was in force at an instant. */
export interface PolicyRequest {
  readonly name?: string | undefined
  readonly version?: number | undefined
  /** Left out: now. */
  readonly knownAt?: Instant | undefined
}

/**
 * Returns the policy of a lender that is asked for; without a name or a version, the one in force.
 * @throws LendingError `invalid_argument` for a name or a version that is none
 */
export async function findPolicy(
  _deps: Pick<Deps, 'db'>,
  _organizationId: number,
  { name }: PolicyRequest,
): Promise<NamedPolicy> {
  const preset = name === undefined ? PRESETS[0] : PRESETS.find((one) => one.name === name)
  if (!preset) throw invalidArgument('policy', `must be one of ${PRESETS.map((one) => one.name).join(', ')}`)
  return { version: name === undefined ? 0 : null, ...preset }
}
