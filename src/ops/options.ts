import { type Command, InvalidArgumentError, Option } from 'commander'
import { readId } from '../api/wire.ts'
import { ROLES } from '../domain/access/permissions.ts'
import { fromRfc3339, isCalendarDate } from '../domain/dates.ts'
import { currencyCodes, type Decimal, parseDecimal } from '../domain/money.ts'
import { ROLE_NAME } from '../services/access/roles.ts'
import { LARGEST_INT32 } from '../toolbox/integers.ts'
import { UsageError } from './terminal/terminalIo.ts'

/** Reads a whole number above 0, up to the largest integer of the database. */
export function wholeNumber(text: string): number {
  const value = Number(text)
  if (!/^\d{1,10}$/.test(text) || value < 1 || value > LARGEST_INT32)
    throw new InvalidArgumentError('It must be a whole number above 0.')
  return value
}

/** Reads the number of a version, from 0 on. */
export function versionNumber(text: string): number {
  if (text === '0') return 0
  return wholeNumber(text)
}

/**
 * Reads a number that the service gave, as text and as JSON show it. A number that is too large to have been given is
 * read as 0, which nothing has.
 * @returns undefined for text that is no number
 */
export const numberIn = (text: string): bigint | undefined => (/^\d+$/.test(text) ? (readId(text) ?? 0n) : undefined)

/** Reads a number that the service gave, as an argument. */
export function longNumber(text: string): bigint {
  const number = numberIn(text)
  if (number === undefined) throw new InvalidArgumentError('It must be a number.')
  return number
}

/** Reads an amount or a percentage, exactly. */
export function decimalNumber(text: string): Decimal {
  const decimal = parseDecimal(text)
  if (!decimal) throw new InvalidArgumentError('It must be a number such as 1500 or 2.5.')
  return decimal
}

export function calendarDate(text: string): string {
  if (!isCalendarDate(text)) throw new InvalidArgumentError('It must be a date, YYYY-MM-DD.')
  return text
}

/** Reads an instant, `2026-11-20T14:30:00+03:00`, or a time before now: `15m`, `36h`, `7d`. */
export function momentBefore(now: () => number): (text: string) => number {
  const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
  return (text) => {
    const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
    if (count !== undefined) return now() - Number(count) * units[unit]!
    const instant = fromRfc3339(text)
    if (instant === undefined)
      throw new InvalidArgumentError(
        'It must be a time such as 2026-11-20T14:30:00+03:00, or an age such as 15m or 7d.',
      )
    return instant
  }
}

/** Collects `USER ADMIN` or `USER,ADMIN`: built-in roles, in capitals or not, and names of the organization's own. */
export function role(text: string, before: readonly string[] = []): string[] {
  const roles = new Set(before)
  for (const name of text.split(',')) {
    const known = ROLES.find((one) => one === name.toUpperCase()) ?? name
    if (!ROLE_NAME.test(known))
      throw new InvalidArgumentError(`It must be ${ROLES.join(', ')}, or the name of a role of the organization.`)
    roles.add(known)
  }
  return [...roles]
}

/** The options of a command that takes `organizationOption`. */
export interface OfOrganization {
  readonly organization?: number
}

/** Makes the option that names the organization; it may be left out where there is only one. */
export const organizationOption = () =>
  new Option('-o, --organization <id>', 'the organization; may be left out where there is only one').argParser(
    wholeNumber,
  )

/** Makes the option that names a currency of the book. */
export const currencyOption = (description: string) =>
  new Option('--currency <code>', description).choices(currencyCodes)

/** Adds the name of what a command makes, which may be the argument or `--name`. */
export const takeName = (command: Command, description: string): Command =>
  command.argument('[name]', `${description}; or say --name`).option('--name <name>', 'in place of the argument')

/**
 * Returns the name that a command with `takeName` was given, as its argument or by its option.
 * @throws UsageError for none, and for two
 */
export function nameGiven(command: Command, argument: string | undefined): string {
  const { name: option } = command.opts<{ name?: string }>()
  if (argument !== undefined && option !== undefined)
    throw new UsageError(`the name is given twice, as ${argument} and as --name ${option}: give it once`)
  const name = argument ?? option
  if (name === undefined)
    throw new UsageError(`the name is missing: mkopo ${command.parent?.name()} ${command.name()} --name <name> …`)
  return name
}

/** Reads members such as `name=Extension,amount=500`. @throws InvalidArgumentError for other members than the known ones */
export function membersOf(text: string, known: readonly string[]): ReadonlyMap<string, string> {
  const members = new Map(text.split(',').map((part) => part.split('=', 2) as [string, string | undefined]))
  if ([...members].some(([name, value]) => !known.includes(name) || value === undefined))
    throw new InvalidArgumentError(`It takes ${known.join('=…, ')}=…, with commas between them.`)
  return members as ReadonlyMap<string, string>
}
