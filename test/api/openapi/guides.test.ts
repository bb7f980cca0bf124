import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { guides, toGuide } from '../../../src/api/openapi/guides.ts'
import { startService, type TestService } from '../../support/service.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

let service: TestService
let hosts: string[]
beforeAll(async () => {
  service = await startService()
  const { authUrl, baseUrl, recordsUrl } = service.deps.config
  hosts = [authUrl, baseUrl, recordsUrl].map((url) => new URL(url).host)
})
afterAll(() => service.close())

const ask = (url: string, host = hosts[1]!) => service.app.inject({ url, headers: { host } })

/** The targets of the links of a text in Markdown, outside of blocks of code. */
const linksIn = (text: string) =>
  [...text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)

describe('/llms.txt', () => {
  it('is a title, what the service is, and lists of links under headings, on every host, for any site', async () => {
    for (const host of [...hosts, 'localhost:3000']) {
      const { statusCode, headers, payload } = await ask('/llms.txt', host)
      expect([host, statusCode, headers['content-type']]).toEqual([host, 200, 'text/plain; charset=utf-8'])
      expect(headers['access-control-allow-origin']).toBe('*')
      const [head = '', ...parts] = payload.split(/^## /m)
      expect(head).toMatch(/^# Mkopo\n\n> \S.*\n\n/)
      expect(parts.map((part) => part.split('\n')[0])).toEqual([
        'API documents',
        'Guides for integrators',
        'Guides for operators',
      ])
      for (const line of parts.flatMap((part) => part.trim().split('\n').slice(2)))
        expect(line).toMatch(/^- \[[^\]]+\]\(http[^)]+\): \S/)
    }
  })

  it('names the two styles with their documents and every guide, and each link leads somewhere', async () => {
    const { payload } = await ask('/llms.txt')
    const { authUrl, baseUrl, recordsUrl } = service.deps.config
    const links = linksIn(payload)
    expect(links).toEqual(
      expect.arrayContaining([
        ...[authUrl, baseUrl, recordsUrl].map((url) => `${url}/openapi.json`),
        ...guides().map(({ path }) => `${baseUrl}${path}`),
      ]),
    )
    for (const link of links) {
      const { host, pathname } = new URL(link)
      expect([link, (await ask(pathname, host)).statusCode]).toEqual([link, 200])
    }
  })
})

describe('the guides', () => {
  it('are all documents of docs/ but those of the code and the decisions, as Markdown', async () => {
    const ofTheCode = ['architecture', 'concurrency', 'performance', 'threat-model', 'integrating/statement-layouts']
    const expected = globSync('docs/**/*.md', { cwd: root })
      .filter((file) => !file.startsWith('docs/decisions/') && !ofTheCode.includes(file.slice(5, -3)))
      .map((file) => `/${file}`)
    expect(guides().map(({ path }) => path)).toEqual(expected.sort())
    for (const host of hosts)
      for (const { path, title } of guides()) {
        const { statusCode, headers, payload } = await ask(path, host)
        expect([path, statusCode, headers['content-type']]).toEqual([path, 200, 'text/markdown; charset=utf-8'])
        expect(payload).toContain(`# ${title}\n`)
      }
  })

  it('have the words of the documents, and no link to what is not served', async () => {
    for (const { path, text } of guides()) {
      const written = readFileSync(`${root}${path}`, 'utf8')
      const words = (markdown: string) => markdown.replaceAll(/\[([^\]]*)\]\([^)\s]+\)/g, '$1')
      expect(words(text)).toBe(words(written))
      for (const link of linksIn(text).filter((target) => !/^(https?:|mailto:|#)/.test(target))) {
        const { pathname } = new URL(link, `http://${hosts[1]}${path}`)
        expect([path, link, (await ask(pathname)).statusCode]).toEqual([path, link, 200])
      }
    }
  })

  it('keep the words of a link to what is not served, and leave blocks of code alone', () => {
    const served = new Set(['a/one.md', 'two.md'])
    const markdown =
      '# One\n\nSee [two](../two.md#part), [three](../three.md) and [it](https://example.com).\n\n```md\n[three](../three.md)\n```\n'
    expect(toGuide('a/one.md', markdown, served)).toEqual({
      path: '/docs/a/one.md',
      title: 'One',
      summary: 'See two, three and it.',
      text: '# One\n\nSee [two](../two.md#part), three and [it](https://example.com).\n\n```md\n[three](../three.md)\n```\n',
    })
  })

  it.each([
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/..%2fpackage.json',
    '/docs/operating/../../README.md',
    '/docs/architecture.md',
    '/docs/decisions/README.md',
    '/docs/contract.md/',
    '/docs/contract',
  ])('%s is not there', async (path) => expect((await ask(path)).statusCode).toBe(404))
})
