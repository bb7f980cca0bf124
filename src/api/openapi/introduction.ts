import type { Config } from '../../app/config.ts'
import { DEMO_PARTNER } from '../../services/organizations/seedDemo.ts'
import { type Chapter, type Style, urlOf } from '../style.ts'
import { tableOfCodes } from './refusals.ts'

/** Returns the introduction of a style's document: what a caller has to know before the first call. */
export function introductionOf(style: Style, config: Config): string {
  const chapters: readonly Chapter[] = [
    ['Getting a token', gettingToken(config)],
    ...(isLocal(urlOf(config, style.name)) ? [['Host names of this machine', localNames(style, config)] as const] : []),
    ...style.chapters,
    ['Errors', errors(style)],
    ['Versions and deprecation', VERSIONS],
  ]
  return [style.description, ...chapters.map(([heading, text]) => `## ${heading}\n\n${text}`)].join('\n\n')
}

const gettingToken = (config: Config) => `\
A call carries \`Authorization: Bearer <token>\`. Get the token with e-mail and password. It is valid for 365 days: keep it, and
get another one only when it is refused with 401.

\`\`\`sh
curl -u '${config.seedDemo ? `${DEMO_PARTNER.email}:${DEMO_PARTNER.password}` : 'E-MAIL:PASSWORD'}' ${config.authUrl}/v1/auth/token
\`\`\`

Others can check tokens with the keys at \`${config.authUrl}/.well-known/jwks.json\`.`

const LOCAL = /(^|\.)localhost$/

const isLocal = (url: string) => LOCAL.test(new URL(url).hostname)

function localNames(style: Style, config: Config): string {
  const { host, hostname } = new URL(urlOf(config, style.name))
  const port = host.slice(hostname.length + 1) || '80'
  return `\
Browsers and curl know that \`${hostname}\` is this machine. Many programs do not: they say that the name cannot be resolved. Then
call \`http://127.0.0.1:${port}\` with the header \`Host: ${hostname}\`. With curl: \`curl --resolve ${hostname}:${port}:127.0.0.1 …\`. A path
that only one style has needs neither.`
}

const errors = (style: Style) => `\
A refusal changes nothing. Its body is a \`Failure\`: a \`code\` for programs, a \`message\` for people and, where fields are at
fault, \`details\`. An unknown field or parameter is refused, too; \`null\` for an optional field is the same as leaving it
out. Every answer carries \`X-Request-Id\`: the id that you sent, or a new one. Quote it when you ask about an answer.

${tableOfCodes(style)}

With 429, 503 and some answers of 409, \`Retry-After\` says in how many seconds to send the request again. When no answer
comes, send the same request again: no repeated request posts money twice if it carries an id or a key of yours.`

const VERSIONS = `\
The paths begin with \`/v1\`. Within v1, a later version of the service may add operations, optional fields and parameters of
requests, fields of answers, headers, and values of the texts that say so. A client has to ignore what it does not know.

Nothing else changes within v1 without a warning: no field, parameter or operation is removed, renamed or given another
meaning, and nothing optional becomes required. What is to go is announced at least 6 months before: its answers then carry
\`Deprecation\` (RFC 9745) and \`Sunset\` (RFC 8594), and the document marks it as \`deprecated\`.`
