import { expect, test } from 'vitest'
import { command, temporaryDirectory, temporaryFile } from './in-process.ts'
import { running, START } from './running.ts'

test('sandboxes can be created, listed and removed', async () => {
  const { run, data, url } = await running()
  expect((await run('sandbox', 'create', 'w1')).out).toBe(
    `Sandbox w1 created: ${url}/@w1/v1\n  clock  ${START}, seed 1, 0 records, in memory`,
  )
  expect((await run('sandbox')).out.split('\n')).toEqual([
    'NAME     CLOCK                     RATE    RECORDS  REQUESTS  KEPT       BASE URL',
    `default  ${START}  frozen  0        0         in memory  ${url}/v1`,
    `w1       ${START}  frozen  0        0         in memory  ${url}/@w1/v1`,
  ])
  expect((await run('sandbox', 'delete', 'w1')).out).toBe('Sandbox w1 removed, with its snapshots.')
  expect((await data('sandbox', 'list')).data).toHaveLength(1)
})

test('flags set the start of a sandbox', async () => {
  const { data } = await running()
  const made = await data(
    'sandbox',
    'create',
    'w1',
    '--seed',
    '7',
    '--clock',
    '2027-01-01',
    '--fixtures',
    'demo',
  )
  expect(made).toMatchObject({ name: 'w1', seed: 7, now: '2027-01-01T00:00:00.000Z', persist: false })
  expect(made.records).toBeGreaterThan(100)
})

test('flags set how time passes in a sandbox and its active scenario', async () => {
  const { run, data } = await running()
  expect(await data('sandbox', 'create', 'w1', '--rate', '5', '--skip-on-poll')).toMatchObject({ rate: 5 })
  expect(await data('clock', '--sandbox', 'w1')).toMatchObject({ rate: 5, skip_on_poll: true })
  const { code, err } = await run('sandbox', 'create', 'w2', '--scenario', 'none-of-these')
  expect([code, err]).toEqual([1, expect.stringContaining('There is no scenario "none-of-these".')])
})

test('the command reads fixtures and settings in its own directory, and files that they extend', async () => {
  const { emulator, data } = await running()
  const base = temporaryFile(
    'base.json',
    JSON.stringify({ collections: { organizations: [{ id: 'a', name: 'A' }] } }),
  )
  const own = { extends: base, collections: { organizations: [{ id: 'b', name: 'B' }] } }
  const fixtures = temporaryFile('own.json', JSON.stringify(own))
  const settings = temporaryFile('settings.json', '{"status.not_found": 410}')
  await data('sandbox', 'create', 'w1', '--fixtures', fixtures, '--settings', settings)
  const w1 = emulator.sandboxes.get('w1')
  expect([...(w1?.store.rows('organizations').keys() ?? [])].sort()).toEqual(['a', 'b'])
  expect(w1?.settings.overrides).toEqual({ 'status.not_found': 410 })
})

test('a sandbox can start from a snapshot of another', async () => {
  const { run, data } = await running()
  await run('clock', 'advance', '1h', '--sandbox', 'w1')
  await run('snapshot', 'save', 'later', '--sandbox', 'w1')
  const made = await data('sandbox', 'create', 'w2', '--from-snapshot', 'later', '--sandbox', 'w1')
  expect(made.now).toBe('2026-03-01T13:00:00.000Z')
})

test('a snapshot wins over the environment variables of the emulator, and conflicts with flags', async () => {
  const { run, url } = await running()
  await run('snapshot', 'save', 'base')
  const variables = { WORKSPACE_EMULATOR_SEED: '7', WORKSPACE_EMULATOR_CLOCK: '2030-01-01' }
  const create = (...argv: readonly string[]) =>
    command(['sandbox', 'create', ...argv, '--from-snapshot', 'base', '--url', url], variables)
  expect((await create('w1')).out).toContain(`clock  ${START}, seed 1`)
  expect((await create('w2', '--seed', '7')).err).toContain(
    '/seed: cannot be given together with from_snapshot',
  )
})

