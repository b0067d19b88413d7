import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { kindOf } from '../../src/cli/validate.ts'
import { command, temporaryDirectory } from './in-process.ts'

function folder(files: Readonly<Record<string, string>>): string {
  const directory = temporaryDirectory()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  return directory
}

const VALID = "import { defineScenario } from 'agent-workspace-emulator'\nexport default defineScenario({})\n"

test('valid scripts and JSON scenarios are reported as valid, and helper files are not scenarios', async () => {
  const files = { 'a.ts': VALID, '_shared.ts': 'export const x = 1\n', 'b.json': '{"clock": {"rate": 0}}' }
  const directory = folder(files)
  const paths = ['b.json', 'a.ts', '_shared.ts'].map((name) => join(directory, name))
  const [json, script, helper] = paths
  const out = `${helper}: ok (helper)\n${json}: ok (scenario)\n${script}: ok (scenario)`
  expect(await command(['validate', ...paths])).toEqual({ code: 0, out, err: '' })
})

test('a directory without scenarios is reported as such, and a missing script as missing', async () => {
  const directory = folder({ '_shared.ts': 'export const x = 1\n' })
  expect((await command(['validate', directory])).out).toBe(`${directory}: ok (directory without scenarios)`)
  const file = join(directory, 'nowhere.ts')
  const out = `${file}: there is no such file; the path is relative to the working directory`
  expect(await command(['validate', file])).toEqual({ code: 1, out, err: '' })
})

const WRONG = `export default {
  faults: [
    { preset: 'server-eror' },
    { match: { operation: 'pages.creat' }, do: [{ respond: { status: 500 } }] },
  ],
  settings: { 'status.not_fond': 404 },
  stubs: [{ method: 'GET', path: 'search' }],
  timeline: [{ at: '2m', do: [{ state: { batch: 'explode' } }] }],
}
`

test('each unknown name has its place and the nearest known one', async () => {
  const file = join(folder({ 'wrong.ts': WRONG }), 'wrong.ts')
  const { code, out } = await command(['validate', file])
  expect(code).toBe(1)
  expect(out.replaceAll(`${file}:`, '').split('\n')).toEqual([
    '3:7: /faults/0/preset: "server-eror" is no preset. Did you mean "server-error"?',
    '4:16: /faults/1/match/operation: "pages.creat" is no operation. Did you mean "pages.create"?',
    expect.stringContaining('6:15: /settings/status.not_fond: There is no setting "status.not_fond". Did'),
    expect.stringContaining('7:28: /stubs/0/path: must begin with a slash'),
    expect.stringContaining('8:42: /timeline/0/do/0/state/batch: "explode" is no move of a batch.'),
  ])
})

test('the additions of a scenario are checked against the sandbox in which it would start', async () => {
  const page = { id: 'p-1', teamspace_id: 'nowhere' }
  const scenario = `export default {\n  fixtures: {\n    collections: {\n      pages: [${JSON.stringify(page)}],\n      pagees: [],\n    },\n  },\n}\n`
  const file = join(folder({ 'wrong.mjs': scenario }), 'wrong.mjs')
  const out = `${file}:5:7: /fixtures/collections/pagees: There is no such collection. Did you mean "pages"?`
  expect(await command(['validate', file])).toEqual({ code: 1, out, err: '' })
})

test('a directory given with --scenarios has to exist', async () => {
  const { code, out } = await command(['validate', '--scenarios', '/nowhere'])
  expect([code, out]).toEqual([1, expect.stringContaining('\n/nowhere: there is no such directory; the')])
})

test('--json contains the columns, too', async () => {
  const file = join(folder({ 'wrong.js': 'export default {\n  descripton: 1,\n}\n' }), 'wrong.js')
  const issue = { file, line: 2, column: 3, pointer: '/descripton' }
  const { valid, files } = JSON.parse((await command(['validate', '--json', file])).out)
  expect([valid, files]).toMatchObject([false, [{ file, kind: 'scenario', issues: [issue] }]])
})

test.for([
  [{ 'names.cloud_a': 'x' }, 'settings'],
  [{}, 'fixtures'],
  [{ colections: {} }, 'fixtures'],
  [{ other: {} }, 'fixtures'],
  [{ description: 'x', pace: {} }, 'scenario'],
  [{ revision: 0, collections: {} }, 'state'],
  [{ format: 2, collections: {}, stubs: [], faults: [], clock: {}, scenario: null }, 'state'],
  [{ on: {} }, 'scenario'],
  [{ timelin: [] }, 'scenario'],
  [{ collections: {}, clock: {} }, 'fixtures'],
] as const)('%j is recognized as %s', ([document, kind]) => {
  expect(kindOf(document)).toBe(kind)
})

test('a file for faults add is checked as a fault rule', async () => {
  const bad = '{\n  "match": {"operation": "pages.creat"},\n  "do": [{"respond": {"status": 500}}]\n}\n'
  const directory = folder({ 'good.json': '{"preset": "rate-limited"}', 'bad.json': bad })
  const { out } = await command(['validate', join(directory, 'good.json'), join(directory, 'bad.json')])
  expect(out).toContain('good.json: ok (fault rule)')
  expect(out).toMatch(/bad\.json:2: \/match\/operation: "pages\.creat" is no operation\. Did you mean/)
})
