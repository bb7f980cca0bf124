import type { FastifyInstance } from 'fastify'
import manifest from '../../../../package.json' with { type: 'json' }
import type { Config } from '../../../app/config.ts'
import type { Style } from '../../style.ts'
import type { Document } from '../share.ts'
import { type Collection, collectionOf, TOKEN, type Variable } from './collection.ts'
import type { ExampleRequest, Kept, RequestBody } from './requests.ts'

/** A file to download from the page of the reference. */
export interface Download {
  readonly path: string
  readonly name: string
  /** What the file is, for a link. */
  readonly label: string
}

interface Format extends Download {
  readonly type: string
  write(collection: ReturnType<typeof collectionOf>): string
}

const formatsOf = ({ name }: Style): readonly Format[] => [
  {
    path: '/docs/postman.json',
    name: `mkopo-${name}.postman_collection.json`,
    label: 'Collection for Postman, Bruno and Insomnia',
    type: 'application/json; charset=utf-8',
    write: (collection) => `${JSON.stringify(postmanOf(collection), null, 2)}\n`,
  },
  {
    path: '/docs/requests.http',
    name: `mkopo-${name}.http`,
    label: 'HTTP file for the REST Client of VS Code',
    type: 'text/plain; charset=utf-8',
    write: httpFileOf,
  },
]

/** Returns the files that a style has to download. */
export const downloadsOf = (style: Style): readonly Download[] => formatsOf(style)

/**
 * Serves the example requests of a style's document as files for clients that people use. Each file is written once, when
 * it is first asked for.
 */
export function addDownloads(scope: FastifyInstance, style: Style, config: Config): void {
  for (const { path, name, type, write } of formatsOf(style)) {
    let written: string | undefined
    scope.get(path, { schema: { hide: true }, config: { public: true }, logLevel: 'warn' }, (_request, reply) => {
      written ??= write(collectionOf(style, config, scope.swagger() as Document))
      return reply.type(type).header('content-disposition', `attachment; filename="${name}"`).send(written)
    })
  }
}

const BOUNDARY = 'the-next-field'

/**
 * Returns a collection as a file of HTTP requests, in the words of the REST Client of VS Code: `@name = value` is a variable,
 * `# @name` names a request, and `{{name.response.body.$.member}}` is a member of its answer.
 */
function httpFileOf(collection: Collection): string {
  const { title, description, settings, chosen, signIn, folders } = collection
  const parts = [
    [`# ${title}`, '#', ...commented(description)].join('\n'),
    [...settings, ...chosen].map(settingText).join('\n'),
    requestText(collection, signIn, signIn.name),
    ...folders.flatMap((folder) =>
      folder.requests.map((request) => requestText(collection, request, `${folder.name}: ${request.name}`)),
    ),
  ]
  return `${parts.join('\n\n')}\n`
}

const commented = (text: string): readonly string[] => text.split('\n').map((line) => (line === '' ? '#' : `# ${line}`))

const settingText = ({ name, value, description }: Variable): string => `# ${description}\n@${name} = ${value}`

function requestText(collection: Collection, request: ExampleRequest, heading: string): string {
  const { id, description, method, path, query, body } = request
  const sent = query.filter(({ isSent }) => isSent).map((one) => `${one.name}=${encodeURIComponent(one.value)}`)
  const base = request === collection.signIn ? 'authUrl' : 'url'
  const host = collection.hostOf(request)
  const lines = [
    `### ${heading}`,
    ...(description === '' ? [] : commented(description)),
    `# @name ${id}`,
    `${method} {{${base}}}${path}${sent.length === 0 ? '' : `?${sent.join('&')}`}`,
    ...(host === undefined ? [] : [`Host: ${host}`]),
    ...authOf(collection, request),
    ...bodyLines(body),
  ]
  return withAnswers(collection, lines.join('\n'))
}

function authOf({ signIn }: Collection, { auth }: ExampleRequest): readonly string[] {
  if (auth === 'none') return []
  if (auth === 'basic') return ['Authorization: Basic {{email}}:{{password}}']
  return [`Authorization: Bearer {{${signIn.id}.response.body.$.${TOKEN}}}`]
}

