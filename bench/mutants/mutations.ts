import { parseAst } from 'vitest/node'

/** A small fault for a source text: what stands from `start` to `end` becomes `text`. */
export interface Mutation {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** A node of the syntax tree, as far as it is looked at here. */
interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [name: string]: unknown
}

/** What stands in place of an operator. */
const OPERATORS: Readonly<Record<string, string>> = {
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+=': '-=',
  '-=': '+=',
  '++': '--',
  '--': '++',
}

/** Nodes of types that have an expression, which runs; what other types are made of does not run. */
const RUNNING_TYPES = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'])

/**
 * Returns the faults that can be planted in a TypeScript source, in the order of the source: another operator or comparison,
 * another constant, a condition turned round, a statement removed. Texts, such as SQL and messages, stay as they are.
 */
export function mutationsOf(source: string): Mutation[] {
  const found: Mutation[] = []
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) visit(one)
    if (!isNode(value) || !runs(value)) return
    found.push(...mutationsAt(value, source))
    for (const [name, child] of Object.entries(value)) if (name !== 'typeAnnotation') visit(child)
  }
  visit(parseAst(source, { lang: 'ts' }))
  return found.toSorted((a, b) => a.start - b.start || a.end - b.end)
}

/** Returns a source with a fault in it. */
export const mutated = (source: string, { start, end, text }: Mutation): string =>
  source.slice(0, start) + text + source.slice(end)

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string'

const runs = ({ type }: SyntaxNode): boolean =>
  type !== 'ImportDeclaration' && (!type.startsWith('TS') || RUNNING_TYPES.has(type))

function mutationsAt(node: SyntaxNode, source: string): Mutation[] {
  const { type, start, end } = node
  const textOf = (part: unknown) => source.slice((part as SyntaxNode).start, (part as SyntaxNode).end)
  switch (type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
    case 'AssignmentExpression':
      return otherOperator(node, source)
    case 'UpdateExpression': {
      const at = node.prefix ? start : end - 2
      return [{ start: at, end: at + 2, text: OPERATORS[String(node.operator)]! }]
    }
    case 'UnaryExpression':
      return ['-', '!'].includes(String(node.operator)) ? [{ start, end, text: textOf(node.argument) }] : []
    case 'Literal':
      return otherConstant(node, source)
    case 'IfStatement':
    case 'ConditionalExpression': {
      const test = node.test as SyntaxNode
      return [{ start: test.start, end: test.end, text: `!(${textOf(test)})` }]
    }
    case 'ExpressionStatement':
    case 'ThrowStatement':
      return [{ start, end, text: '{}' }]
    default:
      return []
  }
}

function otherOperator(node: SyntaxNode, source: string): Mutation[] {
  const text = OPERATORS[String(node.operator)]
  if (text === undefined) return []
  const start = source.indexOf(String(node.operator), (node.left as SyntaxNode).end)
  return [{ start, end: start + String(node.operator).length, text }]
}

/** Whole numbers become the next one, and what is true false. */
function otherConstant({ start, end, value }: SyntaxNode, source: string): Mutation[] {
  const raw = source.slice(start, end)
  if (typeof value === 'boolean') return [{ start, end, text: String(!value) }]
  if (!/^\d[\d_]*n?$/.test(raw)) return []
  const next = BigInt(raw.replace(/[_n]/g, '')) + 1n
  return [{ start, end, text: raw.endsWith('n') ? `${next}n` : String(next) }]
}
