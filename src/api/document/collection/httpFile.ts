import { type Collection, TOKEN, type Variable } from './collection.ts'
import type { ExampleRequest, RequestBody } from './requests.ts'

const BOUNDARY = 'the-next-field'

/**
 * Returns a collection as a file of HTTP requests, in the words of the REST Client of VS Code: `@name = value` is a variable,
 * `# @name` names a request, and `{{name.response.body.$.member}}` is a member of its answer.
 */
export function httpFileOf(collection: Collection): string {
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
    ...bodyOf(body),
  ]
  return withAnswers(collection, lines.join('\n'))
}

function authOf({ signIn }: Collection, { auth }: ExampleRequest): readonly string[] {
  if (auth === 'none') return []
  if (auth === 'basic') return ['Authorization: Basic {{email}}:{{password}}']
  return [`Authorization: Bearer {{${signIn.id}.response.body.$.${TOKEN}}}`]
}

function bodyOf(body: RequestBody | undefined): readonly string[] {
  if (body === undefined) return []
  if (body.kind === 'json') return ['Content-Type: application/json', '', body.text]
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