function bodyLines(body: RequestBody | undefined): readonly string[] {
  if (body === undefined) return []
  if (body.kind === 'json') return [`Content-Type: ${body.type}`, '', body.text]
  const fields = body.fields.flatMap(({ name, value, isFile }) => [
    `--${BOUNDARY}`,
    `Content-Disposition: form-data; name="${name}"${isFile ? `; filename="${name}.pdf"` : ''}`,
    ...(isFile ? ['Content-Type: application/pdf', '', `< ./${name}.pdf`] : ['', value]),
  ])
  return [`Content-Type: multipart/form-data; boundary=${BOUNDARY}`, '', ...fields, `--${BOUNDARY}--`]
}

/** Returns a text with the members of earlier answers in place of the variables that have them. */
function withAnswers({ folders }: Collection, text: string): string {
  let filled = text
  for (const { id, keeps } of folders.flatMap(({ requests }) => requests))
    for (const { variable, at } of keeps) {
      const place = at.map((member) => (typeof member === 'number' ? `[${member}]` : `.${member}`)).join('')
      filled = filled.replaceAll(`{{${variable}}}`, () => `{{${id}.response.body.$${place}}}`)
    }
  return filled
}

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

/** Returns a collection in the format of Postman 2.1, which other clients import as well. */
const postmanOf = (collection: Collection) => ({
  info: {
    name: collection.title,
    description: collection.description,
    version: manifest.version,
    schema: SCHEMA,
  },
  auth: { type: 'bearer', bearer: [text('token', `{{${TOKEN}}}`)] },
  variable: [
    ...[...collection.settings, ...collection.chosen].map(variableOf),
    variableOf({ name: TOKEN, value: '', description: `Set by the request “${collection.signIn.name}”.` }),
    ...collection.answered.map(variableOf),
  ],
  item: [
    itemOf(collection, collection.signIn),
    ...collection.folders.map(({ name, description, requests }) => ({
      name,
      description,
      item: requests.map((request) => itemOf(collection, request)),
    })),
  ],
})

const text = (key: string, value: string) => ({ key, value, type: 'string' })

const variableOf = ({ name, value, description }: Variable) => ({ ...text(name, value), description })

function itemOf(collection: Collection, request: ExampleRequest) {
  const { name, description, method, auth, body, keeps } = request
  const host = collection.hostOf(request)
  const header = [
    ...(host === undefined ? [] : [{ key: 'Host', value: host }]),
    ...(body?.kind === 'json' ? [{ key: 'Content-Type', value: body.type }] : []),
  ]
  return {
    name,
    request: {
      method,
      header,
      url: urlOf(request, request === collection.signIn ? 'authUrl' : 'url'),
      description,
      ...(auth === 'none' && { auth: { type: 'noauth' } }),
      ...(auth === 'basic' && {
        auth: { type: 'basic', basic: [text('username', '{{email}}'), text('password', '{{password}}')] },
      }),
      ...(body && { body: bodyOf(body) }),
    },
    response: [],
    ...(keeps.length > 0 && {
      event: [{ listen: 'test', script: { type: 'text/javascript', exec: keeps.flatMap(keeping) } }],
    }),
  }
}

function urlOf({ path, query }: ExampleRequest, base: string) {
  const sent = query.filter(({ isSent }) => isSent).map(({ name, value }) => `${name}=${encodeURIComponent(value)}`)
  const all = query.map(({ name, value, description, isSent }) => ({
    key: name,
    value,
    description,
    ...(!isSent && { disabled: true }),
  }))
  return {
    raw: `{{${base}}}${path}${sent.length === 0 ? '' : `?${sent.join('&')}`}`,
    host: [`{{${base}}}`],
    path: path.slice(1).split('/'),
    ...(all.length > 0 && { query: all }),
  }
}

function bodyOf(body: RequestBody) {
  if (body.kind === 'json') return { mode: 'raw', raw: body.text, options: { raw: { language: 'json' } } }
  const formdata = body.fields.map(({ name, value, description, isFile }) =>
    isFile ? { key: name, type: 'file', src: null, description } : { key: name, type: 'text', value, description },
  )
  return { mode: 'formdata', formdata }
}

/** Returns the lines of a script that keeps a value of an answer in a variable of the collection. */
function keeping({ variable, at }: Kept): readonly string[] {
  const place = at.map((member) => `?.[${JSON.stringify(member)}]`).join('')
  return [
    `if (pm.response.code < 300 && pm.response.json()${place} !== undefined)`,
    `  pm.collectionVariables.set(${JSON.stringify(variable)}, pm.response.json()${place})`,
  ]
}
