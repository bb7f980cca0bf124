import { describe, expect, it } from 'vitest'
import { METHODS } from '../../../src/domain/accounting/contribution.ts'
import { play, workedByFile } from './playJournal.ts'

/** The sides of a posting in any order: an example may name the accounts as an accountant would. */
const sorted = (said = 'missing'): string =>
  said
    .split(' | ')
    .map((side) => side.split(', ').toSorted().join(', '))
    .join(' | ')

describe.each(workedByFile())('worked postings: %s', (_, examples) => {
  it.each(examples)('$title', (worked) => {
    const isShown = worked.steps.map(({ expected }) => Object.keys(expected).length > 0)
    const written = ({ on, does, expected }: (typeof worked.steps)[number], index: number) =>
      isShown[index] ? METHODS.map((method) => `${on} ${does} (${method}): ${sorted(expected[method])}`) : []
    expect(isShown).toContain(true)
    expect(play(worked).flatMap(written)).toEqual(worked.steps.flatMap(written))
  })

  it.each(examples)('$title: says what the reference posts', ({ reference }) => {
    expect(reference.length).toBeGreaterThan(20)
  })
})

it('there are worked postings of every kind of change', () => {
  const examples = workedByFile().flatMap(([, of]) => of)
  expect(examples.length).toBeGreaterThanOrEqual(40)
  const done = new Set(examples.flatMap(({ steps }) => steps.map(({ does }) => does.split(' ')[0])))
  expect([...done].toSorted()).toEqual(
    [
      ...['adjust', 'charge-off', 'disburse', 'open', 'pay-out', 'recover', 'refund', 'repay', 'restate', 'reverse'],
      ...['time', 'waive', 'write-off'],
    ].toSorted(),
  )
})
