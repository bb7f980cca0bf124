import manifest from '../../../../package.json' with { type: 'json' }
import { type Collection, TOKEN, type Variable } from './collection.ts'
import type { ExampleRequest, Kept, RequestBody } from './requests.ts'

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

/** Returns a collection in the format of Postman 2.1, which other clients import as well. */
export const postmanOf = (collection: Collection) => ({
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
    ...(body?.kind === 'json' ? [{ key: 'Content-Type', value: 'application/json' }] : []),
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
