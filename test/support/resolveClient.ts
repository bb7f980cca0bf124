import { registerHooks } from 'node:module'

// Leads the name of the client's package to its source, for examples that are run before it is built.
const source = new URL('../../clients/typescript/src/index.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@mkopo/client' ? { url: source, shortCircuit: true } : next(specifier, context),
})
