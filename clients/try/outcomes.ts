import { NotHereError } from './run.ts'
import type { StyleName } from './service.ts'

/** How a step of the trial ended. A step is skipped where its tool or its compiler is not here. */
export interface Outcome {
  readonly kind: 'passed' | 'failed' | 'skipped'
  /** Figures of a step that passed; why another one did not. */
  readonly note: string
}

/** One line of the result. */
export interface Line {
  readonly tool: string
  readonly version: string
  readonly style: StyleName | 'all'
  /** By the name of the step, in the order in which the steps ran. */
  readonly steps: Readonly<Record<string, Outcome>>
}

/** Runs a step to its outcome. A step that throws has failed. */
export async function attempt(step: () => Promise<string | undefined>): Promise<Outcome> {
  try {
    return { kind: 'passed', note: (await step()) ?? '' }
  } catch (error) {
    const note = (error as Error).message
    return { kind: error instanceof NotHereError ? 'skipped' : 'failed', note }
  }
}

/**
 * Runs steps in order, by name. Those after one that did not pass are left out.
 * @param say is told of each step that did not pass
 */
export async function attemptAll(
  steps: Readonly<Record<string, () => Promise<string | undefined>>>,
  say: (step: string, outcome: Outcome) => void,
): Promise<Record<string, Outcome>> {
  const outcomes: Record<string, Outcome> = {}
  for (const [name, step] of Object.entries(steps)) {
    const outcome = await attempt(step)
    outcomes[name] = outcome
    if (outcome.kind === 'passed') continue
    say(name, outcome)
    break
  }
  return outcomes
}
