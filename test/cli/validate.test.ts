import { join } from 'node:path'
import { expect, test } from 'vitest'
import { command, temporaryDirectory, temporaryFile } from './in-process.ts'
import { running } from './running.ts'

test('valid files are reported as valid', async () => {
  const sandbox = temporaryFile('sandbox.json', '{"collections": {}}')
  const settings = temporaryFile('settings.json', '{"status.conflict": 422, "models": []}')
  expect(await command(['validate', sandbox, settings])).toEqual({
    code: 0,
    out: `${sandbox}: ok (fixtures)\n${settings}: ok (settings)`,
    err: '',
  })
})

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

test('every issue has its file, line and pointer', async () => {
  const sandbox = temporaryFile(
    'sandbox.json',
    `{
  "collections": {
    "organizations": [
      { "id": "org-1", "name": "One" },
      { "id": "org-2" }
    ],
    "users": [
      { "id": "u-1", "organization_id": "org-9", "email": "a@example.com",
        "first_name": "A", "last_name": "B", "created_at": "yesterday" }
    ]
  }
}
`,
  )
  const { code, out } = await command(['validate', sandbox])
  expect(code).toBe(1)
  const lines = out.split('\n')
  expect(lines).toContainEqual(expect.stringContaining(`${sandbox}:5: /collections/organizations/1/name: `))
  expect(lines).toContainEqual(expect.stringContaining(`${sandbox}:9: /collections/users/0/created_at: `))
})

test('issues are sorted by line, whichever check found them', async () => {
  const sandbox = temporaryFile(
    'sandbox.json',
    '{\n  "collections": {\n    "pages": [{}],\n    "users": [{}],\n    "teamspaces": [{}],\n    "organizations": [{}]\n  }\n}\n',
  )
  const { code, out } = await command(['validate', sandbox])
  const lines = out.split('\n').map((line) => /json:(\d+): /.exec(line)?.[1])
  expect(code).toBe(1)
  expect(new Set(lines)).toEqual(new Set(['3', '4', '5', '6']))
  expect(lines).toEqual(lines.toSorted())
})

test('issues of a file that extends another have the lines of that file', async () => {
  const sandbox = temporaryFile(
    'sandbox.json',
    `{
  "extends": "demo",
  "collections": {
    "pages": [
      { "id": "p-1" }
    ]
  }
}
`,
  )
  const { code, out } = await command(['validate', sandbox])
  expect(code).toBe(1)
  for (const line of out.split('\n')) expect(line).toContain(`${sandbox}:5: /collections/pages/0/`)
})

test('an issue of the organization has the line of its field', async () => {
  const sandbox = temporaryFile('sandbox.json', '{\n  "organization": {\n    "id": "org-1" }\n}\n')
  expect((await command(['validate', sandbox])).out).toContain(`${sandbox}:2: /organization/name: `)
})

test('misspelt fields and keys are reported with the nearest known name', async () => {
  const sandbox = temporaryFile('sandbox.json', '{\n  "colections": {}\n}')
  const settings = temporaryFile('settings.json', '{\n\n  "names.cloud_x": "a"\n}')
  const { out } = await command(['validate', sandbox, settings])
  expect(out).toMatch(/sandbox\.json:2: \/colections: .* Did you mean "collections"\?\n/)
  expect(out).toMatch(
    /settings\.json:3: \/names\.cloud_x: There is no setting .* Did you mean "names\.cloud_/,
  )
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
  expect(out).toContain(
    '/nowhere/x.json: there is no such file; the path is relative to the working directory',
  )
})

test('--json lists the files with their issues', async () => {
  const settings = temporaryFile('settings.json', '{"status.conflict": 1}')
  const { code, out, err } = await command(['validate', '--json', settings])
  expect([code, err]).toEqual([1, ''])
  expect(JSON.parse(out)).toEqual({
    valid: false,
    files: [
      {
        file: settings,
        kind: 'settings',
        issues: [{ file: settings, line: 1, pointer: '/status.conflict', detail: expect.any(String) }],
      },
    ],
  })
})

test('a state document is accepted: of the control interface, of a snapshot, and of a data directory', async () => {
  const data = temporaryDirectory()
  const { url, run, emulator } = await running({ fixtures: 'demo', ephemeral: false, data })
  await run('snapshot', 'save', 's')
  const saved = (await run('call', 'GET', 'snapshots/s')).out
  const state = await (await fetch(`${url}/__emulator/state`)).text()
  await emulator.close()
  const files = [
    temporaryFile('state.json', state),
    temporaryFile('saved.json', saved),
    join(data, 'default.json'),
  ]
  expect(await command(['validate', ...files])).toEqual({
    code: 0,
    out: files.map((file) => `${file}: ok (state)`).join('\n'),
    err: '',
  })
})

test('the problems of a state document have their places', async () => {
  const { url } = await running()
  const state = (await (await fetch(`${url}/__emulator/state`)).json()) as object
  const wrong = { ...state, format: 1, collections: { pages: [{ id: 'p' }], pagees: [] } }
  const file = temporaryFile('wrong.json', JSON.stringify(wrong, null, 2))
  const { code, out } = await command(['validate', '--json', file])
  const [verdict] = JSON.parse(out).files
  expect([code, verdict.kind]).toEqual([1, 'state'])
  const issues: readonly { line: number; pointer: string }[] = verdict.issues
  expect(issues.map(({ pointer }) => pointer)).toEqual(
    expect.arrayContaining(['/format', '/collections/pages/0/name', '/collections/pagees']),
  )
  expect(issues[0]?.line).toBe(2)
})
