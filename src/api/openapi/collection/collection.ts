import type { Config } from '../../../app/config.ts'
import { DEMO_OPERATOR } from '../../../services/organizations/seedDemo.ts'
import type { StoryVariables } from '../../style.ts'
import { type Style, type StyleName, urlOf } from '../../style.ts'
import type { Document } from '../share.ts'
import { type ExampleRequest, type Folder, NO_VARIABLES, readRequests } from './requests.ts'

/** A variable of a collection, its value, and what it is for. */
export interface Variable {
  readonly name: string
  readonly value: string
  readonly description: string
}

/** The requests of a style with examples, to send them in order from a client that people use. */
export interface Collection {
  readonly title: string
  readonly description: string
  /** What a person sets before the first request. The URL of tokens is `authUrl`, that of all other requests is `url`. */
  readonly settings: readonly Variable[]
  /** The ids that the caller chooses. */
  readonly chosen: readonly Variable[]
  /** The ids that a request takes from the answer to an earlier one. */
  readonly answered: readonly Variable[]
  /** The request that gets the token; every other one comes after it. */
  readonly signIn: ExampleRequest
  readonly folders: readonly Folder[]
  /** The header `Host` of a request, where the URLs are those of this machine. */
  hostOf(request: ExampleRequest): string | undefined
}

/** The member of the answer to the sign-in that has the token. */
export const TOKEN = 'token'

const SIGN_IN: ExampleRequest = {
  id: 'signIn',
  name: 'Sign in',
  description: 'Gets the token that every other request sends. Set `email` and `password` first.',
  method: 'GET',
  path: '/v1/auth/token',
  query: [],
  auth: 'basic',
  body: undefined,
  keeps: [{ variable: TOKEN, at: [TOKEN] }],
}

const HOW = `\
Send the requests from the top to the bottom: the first one signs in, and each request takes the ids that it needs from the
answers before it. On a book that has data, choose ids of your own first. A request that states "ADMIN only" needs an account
with that role.`

/** Returns the collection of a style, from its document. */
export function collectionOf(style: Style, config: Config, document: Document): Collection {
  const variables = style.variables ?? NO_VARIABLES
  const folders = readRequests(document, variables).filter(({ requests }) => requests.length > 0)
  const own = folders.flatMap(({ requests }) => requests).find(({ auth }) => auth === 'basic')
  const signIn = own === undefined ? SIGN_IN : { ...SIGN_IN, ...own, keeps: SIGN_IN.keeps }
  const urls = urlsOf(config)
  return {
    title: style.title,
    description: `${style.description}\n\n${HOW}`,
    settings: settingsOf(config, { authUrl: urls.of('auth'), url: urls.of(style.name) }),
    ...idsOf(variables, folders),
    signIn,
    folders: folders
      .map((folder) => ({ ...folder, requests: folder.requests.filter((one) => one !== own) }))
      .filter(({ requests }) => requests.length > 0),
    hostOf: (request) => urls.hostOf(request === signIn ? 'auth' : style.name),
  }
}

function settingsOf({ seedDemo }: Config, { authUrl, url }: { authUrl: string; url: string }): readonly Variable[] {
  const { email, password } = seedDemo ? DEMO_OPERATOR : { email: '', password: '' }
  return [
    { name: 'authUrl', value: authUrl, description: 'The URL of the host that issues tokens.' },
    { name: 'url', value: url, description: 'The URL of the host that these requests go to.' },
    { name: 'email', value: email, description: 'The e-mail of your account.' },
    { name: 'password', value: password, description: 'The password of your account.' },
  ]
}

function idsOf(
  { chosen, answered }: StoryVariables,
  folders: readonly Folder[],
): Pick<Collection, 'chosen' | 'answered'> {
  const names = new Map(folders.flatMap(({ requests }) => requests.map(({ id, name }) => [id, name] as const)))
  return {
    chosen: Object.entries(chosen).map(([name, { value }]) => ({
      name,
      value: String(value),
      description: 'An id of your own. Choose one that your book does not have yet.',
    })),
    answered: Object.entries(answered).map(([name, { operationId }]) => ({
      name,
      value: '',
      description: `Set by the request “${names.get(operationId)}”.`,
    })),
  }
}

const LOCAL = /(^|\.)localhost$/

/**
 * Returns the URLs for a client. Many clients do not know that a name such as `api.localhost` is this machine: they get the
 * address of this machine, and the name in the header `Host`.
 */
function urlsOf(config: Config) {
  const isLocal = (name: StyleName) => LOCAL.test(new URL(urlOf(config, name)).hostname)
  return {
    of: (name: StyleName) => {
      const { protocol, port, pathname } = new URL(urlOf(config, name))
      const path = pathname.replace(/\/$/, '')
      return isLocal(name) ? `${protocol}//127.0.0.1${port && `:${port}`}${path}` : urlOf(config, name)
    },
    hostOf: (name: StyleName) => (isLocal(name) ? new URL(urlOf(config, name)).host : undefined),
  }
}
