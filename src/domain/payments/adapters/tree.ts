/** The body of a message: JSON or XML, with each number and each word as the text that was sent. */
export type Tree = string | null | readonly Tree[] | { readonly [name: string]: Tree }

/**
 * Where a text is in a message: names with dots between them, `Result.TransactionID`. `Item[Name=Amount]` is that element of the
 * list `Item` whose `Name` is `Amount`. Capitals count only where two names differ in nothing else.
 */
export type Path = string

interface Step {
  readonly name: string
  /** The member by which an element of a list is chosen, and its text. */
  readonly by?: readonly [member: string, text: string]
}

const STEP = /^([^[\]]+)(?:\[([^=\]]+)=([^\]]+)\])?$/

const known = new Map<Path, readonly Step[]>()

/** Reads a path of the table of an adapter; those are few, and each is read once. */
function stepsOf(path: Path): readonly Step[] {
  const steps = known.get(path) ?? path.split('.').map(stepOf)
  known.set(path, steps)
  return steps
}

function stepOf(text: string): Step {
  const [, name = '', member, is] = STEP.exec(text) ?? []
  return { name, ...(member !== undefined && is !== undefined && { by: [member, is] as const }) }
}

type Members = { readonly [name: string]: Tree }

const isList = (tree: Tree): tree is readonly Tree[] => Array.isArray(tree)
const isMembers = (tree: Tree | undefined): tree is Members =>
  typeof tree === 'object' && tree !== null && !Array.isArray(tree)

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

/** Returns the member with a name: the one that is written the same, or else the only one that differs in capitals. */
function memberOf(members: Members, name: string): Tree | undefined {
  if (Object.hasOwn(members, name)) return members[name]
  const names = Object.keys(members).filter((one) => isSame(one, name))
  return names.length === 1 ? members[names[0]!] : undefined
}

function follow(tree: Tree | undefined, { name, by }: Step): Tree | undefined {
  if (!isMembers(tree)) return undefined
  const found = memberOf(tree, name)
  if (by === undefined || found === undefined) return found
  const [member, text] = by
  const chosen = (isList(found) ? found : [found]).filter((one) => {
    const is = isMembers(one) ? memberOf(one, member) : undefined
    return typeof is === 'string' && isSame(is, text)
  })
  return chosen.length === 1 ? chosen[0] : undefined
}

/** Returns what a message has at a path: a text, a list or members; undefined where it has nothing, or two things. */
export const at = (tree: Tree, path: Path): Tree | undefined => stepsOf(path).reduce<Tree | undefined>(follow, tree)

/** Characters that no text of a payment has, and that no database takes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g

const plain = (text: string): string => text.toWellFormed().replaceAll(CONTROLS, ' ').trim()

/** Returns the text at the first of some paths that has one: on one line, without spaces around it; undefined for none. */
export function textAt(tree: Tree, paths: readonly Path[]): string | undefined {
  const found = exactAt(tree, paths)
  return found === undefined ? undefined : plain(found)
}

/** Returns the text at the first of some paths that has one, as it was sent but for spaces around it; undefined for none. */
export function exactAt(tree: Tree, paths: readonly Path[]): string | undefined {
  for (const path of paths) {
    const found = at(tree, path)
    if (typeof found === 'string' && plain(found) !== '') return found.trim()
  }
  return undefined
}

/** A tree that is being written. */
export type Written = { [name: string]: string | Written | Written[] }

/** Writes a text at a path. Lists and members on the way are made where they are missing. */
export function put(tree: Written, path: Path, text: string): void {
  const steps = stepsOf(path)
  let here = tree
  for (const [index, { name, by }] of steps.entries()) {
    if (by === undefined && index === steps.length - 1) {
      here[name] = text
      return
    }
    here = by === undefined ? membersAt(here, name) : elementAt(here, name, by)
  }
}

function membersAt(tree: Written, name: string): Written {
  const found = tree[name]
  if (typeof found === 'object' && !Array.isArray(found)) return found
  const made: Written = {}
  tree[name] = made
  return made
}

function elementAt(tree: Written, name: string, [member, text]: readonly [string, string]): Written {
  const found = tree[name]
  const list = Array.isArray(found) ? found : []
  tree[name] = list
  const known = list.find((one) => one[member] === text)
  if (known) return known
  const made: Written = { [member]: text }
  list.push(made)
  return made
}
