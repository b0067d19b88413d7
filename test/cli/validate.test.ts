import { join } from 'node:path'
import { expect, test } from 'vitest'
import { command, temporaryDirectory, temporaryFile } from './in-process.ts'
import { running } from './running.ts'

test('without arguments, validate checks the files that start would use, and the shipped scenarios', async () => {
  const { code, out, err } = await command(['validate'])
  expect([code, err]).toEqual([0, ''])
  const [sandbox, ...scenarios] = out.split('\n')
  expect(sandbox).toBe('demo: ok (fixtures)')
  expect(scenarios).toContain('scenarios/partial-failure.ts: ok (scenario)')
  for (const line of scenarios) expect(line).toMatch(/^scenarios\/[a-z-]+\.ts: ok \(scenario\)$/)
})

test('validate checks the settings that start would use', async () => {
  const settings = temporaryFile('settings.json', '{"status.conflict": 999}')
  const { code, out } = await command(['validate', '--scenarios', temporaryDirectory()], {
    WORKSPACE_EMULATOR_SETTINGS: settings,
  })
  expect(code).toBe(1)
  expect(out).toMatch(
    /^demo: ok \(fixtures\)\n.*settings\.json:1: \/status\.conflict: [^\n]+\n.*: ok \(directory without scenarios\)$/,
  )
})

test('every issue has its file, line and pointer, sorted by line, whichever check found it', async () => {
  const text = `{
  "collections": {
    "pages": [{}],
    "organizations": [
      { "id": "org-2" }
    ],
    "users": [
      { "id": "u-1", "organization_id": "org-9", "email": "a@example.com",
        "first_name": "A", "last_name": "B", "created_at": "yesterday" }
    ]
  }
}
`
  const sandbox = temporaryFile('sandbox.json', text)
  const { code, out } = await command(['validate', sandbox])
  const issues = out.split('\n').map((line) => line.replace(`${sandbox}:`, '').split(': ', 2).join(' '))
  expect(code).toBe(1)
  expect(issues).toContain('5 /collections/organizations/0/name')
  expect(issues).toContain('9 /collections/users/0/created_at')
  const lines = issues.map((issue) => Number.parseInt(issue, 10))
  expect(new Set(lines)).toEqual(new Set([3, 5, 9]))
  expect(lines).toEqual(lines.toSorted((a, b) => a - b))
})

test.for([
  ['fixtures', (deep: string) => `{"collections":\n{"pages":[${deep}]}}`],
  ['HAR', (deep: string) => `{"log":\n{"entries":[${deep}]}}`],
  ['a state', (deep: string) => `{"format":2,\n"collections":${deep}}`],
  ['a scenario', (deep: string) => `{"rules":\n${deep}}`],
] as const)('%s with 20,000 levels is one line with the file', async ([, text]) => {
  const file = temporaryFile('deep.json', text(`${'['.repeat(20_000)}${']'.repeat(20_000)}`))
  const { code, out, err } = await command(['validate', file])
  expect(code).toBe(1)
  expect(`${out}${err}`).toMatch(/^\S+deep\.json:2: is not JSON: the text nests more than 1000 levels deep/)
  expect(`${out}${err}`).not.toMatch(/defect|RangeError/)
})

test('a file that is not JSON is reported with the line of the error, a missing file with its name', async () => {
  const broken = temporaryFile('sandbox.json', '{\n  "collections": {\n}\n')
  const { code, out } = await command(['validate', broken, '/nowhere/x.json'])
  expect(code).toBe(1)
  expect(out).toMatch(/sandbox\.json:3: is not JSON: expected /)
  expect(out).toContain('/nowhere/x.json: there is no such file; the path is relative to the working')
})

test('a state document is accepted: of the control interface, of a snapshot, and of a data directory', async () => {
  const data = temporaryDirectory()
  const { url, run, emulator } = await running({ fixtures: 'demo', ephemeral: false, data })
  await run('snapshot', 'save', 's')
  const saved = (await run('call', 'GET', 'snapshots/s')).out
  const state = await (await fetch(`${url}/__emulator/state`)).text()
  await emulator.close()
  const written = [temporaryFile('state.json', state), temporaryFile('saved.json', saved)]
  const files = [...written, join(data, 'default.json')]
  const out = files.map((file) => `${file}: ok (state)`).join('\n')
  expect(await command(['validate', ...files])).toEqual({ code: 0, out, err: '' })
})

test('the problems of a state document have their places', async () => {
  const { url } = await running()
  const state = (await (await fetch(`${url}/__emulator/state`)).json()) as object
  const wrong = { ...state, format: 1, collections: { pages: [{ id: 'p' }], pagees: [] } }
  const file = temporaryFile('wrong.json', JSON.stringify(wrong, null, 2))
  const { code, out } = await command(['validate', '--json', file])
  const [verdict] = JSON.parse(out).files
  expect([code, verdict.kind]).toEqual([1, 'state'])
  const places = ['/format', '/collections/pages/0/name', '/collections/pagees']
  const found = places.map((pointer) => expect.objectContaining({ pointer }))
  expect(verdict.issues).toEqual(expect.arrayContaining(found))
  expect(verdict.issues[0].line).toBe(2)
})

const FILES = [
  ['fixtures', 'sandbox.json', '{"extends": "demo"}\r\n'],
  ['settings', 'settings.json', '{"status.conflict": 422}\r\n'],
  ['a scenario', 'slow.json', '{"description": "x",\r\n"settings": {"status.conflict": 422}}\r\n'],
  [
    'a script',
    'quick.ts',
    'import { defineScenario } from "agent-workspace-emulator"\r\nexport default defineScenario({})\r\n',
  ],
] as const

test.for(FILES)('%s with a byte order mark is read, and in UTF-16 it is named', async ([, name, text]) => {
  const marked = await command(['validate', temporaryFile(name, `\uFEFF${text}`)])
  expect(marked.out).toMatch(/: ok/)
  const file = temporaryFile(name, Buffer.from(`\uFEFF${text}`, 'utf16le'))
  expect((await command(['validate', file])).out).toContain(`${file}: is UTF-16, not UTF-8 text; save it as`)
})

test('an invisible character in a file is named by its code point', async () => {
  const file = temporaryFile('sandbox.json', '{\n\u200b"extends": "demo"}')
  const { out } = await command(['validate', file])
  expect(out).toContain(`${file}:2: is not JSON: unexpected the invisible character U+200B`)
})
