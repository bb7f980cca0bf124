import { type RecordId, writeJson } from './recordIds.ts'
import type { Answer, Call, TestService } from './service.ts'
import type { Wire } from './wire.ts'

type Send = (path: string, call?: Call) => Promise<Answer<Wire<RecordId>>>

/** A service by its records host. */
export interface Records {
  readonly get: Send
  readonly post: Send
  readonly put: Send
}

export function recordsOf(service: TestService): Records {
  const { host } = new URL(service.deps.config.recordsUrl)
  return {
    get: (path, call) => service.get(path, { host, ...call }),
    post: (path, call) => service.post(path, { host, ...call }),
    put: (path, call) => service.put(path, { host, ...call }),
  }
}

/** Ids at the ends of the range and just past what a double holds. */
export const EXTREME_IDS = ['1', '9007199254740993', '9223372036854775807'] as const

/** A body as JSON, with one member written as given: a double could not carry it. */
export const rawWith = (body: object, name: string, json: string): string =>
  writeJson({ ...body, [name]: JSON.rawJSON(json) })

/** A body without one member. */
export const without = (body: object, name: string): object =>
  Object.fromEntries(Object.entries(body).filter(([key]) => key !== name))
