/** An id that the caller chooses: the value of the examples, and the members of bodies that hold it. */
interface ChosenId {
  readonly value: string | number
  readonly members: readonly string[]
}

/** An id that the service answers: the operation, and the members that lead to it in the answer. */
interface AnsweredId {
  readonly operationId: string
  readonly at: readonly (string | number)[]
}

/** The ids of the examples of a style that a collection of requests has as variables, each under the variable's name. */
export interface StoryVariables {
  readonly chosen: Readonly<Record<string, ChosenId>>
  readonly answered: Readonly<Record<string, AnsweredId>>
  /**
   * The variable of the last parameter of each beginning of a path. The longest beginning counts; a parameter of none keeps
   * its example.
   */
  readonly inPaths: Readonly<Record<string, string>>
}

/** The variables of a style whose operations name no id. */
export const NO_VARIABLES: StoryVariables = { chosen: {}, answered: {}, inPaths: {} }

/** Returns the variable of a parameter of a path. */
export function variableOf({ inPaths }: StoryVariables, path: string, parameter: string): string | undefined {
  const [longest] = Object.keys(inPaths)
    .filter((beginning) => path.startsWith(beginning) && lastParameter(beginning) === parameter)
    .sort((one, other) => other.length - one.length)
  return longest === undefined ? undefined : inPaths[longest]
}

const lastParameter = (path: string): string | undefined => /\{(\w+)\}[^{]*$/.exec(path)?.[1]
