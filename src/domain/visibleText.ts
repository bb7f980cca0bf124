/** Format characters and line separators: with them, two texts that look alike could differ (Unicode, UTS 39). */
const INVISIBLE = /[\p{Cf}\p{Zl}\p{Zp}]/u

/** A character that is seen: no space, no control, no filler. U+2800 is a pattern of Braille without a dot. */
const VISIBLE = /[^\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u

/** Returns whether a text has characters that cannot be seen, or that turn the text around. */
export const hasInvisible = (text: string): boolean => INVISIBLE.test(text)

/** Returns whether a text has a character that can be seen. */
export const hasVisible = (text: string): boolean => VISIBLE.test(text)

/** Characters that nobody sees, or that change how others are seen. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** Returns how a character is written by its number: `[U+202E]`. */
export const byNumber = (character: string): string =>
  `[U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`

/** Returns a text with each character that is not seen by its number. */
export const showHidden = (text: string): string => text.replace(HIDDEN, byNumber)
