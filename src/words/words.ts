/** The languages of the pages and documents for people: English and Kiswahili. */
export const LANGUAGES = ['en', 'sw'] as const
export type Language = (typeof LANGUAGES)[number]

/** A word in each of the languages, in their order. A `{name}` in it stands for a value. */
export type Word = readonly [english: string, kiswahili: string]

/** The words of one subject, by name. */
export type Words<Key extends string = string> = Readonly<Record<Key, Word>>

/** Values for the names in a word. */
export type Values = Readonly<Record<string, string | number | bigint>>

/** Returns the word of a name in one language, with its values filled in. */
export type Say<Key extends string> = (key: Key, values?: Values) => string

/** Returns a function that writes the words of a subject in one language. */
export function speak<Key extends string>(words: Words<Key>, language: Language): Say<Key> {
  const place = LANGUAGES.indexOf(language)
  return (key, values) => {
    const word = words[key][place]!
    return values === undefined ? word : word.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''))
  }
}

/** Returns whether a text names one of the languages. */
export const isLanguage = (text: string): text is Language => LANGUAGES.some((one) => one === text)

/** Returns the word for a name of the contract in one language; the name itself where there is no word for it. */
export const nameIn = (words: Words, language: Language, name: string): string =>
  (Object.hasOwn(words, name) ? words[name] : undefined)?.[LANGUAGES.indexOf(language)] ?? name