test('--persist keeps the sandbox on disk', async () => {
  const { run } = await running({ ephemeral: false, data: temporaryDirectory() })
  expect((await run('sandbox', 'create', 'w1', '--persist')).out).toMatch(/on disk$/)
})

test('every command can select another sandbox by flag, variable or address', async () => {
  const { run, emulator, url } = await running()
  await run('clock', 'advance', '1h', '--sandbox', 'w1')
  const now = '2026-03-01T13:00:00.000Z, frozen\nnext: nothing is due'
  expect((await run('clock', '--sandbox', 'w1')).out).toBe(now)
  expect((await command(['clock', '--url', url], { WORKSPACE_EMULATOR_SANDBOX: 'w1' })).out).toBe(now)
  expect((await command(['clock', '--url', `${url}/@w1/v1`])).out).toBe(now)
  expect((await command(['clock', '--url', `${url}/@other`, '--sandbox', 'w1'])).out).toBe(now)
  expect((await run('clock')).out).toContain(START)
  expect((await run('status', '--sandbox', 'w1')).out).toContain(`${url}, sandbox w1: version`)
  expect((await run('reset', '--sandbox', 'w1')).out).toBe(
    `The sandbox of ${url}, sandbox w1 has its starting state again.`,
  )
  expect(emulator.sandboxes.get('other')).toBeUndefined()
})

test('removing the selected sandbox does not create it again', async () => {
  const { run, emulator, url } = await running()
  await run('reset', '--sandbox', 'w1')
  expect((await command(['sandbox', 'delete', 'w1', '--url', `${url}/@w1`])).code).toBe(0)
  expect(emulator.sandboxes.get('w1')).toBeUndefined()
})

test('mistakes in files are reported with their lines', async () => {
  const { run } = await running()
  const fixtures = temporaryFile('sandbox.json', '{\n  "collections": {\n    "pagees": []\n  }\n}\n')
  expect((await run('sandbox', 'create', 'w1', '--fixtures', fixtures)).err).toBe(
    `The fixtures cannot be used:\n  ${fixtures}:3: /collections/pagees: There is no such collection. Did you mean "pages"?`,
  )
  const settings = temporaryFile('settings.json', '{\n  "status.not_fond": 404\n}\n')
  expect((await run('sandbox', 'create', 'w1', '--settings', settings)).err).toBe(
    `The settings cannot be used:\n  ${settings}:2: /status.not_fond: There is no setting "status.not_fond". Did you mean "status.not_found"?`,
  )
})

test.for([
  [['sandbox', 'create', 'default'], 1, 'The default sandbox always exists'],
  [['sandbox', 'create', 'W1'], 1, '/name: must be 1 to 63 lower-case letters'],
  [['sandbox', 'create', 'w', '--fixtures', '/nowhere.json'], 1, '/nowhere.json: cannot be read'],
  [['sandbox', 'create', 'w', '--settings', '/nowhere.json'], 1, '/nowhere.json: there is no such file'],
  [['sandbox', 'create', 'w', '--from-snapshot', 'x'], 1, 'has no snapshot "x"'],
  [
    ['sandbox', 'create', 'w', '--from-snapshot', 'x', '--seed', '1', '--clock', '2027-01-01'],
    1,
    '\n  /clock: ',
  ],
  [['sandbox', 'delete', 'w9'], 1, 'There is no sandbox "w9".'],
  [['sandbox', 'delete', 'default'], 1, 'The default sandbox always exists'],
  [['clock', '--sandbox', 'W'], 2, '--sandbox: "W" is not a name. Give 1 to 63 lower-case letters'],
] as const)('%j fails with code %i', async ([argv, code, message]) => {
  const { run } = await running()
  const outcome = await run(...argv)
  expect([outcome.code, outcome.err]).toEqual([code, expect.stringContaining(message)])
})
