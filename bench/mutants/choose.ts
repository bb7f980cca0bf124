import { randomFrom } from '../../test/support/random.ts'
import { type Mutation, mutationsOf } from './mutations.ts'

/** A fault in a file of the source. */
export interface Mutant extends Mutation {
  readonly area: string
  readonly file: string
  /** The line of the file in which it begins, from 1. */
  readonly line: number
  /** What stands there without it. */
  readonly instead: string
}

/** What the mutants are faults of, with the files of each. */
export const AREAS: Readonly<Record<string, RegExp>> = {
  money: /^src\/domain\/(money|loan\/(allocation|balances|debt|portions)|schedule\/\w+)\.ts$/,
  replay:
    /^src\/domain\/loan\/(entryIndex|fold|lifecycle|loan|outcomes|postingRules|recognition|replay|carriedForward\/\w+)\.ts$/,
  events: /^src\/(domain\/events\/\w+|(db|services)\/events\/(event\w*|trailedChange|sequencer|toldEvent))\.ts$/,
  seal: /^src\/(db|services)\/events\/(chain\w*|seal\w*|keptHeads)\.ts$/,
  journal: /^src\/(domain|db|services)\/accounting\/\w+\.ts$/,
}

/**
 * Returns as many mutants as are asked for, equally many of each area, chosen by a seed among all that the files can have: the
 * same sources and the same seed give the same mutants.
 * @param sources the text of each file, by its path
 */
export function chooseMutants(sources: ReadonlyMap<string, string>, count: number, seed: number): Mutant[] {
  const below = randomFrom(seed)
  const areas = Object.entries(AREAS).map(([area, files]) =>
    [...sources]
      .filter(([file]) => files.test(file))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([file, source]) => mutationsOf(source).map((mutation) => mutantOf(area, file, source, mutation))),
  )
  const chosen: Mutant[] = []
  while (chosen.length < count && areas.some((left) => left.length > 0))
    for (const left of areas)
      if (chosen.length < count && left.length > 0) chosen.push(...left.splice(below(left.length), 1))
  return chosen
}

const mutantOf = (area: string, file: string, source: string, mutation: Mutation): Mutant => ({
  ...mutation,
  area,
  file,
  line: source.slice(0, mutation.start).split('\n').length,
  instead: source.slice(mutation.start, mutation.end),
})
