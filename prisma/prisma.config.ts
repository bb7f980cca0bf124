// `prisma generate` reads the schema in WebAssembly, yet looks for a schema engine to download first. Nothing here
// uses that engine, and many networks cannot reach it, so it is told that it has one already.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath

export default { schema: 'schema.prisma', migrations: { path: 'migrations' } }
