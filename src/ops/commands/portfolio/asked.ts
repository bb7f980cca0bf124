import { type Command, InvalidArgumentError, Option } from 'commander'
import { dateIn, dayAfter, fromRfc3339, type Instant, isCalendarDate, startOfDay } from '../../../domain/dates.ts'
import { PRESETS } from '../../../domain/delinquency/presets.ts'
import type { NamedPolicy } from '../../../services/delinquency/policies.ts'
import { organizationOption } from '../../options.ts'
import type { Task } from '../../perform.ts'
import { UsageError } from '../../terminal/terminalIo.ts'
import { visibleCsv } from '../../terminal/visible.ts'

/** The options of each command of the portfolio. */
export interface PortfolioOptions {
  readonly organization?: number
  readonly csv?: boolean
}

/** Adds the options of each command of the portfolio. */
export const addOptions = (command: Command): Command =>
  command.addOption(organizationOption()).option('--csv', 'write a CSV file for spreadsheets to stdout')

/** Makes the option that names a policy. */
export const policyOption = () =>
  new Option(
    '--policy <policy>',
    `a published policy (${PRESETS.map(({ name }) => name).join(', ')}), or the number of a version; the policy in force when left out`,
  )

/** Reads a day or an instant, as `instantOf` takes it. */
export function dayOrInstant(text: string): string {
  if (!isCalendarDate(text) && fromRfc3339(text) === undefined)
    throw new InvalidArgumentError('It must be a date, or a time such as 2026-11-20T14:30:00+03:00.')
  return text
}

/** Returns the instant of a text of `dayOrInstant`; of a day the last one, of today the present one of an organization. */
export function instantOf(text: string, { config: { zone }, now }: Task['deps'], organizationId: number): Instant {
  const instant = fromRfc3339(text)
  if (instant !== undefined) return instant
  const at = now(organizationId)
  return text === dateIn(zone, at) ? at : startOfDay(dayAfter(text), zone) - 1
}

/** Writes a CSV file to stdout; a terminal that acts on control characters gets none. */
export const writeCsv = ({ io }: Pick<Task, 'io'>, text: string): void => io.out(visibleCsv(text))

/** Refuses two formats at once. */
export function requireOneFormat(
  { printer: { json } }: Pick<Task, 'printer'>,
  { csv = false }: PortfolioOptions,
): void {
  if (json && csv) throw new UsageError('say --json or --csv, not both')
}

/** Returns the members of an answer that name its policy. */
export const policyView = ({ version, name, source }: NamedPolicy) => ({ policyVersion: version, policy: name, source })

/** Names a policy for people. */
export const policyText = ({ version, name }: NamedPolicy): string =>
  version === null ? `by the policy ${name}` : `by version ${version} of the policy${name === null ? '' : `, ${name}`}`
