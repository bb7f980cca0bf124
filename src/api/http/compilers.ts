import type { FastifyServerOptions } from 'fastify'
import { validatorCompiler } from '../body/validation.ts'

/**
 * The compilers of all schemas. Those of answers are for the document only: the views that build answers are typed, and zod would
 * cost more than they do. Without this option Fastify loads Ajv and fast-json-stringify, a hundred modules, at each start.
 */
export const schemaController = {
  compilersFactory: { buildValidator: () => validatorCompiler as never, buildSerializer: () => () => JSON.stringify },
} satisfies FastifyServerOptions['schemaController']
