import { type Command, InvalidArgumentError, Option } from 'commander'
import { currencyOf, type Decimal, minorToText } from '../../domain/money.ts'
import {
  createOrganization,
  listOrganizations,
  MODES,
  type NewOrganization,
  type Organization,
  updateOrganization,
} from '../../services/organizations/organizations.ts'
import { readGiven } from '../files/givenFile.ts'
import { currencyOption, decimalNumber, nameGiven, organizationOption, takeName, wholeNumber } from '../options.ts'
import { perform, performAdding, type Shell } from '../perform.ts'
import { UsageError } from '../terminal/terminalIo.ts'
import { moveCommand } from './books.ts'

export function organizationCommands(program: Command, shell: Shell): void {
  const organizations = program.command('organizations').description('the lenders that the book belongs to')

  takeName(organizations.command('create'), 'what it is called')
    .description('make an organization')
    .addOption(currencyOption('in which it lends').makeOptionMandatory())
    .addOption(
      new Option('--mode <mode>', 'live; or test, which has a clock of its own that can be advanced')
        .choices(MODES)
        .default('live'),
    )
    .option('--id <number>', 'its number; the next one when left out', wholeNumber)
    .option('--office-id <text>', 'its office', '1')
    .option('--office-name <text>', "its office's name", 'Head Office')
    .option('--payment-method <text>', 'how its customers pay, where nobody says otherwise', 'Mobile Money')
    .action((argument: string | undefined, options: Omit<NewOrganization, 'name'>, command: Command) => {
      const asked = { ...options, name: nameGiven(command, argument) }
      return performAdding(shell, command, async ({ deps, books, printer, by }) => {
        const place = await books?.place(asked.id)
        const made = await createOrganization(place?.deps ?? deps, by(asked.id ?? 0), {
          ...asked,
          id: place?.id ?? asked.id,
        }).catch(async (error: unknown) => {
          await place?.takeBack()
          throw error
        })
        printer.done(
          made,
          `${made.mode === 'test' ? 'Test organization' : 'Organization'} ${made.id}, ${made.name}, lends in ${made.currency}.`,
        )
      })
    })

  updateCommand(organizations, shell)
  moveCommand(organizations, shell)

  organizations
    .command('list')
    .description('list the organizations')
    .action((_options: object, command: Command) =>
      perform(shell, command, async ({ deps, printer }) =>
        printer.list(
          await listOrganizations(deps),
          [
            ['id', ({ id }) => id, 'right'],
            ['name', ({ name }) => name],
            ['mode', ({ mode }) => mode],
            ['currency', ({ currency }) => currency],
            ['payment method', ({ paymentMethod }) => paymentMethod],
            ['office', ({ officeId, officeName }) => `${officeId} ${officeName}`],
            ['approval above', (one) => viewOf(one).approvalAbove ?? '', 'right'],
          ],
          viewOf,
        ),
      ),
    )
}

/** The options of `update`: left out, a setting stays; false clears it. */
interface AskedSettings {
  readonly organization?: number
  readonly paymentMethod?: string
  readonly legalName?: string | false
  readonly licenceNumber?: string | false
  readonly logo?: string | false
  readonly approvalAbove?: Decimal | false
  readonly keepBorrowersYears?: number | false
  readonly keepOthersYears?: number | false
}

/** Reads years, 0 included. @throws InvalidArgumentError */
function years(text: string): number {
  if (!/^(\d{1,2}|100)$/.test(text)) throw new InvalidArgumentError('It must be a whole number of years, 0 to 100.')
  return Number(text)
}

function updateCommand(organizations: Command, shell: Shell): void {
  organizations
    .command('update')
    .description('change the settings of an organization; what is left out stays')
    .addOption(organizationOption())
    .option('--payment-method <text>', 'how its customers pay from now on, where nobody says otherwise')
    .option('--legal-name <text>', 'its name in documents')
    .option('--no-legal-name', 'documents have its name')
    .option('--licence-number <text>', 'the number of its licence, for documents')
    .option('--no-licence-number', 'documents have none')
    .option('--logo <file>', 'the picture in its documents: PNG or JPEG, at most 64 KiB')
    .option('--no-logo', 'documents have none')
    .option(
      '--approval-above <amount>',
      'a reversal, an adjustment, a write-off and a waiver of more wait for a second ADMIN',
      decimalNumber,
    )
    .option('--no-approval-above', 'nothing waits')
    .option(
      '--keep-borrowers-years <years>',
      'how long what is known of a customer is kept after the last loan was closed',
      years,
    )
    .option('--no-keep-borrowers-years', '10 years, and no erasure is proposed')
    .option('--keep-others-years <years>', 'how long what is known of a customer who never borrowed is kept', years)
    .option('--no-keep-others-years', '0 years, and no erasure is proposed')
    .action(({ organization: given, ...asked }: AskedSettings, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        if (Object.keys(asked).length === 0)
          throw new UsageError('say which setting: mkopo organizations update --help')
        const { id } = await organization(given)
        const { paymentMethod, legalName, licenceNumber, logo, approvalAbove } = asked
        const { keepBorrowersYears, keepOthersYears } = asked
        const updated = await updateOrganization(deps, by(id), {
          paymentMethod,
          legalName: orNull(legalName),
          licenceNumber: orNull(licenceNumber),
          logo: typeof logo === 'string' ? await readGiven(logo, 'logo') : logo === false ? null : undefined,
          approvalAbove: orNull(approvalAbove),
          keepBorrowersYears: orNull(keepBorrowersYears),
          keepOthersYears: orNull(keepOthersYears),
        })
        printer.done(
          { ...viewOf(updated), hasLogo: updated.hasLogo },
          `The settings of organization ${id} are changed.`,
        )
      }),
    )
}

const orNull = <T>(given: T | false | undefined): T | null | undefined => (given === false ? null : given)

/** Builds the view of an organization, with its amount as a decimal. */
const viewOf = ({ approvalAbove, ...rest }: Organization) => ({
  ...rest,
  approvalAbove: approvalAbove === null ? null : minorToText(approvalAbove, currencyOf(rest.currency)),
})
