import { globSync, readFileSync, writeFileSync } from 'node:fs'

// Writes what is in the image: `sbom.cdx.json`, of the bill of materials that npm makes of the whole lock file (on stdin)
// the packages that are installed, since npm's own --omit also leaves out some that are needed; and `licences.csv`.
// Ends with 1 where a package is installed that npm does not list, or none says its licence.

/** Packages whose `package.json` names no licence, with that of the file LICENSE in them. */
const BY_THEIR_FILE = { 'png-js': 'MIT' }

const installed = new Set(
  globSync('node_modules/**/package.json').flatMap((path) => {
    const place = path.split('node_modules/').at(-1)
    if (!/^(?:@[^/]+\/)?[^/]+\/package\.json$/.test(place)) return []
    const { name, version } = JSON.parse(readFileSync(path, 'utf8'))
    return [`${name}@${version}`]
  }),
)
const bill = JSON.parse(readFileSync(0, 'utf8'))
const nameOf = ({ name, version }) => `${name}@${version}`
const components = bill.components.filter((component) => installed.has(nameOf(component)))
const dependencies = bill.dependencies
  .filter(({ ref }) => installed.has(ref) || ref === bill.metadata.component['bom-ref'])
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => installed.has(one)) }))
writeFileSync('sbom.cdx.json', JSON.stringify({ ...bill, components, dependencies }))

const rows = components.map(({ name, version, licenses = [] }) => {
  const named = licenses.map(({ license, expression }) => expression ?? license.id ?? license.name)
  return [name, version, named.join(' AND ') || BY_THEIR_FILE[name]]
})
writeFileSync(
  'licences.csv',
  `name,version,licence\n${rows
    .map((row) => `${row.join(',')}\n`)
    .sort()
    .join('')}`,
)

const listed = new Set(components.map(nameOf))
const unknown = [...installed].filter((name) => !listed.has(name))
const silent = rows.filter(([, , licence]) => licence === undefined).map(([name]) => name)
if (unknown.length > 0 || silent.length > 0) {
  process.stderr.write(`not listed by npm: ${unknown.join(', ')}; without a licence: ${silent.join(', ')}\n`)
  process.exitCode = 1
}
