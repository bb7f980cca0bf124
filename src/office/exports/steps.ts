import type { FastifyRequest } from 'fastify'
import { invalidArgument } from '../../domain/errors.ts'
import { EXPORT_MODES } from '../../domain/exports/vocabulary.ts'
import {
  acceptExport,
  checkRequest,
  createExport,
  type ExportRequest,
  getExport,
} from '../../services/exports/exports.ts'
import { listFormats } from '../../services/exports/formats.ts'
import { dayOf, type Fields, idOf, sayName, textOf, wordOf } from '../desk.ts'
import { tile, tiles } from '../layout/page.ts'
import type { Field } from '../loan/actions.ts'
import type { Step } from '../routes/flow.ts'
import { FILES } from './pages.ts'

/** Returns the fields of the form, with the names of the formats that the lender has. */
const fieldsWith = (names: readonly string[]): readonly Field[] => [
  { name: 'format', word: 'format', kind: 'choice', names },
  {
    name: 'mode',
    word: 'modeOfFile',
    kind: 'choice',
    choices: EXPORT_MODES.map((mode) => [mode, `mode_${mode}` as const]),
  },
  { name: 'asOf', word: 'asOfDay', kind: 'date' },
  { name: 'settings', word: 'settingsOfFile', kind: 'text', longest: 2_000 },
]

/** Reads the form. @throws LendingError `invalid_argument` */
function requestIn(fields: Fields): ExportRequest {
  const settings = (textOf(fields, 'settings') ?? '').split(';').filter((part) => part.trim() !== '')
  const pairs = settings.map((part) => {
    const [, name, value] = /^\s*([A-Za-z]\w*)\s*=\s*(.*?)\s*$/.exec(part) ?? []
    if (name === undefined || value === undefined) throw invalidArgument('settings', 'must be name=value; name=value')
    return [name, value]
  })
  return {
    format: textOf(fields, 'format', 100) ?? '',
    mode: wordOf(EXPORT_MODES, fields, 'mode'),
    asOf: dayOf(fields, 'asOf'),
    settings: Object.fromEntries(pairs),
  }
}

/** Returns the steps of asking for a file; for an ADMIN. @throws LendingError `permission_denied` */
export async function createExportStep({ desk }: Pick<FastifyRequest, 'desk'>): Promise<Step> {
  const { deps, caller, say } = desk
  const formats = await listFormats(deps, caller)
  const names = [...new Set(formats.map(({ format }) => format.name))]
  return {
    title: say('askForFile'),
    means: say('meansAskForFile'),
    fields: fieldsWith(names),
    values: {},
    back: FILES,
    async show(fields) {
      const { format, asOf, mode, corrects } = await checkRequest(deps, caller, requestIn(fields))
      const view = tiles([
        tile(say('format'), `${format.title} (${format.version})`),
        tile(say('asOf'), asOf),
        tile(say('modeOfFile'), sayName(say, `mode_${mode}`)),
      ])
      return { view, mark: [format.name, format.version, asOf, mode, corrects].join(' ') }
    },
    async run(by, fields) {
      await createExport(deps, by, requestIn(fields))
      return 'doneAskForFile'
    },
  }
}

/** Returns the steps of saying that the receiver has accepted a file; for an ADMIN. @throws LendingError */
export async function acceptExportStep({
  desk,
  params,
}: Pick<FastifyRequest<{ Params: Readonly<Record<'id', string>> }>, 'desk' | 'params'>): Promise<Step> {
  const { deps, caller, say } = desk
  const id = idOf(params.id, 'export')
  await getExport(deps, caller, id)
  return {
    title: say('titleAcceptFile', { id }),
    means: say('meansAcceptFile'),
    fields: [],
    values: {},
    back: `${FILES}/${id}`,
    asksFirst: true,
    async show() {
      const { format, asOf, state } = await getExport(deps, caller, id)
      return {
        view: tiles([tile(format, asOf), tile(say('state'), sayName(say, `export_${state}`))]),
        mark: state,
      }
    },
    async run(by) {
      await acceptExport(deps, by, id)
      return 'doneAcceptFile'
    },
  }
}
