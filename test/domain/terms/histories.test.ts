import { describe, expect, it } from 'vitest'
import { workedHistories } from './historyTable.ts'
import { expectedRows, playHistory } from './playHistory.ts'

const files = workedHistories()

describe('worked histories', () => {
  it('are as many as there should be, each with a title of its own', () => {
    const titles = files.flatMap(([, histories]) => histories.map(({ title }) => title))
    expect(titles.length).toBeGreaterThanOrEqual(40)
    expect(new Set(titles).size).toBe(titles.length)
  })
})

describe.each(files)('%s', (_, histories) => {
  it.each(histories.map((history) => [history.title, history] as const))('%s', (_, history) => {
    const rows = playHistory(history, (domain, model) => expect(domain).toEqual(model))
    expect(rows).toEqual(expectedRows(history))
  })
})
