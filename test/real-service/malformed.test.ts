import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { command, temporaryDirectory } from '../cli/in-process.ts'
import { imported } from './imported.ts'
import { AT, type Entry, entryOf, harOf } from './record.ts'

const page = (n: number) => ({
  ...{ object: 'page', id: `p${n}`, name: `Plan ${n}`, teamspace_id: 't1', scope: 'teamspace' },
  created_at: AT,
})

function entry(n: number, content: object = {}): Entry {
  const made = entryOf('POST', '/pages', page(n))
  Object.assign(made.response.content, content)
  return made
}

test('of a file that ends too early, also of HAR 1.1, the entries before the end are used', async () => {
  const text = harOf([entry(1), entry(2), entry(3)], '1.1')
  const { counts, report } = await imported(text.slice(0, text.lastIndexOf('"p3') + 1))
  expect([counts.pages, report.left_out]).toEqual([2, { 'the file ends too early': 1 }])
})

test('bodies that are left out, attached, in wrong base64 or not JSON are counted with the reason', async () => {
  const text = Buffer.from(JSON.stringify(page(2))).toString('base64')
  const { counts, report } = await imported(
    harOf([
      entry(1),
      entry(2, { text, encoding: 'base64' }),
      entry(3, { text: '%%%', encoding: 'base64' }),
      entry(4, { text: undefined }),
      entry(5, { text: '{"object":"pa' }),
      entry(6, { text: undefined, _file: 'a.json' }),
      entry(7, { text: '<html></html>', size: 13 }),
      { nonsense: true, request: 7 },
    ]),
  )
  expect(counts.pages).toBe(2)
  expect(report.left_out).toEqual({
    'body in wrong base64': 1,
    'body left out, or only in part': 2,
    'body in a file of its own': 1,
    'body is not JSON': 1,
    'no exchange by HTTP with an absolute URL': 1,
  })
})

test('a deletion of a path that cannot be decoded removes nothing', async () => {
  const url = 'https://api.workspace.test/v1/pages/%zz'
  const request = { method: 'DELETE', url, headers: [] }
  const gone = { ...entry(2), request, response: { ...entry(2).response, status: 204 } }
  const { counts, report } = await imported(harOf([entry(1), gone]))
  expect([counts.pages, report.left_out]).toEqual([1, { deletion: 1 }])
  // No response showed the teamspace of the page, so it gets a minimal one.
  expect(report.filled).toContain('teamspaces/t1')
})

test('a file with nothing to import is refused, with the reason and the way out', async () => {
  const utf16 = Buffer.from(`\uFEFF${harOf([entry(1)])}`, 'utf16le')
  expect((await imported(utf16)).message).toBe('/a.har: is UTF-16, not UTF-8 text; save it as UTF-8.')
  expect((await imported('{"collections": {}}')).message).toMatch(
    /^\/a\.har: there is no entry in log\.entries .* as HAR, with content/,
  )
  const other = JSON.parse(harOf([entry(1)]).replace('api.workspace.test/v1', 'example.test'))
  expect((await imported(JSON.stringify(other))).message).toContain('give the base URL with --base')
})

test('a file that is too large is refused, with the way to cut it', async () => {
  const file = join(temporaryDirectory(), 'large.har')
  writeFileSync(file, '')
  truncateSync(file, 268_435_457)
  const { code, err } = await command(['import', file])
  expect([code, err]).toEqual([1, expect.stringContaining('jq')])
})
