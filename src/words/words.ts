/** The languages of the pages and documents for people: English and Kiswahili. */
export const LANGUAGES = ['en', 'sw'] as const
export type Language = (typeof LANGUAGES)[number]

/** A word in each of the languages, in their order. */
export type Word = readonly [english: string, kiswahili: string]

/** The words of one subject, by name. */
export type Words<Key extends string = string> = Readonly<Record<Key, Word>>

/** Returns a function that writes the words of a subject in one language. */
export const speak =
  <Key extends string>(words: Words<Key>, language: Language): ((key: Key) => string) =>
  (key) =>
    words[key][LANGUAGES.indexOf(language)]!
