import { expect, it } from 'vitest'
import {
  forgoneFromText,
  unearnedFromText,
  unearnedToText,
} from '../../../src/domain/loan/carriedForward/recognitionText.ts'

it.each([
  { interest: 0n, fees: 0n },
  { interest: 12_345n, fees: 0n },
  { interest: 0n, fees: 99n },
])('reads what it wrote: %o', (unearned) => expect(unearnedFromText(unearnedToText(unearned))).toEqual(unearned))

it.each(['12', '12,99,1', 'x,99', '12;99'])('refuses %s, which is no interest and fees', (text) =>
  expect(() => unearnedFromText(text)).toThrow(SyntaxError),
)

it.each(['1,2/3,4/5,6', '1,2/3'])('refuses %s, which is no two amounts', (text) =>
  expect(() => forgoneFromText(text)).toThrow(SyntaxError),
)
