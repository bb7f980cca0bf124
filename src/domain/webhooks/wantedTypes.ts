import { type EventType, TYPE_WORDS, typesOf } from '../events/eventTypes.ts'

/** The word for every type, also for those that a later version adds. */
export const EVERY_TYPE = '*'

/** What an endpoint can want: every type, each type, and each group of types (`loan.*`). */
export const WANTED_WORDS: readonly string[] = [EVERY_TYPE, ...TYPE_WORDS]

/** Returns the types that words of `WANTED_WORDS` stand for; undefined for every type. */
export const wantedTypes = (words: readonly string[]): readonly EventType[] | undefined =>
  words.includes(EVERY_TYPE) ? undefined : typesOf(words)
