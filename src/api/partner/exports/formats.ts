import { z } from 'zod'
import { toRfc3339 } from '../../../domain/dates.ts'
import type { Deps } from '../../../services/deps.ts'
import {
  createFormat,
  getFormat,
  listFormats,
  MOST_FORMATS,
  type OfferedFormat,
} from '../../../services/exports/formats.ts'
import { JsonNumber } from '../../body/json.ts'
import { count } from '../../openapi/answers.ts'
import type { Explained, StyleApp } from '../../style.ts'
import { codec, instant, Refused } from '../../wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'
import { formatName } from './exports.wire.ts'

const tags = ['exports']
const STORED: Explained = {
  already_exists: [
    'The version is stored with another document.',
    'is stored already with another document: a version never changes',
  ],
  failed_precondition: [
    'There are too many versions.',
    `there are ${MOST_FORMATS} versions of formats, and no more can be stored`,
  ],
}

/** Returns a document with plain numbers, which the body has as they were written. */
const plain = (value: unknown): unknown => {
  if (value instanceof JsonNumber) return Number(value.source)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]))
}

const document = named(
  'ExportFormatContent',
  codec<unknown>(
    (value) => (typeof value === 'object' && value !== null ? plain(value) : new Refused('must be an object')),
    {
      type: 'object',
      additionalProperties: true,
      description: 'A format, as `docs/integrating/exports.md` says it: a checker names each fault.',
    },
  ),
  { example: examples.document },
)

const createRequest = named('CreateExportFormatRequest', z.strictObject({ document }), {
  example: { document: examples.document },
})

const members = {
  name: z.string(),
  version: z.string(),
  title: z.string(),
  source: z.string().describe('Where the layout comes from.'),
  storedAt: instant.nullable().describe('When you stored it; null: it comes with the service.'),
}

const formatSchema = named('ExportFormat', z.object(members), { example: examples.format })

const contentSchema = named('ExportFormatStored', z.record(z.string(), z.unknown()), { example: examples.document })

const documentSchema = named('ExportFormatDocument', z.object({ ...members, document: contentSchema }), {
  example: { ...examples.format, document: examples.document },
})

const listSchema = named('ExportFormatList', z.object({ items: z.array(formatSchema), total: count }), {
  example: { items: [examples.format], total: 1 },
})

const formatParams = z.object({ name: formatName })

/** Adds the layouts of files: those that come with the service, and a lender's own. */
export function formatRoutes(app: StyleApp, deps: Deps): void {
  const toFormat = ({ format, storedAt }: OfferedFormat) => ({
    name: format.name,
    version: format.version,
    title: format.title,
    source: format.source,
    storedAt: storedAt === null ? null : toRfc3339(storedAt, deps.config.zone),
  })
  const toDocument = (offered: OfferedFormat) => ({ ...toFormat(offered), document: { ...offered.format } })
  app.post(
    '/v1/export-formats',
    {
      config: { refusals: ['already_exists', 'failed_precondition'], explained: STORED },
      schema: {
        tags,
        operationId: 'createExportFormat',
        summary: 'Store a format of your own',
        description:
          'A version never changes: the same document again is the same version, and another one is refused.',
        body: createRequest,
        response: { 200: documentSchema },
      },
    },
    async ({ caller, body }) => toDocument(await createFormat(deps, caller, body.document)),
  )
  app.get(
    '/v1/export-formats',
    {
      schema: {
        tags,
        operationId: 'listExportFormats',
        summary: 'List formats',
        description: 'Those that come with the service, and then the versions of your own, the newest first.',
        response: { 200: listSchema },
      },
    },
    async ({ caller }) => {
      const items = (await listFormats(deps, caller)).map(toFormat)
      return { items, total: items.length }
    },
  )
  app.get(
    '/v1/export-formats/:name',
    {
      schema: {
        tags,
        operationId: 'getExportFormat',
        summary: 'Read a format',
        description: 'By its name, or by `name@version`.',
        params: formatParams,
        response: { 200: documentSchema },
      },
    },
    async ({ caller, params: { name } }) => toDocument(await getFormat(deps, caller, name)),
  )
}
