/** The tools of the trial and their exact versions. Each is fetched by the client of its registry, into a cache. */
export const VERSIONS = {
  redocly: '2.77.0',
  spectral: '6.16.3',
  schemathesis: '4.32.5',
  openapiGenerator: '7.25.0',
  oapiCodegen: '2.8.2',
  openapiTypescript: '7.13.0',
  heyApi: '0.99.0',
  orval: '8.38.0',
} as const

/** Packages that generated clients need beside them, by registry. Those of Java are in the generated `pom.xml`. */
export const COMPANIONS = {
  npm: { typescript: '5.9.3', 'openapi-fetch': '0.17.0', '@types/node': '24.19.2' },
  pypi: {
    pydantic: '2.14.3',
    'python-dateutil': '4.0.0',
    'typing-extensions': '4.16.0',
    urllib3: '2.8.0',
  },
  go: {
    'github.com/oapi-codegen/runtime': 'v1.8.0',
    'github.com/oapi-codegen/nullable': 'v1.1.0',
    'gopkg.in/validator.v2': 'v2.0.1',
  },
  maven: { 'org.apache.maven.plugins:maven-dependency-plugin': '3.11.0' },
} as const
