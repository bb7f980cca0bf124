import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../../services/deps.ts'
import { readExportFile, type SentFile } from '../../../services/exports/exportFile.ts'
import {
  acceptExport,
  countErased,
  createExport,
  getExport,
  listExceptions,
  listExcluded,
  listExports,
  MOST_RUNNING,
} from '../../../services/exports/exports.ts'
import { CSV_TYPE } from '../../body/accepted.ts'
import { rangeOf } from '../../lists/query.ts'
import type { Explained, StyleApp } from '../../style.ts'
import { toPage } from '../registry.ts'
import * as examples from './examples.ts'
import {
  createExportRequest,
  exceptionPage,
  excludedPage,
  exportPage,
  exportParams,
  exportQuery,
  exportSchema,
  partQuery,
  toException,
  toExcluded,
  toExport,
} from './exports.wire.ts'
import { formatRoutes } from './formats.ts'
import { listingRoutes } from './listings.ts'

const tags = ['exports']
/** Why no file is begun, and why one that is being made cannot be had. */
const NOT_NOW: Explained = {
  failed_precondition: [
    'Corrections without an accepted file, or too many files at a time.',
    `${MOST_RUNNING} files are being made: ask again when one of them is ready`,
  ],
}
const IS_MADE: Explained = {
  failed_precondition: ['The file is being made.', 'the file is being made: 0 of 0 loans are done'],
}

/** Adds the files for credit bureaux and supervisors, their formats, and what borrowers are told and say of their listing. */
export function exportRoutes(app: StyleApp, deps: Deps): void {
  formatRoutes(app, deps)
  listingRoutes(app, deps)
  makingRoutes(app, deps)
  readingRoutes(app, deps)
  partRoutes(app, deps)
}

function makingRoutes(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config
  app.post(
    '/v1/exports',
    {
      config: { refusals: ['failed_precondition'], explained: NOT_NOW },
      schema: {
        tags,
        operationId: 'createExport',
        summary: 'Ask for a file',
        description:
          'For a credit bureau or a supervisor, as of the end of a day. It is made in the background: read it until its `state` is `ready`. A loan of which a required field is missing is an exception, and no value is made up.',
        body: createExportRequest,
        response: { 200: exportSchema },
      },
    },
    async ({ caller, body }) => toExport(await createExport(deps, caller, body), zone),
  )
  app.post(
    '/v1/exports/:id/accept',
    {
      config: { refusals: ['failed_precondition'], explained: IS_MADE },
      schema: {
        tags,
        operationId: 'acceptExport',
        summary: 'Say that the receiver has accepted a file',
        description: 'Corrections are then of this file. A second time changes nothing.',
        params: exportParams,
        response: { 200: exportSchema },
      },
    },
    async ({ caller, params: { id } }) => toExport(await acceptExport(deps, caller, id), zone),
  )
}

function readingRoutes(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config
  app.get(
    '/v1/exports',
    {
      schema: {
        tags,
        operationId: 'listExports',
        summary: 'List files',
        description: 'In the order in which they were asked for.',
        querystring: exportQuery,
        response: { 200: exportPage },
      },
    },
    async ({ caller, query }) =>
      toPage(await listExports(deps, caller, query.format, rangeOf(query)), query, (file) => toExport(file, zone)),
  )
  app.get(
    '/v1/exports/:id',
    {
      schema: {
        tags,
        operationId: 'getExport',
        summary: 'Read how far a file is',
        description: 'With its control totals, its digest, and why loans are left out.',
        params: exportParams,
        response: { 200: exportSchema },
      },
    },
    async ({ caller, params: { id } }) => ({
      ...toExport(await getExport(deps, caller, id), zone),
      erased: await countErased(deps, caller, id),
    }),
  )
}

function partRoutes(app: StyleApp, deps: Deps): void {
  app.get(
    '/v1/exports/:id/exceptions',
    {
      schema: {
        tags,
        operationId: 'listExportExceptions',
        summary: 'List what is wrong with loans',
        description: 'Each field that is missing or wrong, by loan. Of `rows` loans. Follow the cursor.',
        params: exportParams,
        querystring: partQuery,
        response: { 200: exceptionPage },
      },
    },
    async ({ caller, params: { id }, query }) =>
      toPage(await listExceptions(deps, caller, id, query), query, toException),
  )
  app.get(
    '/v1/exports/:id/excluded',
    {
      schema: {
        tags,
        operationId: 'listExcludedLoans',
        summary: 'List the loans that a file leaves out',
        description: 'Each with its reason. Follow the cursor.',
        params: exportParams,
        querystring: partQuery,
        response: { 200: excludedPage },
      },
    },
    async ({ caller, params: { id }, query }) => toPage(await listExcluded(deps, caller, id, query), query, toExcluded),
  )
  app.get(
    '/v1/exports/:id/file',
    {
      config: { refusals: ['failed_precondition'], explained: IS_MADE },
      schema: {
        tags,
        operationId: 'getExportFile',
        summary: 'Get the file',
        description:
          'The same bytes each time, whose SHA-256 is `sha256`; without the lines of customers who were erased since.',
        params: exportParams,
        response: {
          200: {
            description: 'The file.',
            content: { [CSV_TYPE]: { schema: z.string().meta({ examples: [examples.FILE] }) } },
          },
        },
      },
    },
    async ({ caller, params: { id } }, reply) => {
      return sendParts(reply, await readExportFile(deps, caller, id)) as never
    },
  )
}

/** Sends a file part by part: the next part is read when the client has taken one. */
const sendParts = (reply: FastifyReply, { name, parts }: SentFile): FastifyReply =>
  reply
    .header('content-disposition', `attachment; filename="${name}"`)
    .type(`${CSV_TYPE}; charset=utf-8`)
    .send(Readable.from(parts, { objectMode: false, highWaterMark: 1 }))
