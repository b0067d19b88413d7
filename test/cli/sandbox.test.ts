import { expect, test } from 'vitest'
import { fakeControl } from './fake-control.ts'
import { command, temporaryFile, withError } from './in-process.ts'
import { cells, running, START } from './running.ts'

test('sandboxes can be created, listed and removed', async () => {
  const { run, data, url } = await running()
  expect((await run('sandbox', 'create', 'w1')).out).toBe(
    `Sandbox w1 created: ${url}/@w1/v1\n  clock  ${START}, seed 1, 0 records, in memory`,
  )
  expect(cells((await run('sandbox')).out)).toEqual([
    'NAME | CLOCK | RATE | RECORDS | REQUESTS | KEPT | BASE URL',
    `default | ${START} | frozen | 0 | 0 | in memory | ${url}/v1`,
    `w1 | ${START} | frozen | 0 | 0 | in memory | ${url}/@w1/v1`,
  ])
  expect((await run('sandbox', 'delete', 'w1')).out).toBe('Sandbox w1 removed, with its snapshots.')
  expect((await data('sandbox', 'list')).data).toHaveLength(1)
})

test('a snapshot can be saved, listed, restored and deleted', async () => {
  const { run, data } = await running()
  const shown = async (...argv: string[]) => (await run('snapshot', ...argv)).out
  expect(await shown('list')).toMatch(/^There are no snapshots\. .* snapshot save NAME" saves one\.$/)
  expect(await shown('save', 'a')).toBe(`Snapshot a saved: 0 records, clock ${START}.`)
  expect(await shown('save', 'a')).toMatch(/, in place of the previous one\.$/)
  await run('clock', 'advance', '1h')
  const restored = `The sandbox is restored from snapshot a; its clock is at ${START}.`
  expect(await shown('restore', 'a')).toBe(restored)
  expect((await data('clock')).now).toBe(START)
  expect(cells(await shown('list'))).toEqual([
    'NAME | CLOCK | REVISION | RECORDS',
    expect.stringMatching(/^a \| \S+Z \| 0 \| 0$/),
  ])
  expect(await shown('delete', 'a')).toBe('Snapshot a deleted.')
})

test('the command reads fixtures and settings in its own directory, and files that they extend', async () => {
  const { emulator, data } = await running()
  const base = { collections: { organizations: [{ id: 'a', name: 'A' }] } }
  const own = {
    extends: temporaryFile('base.json', JSON.stringify(base)),
    collections: { organizations: [{ id: 'b', name: 'B' }] },
  }
  const fixtures = temporaryFile('own.json', JSON.stringify(own))
  const settings = temporaryFile('settings.json', '{"status.not_found": 410}')
  await data('sandbox', 'create', 'w1', '--fixtures', fixtures, '--settings', settings)
  const w1 = emulator.sandboxes.get('w1')
  expect([...(w1?.store.rows('organizations').keys() ?? [])].sort()).toEqual(['a', 'b'])
  expect(w1?.settings.overrides).toEqual({ 'status.not_found': 410 })
})

test.for([
  ['w1', { seed: 7, clock: '2030-01-01T00:00:00.000Z' }],
  ['w1 --from-snapshot base', { from_snapshot: 'base' }],
  ['w1 --from-snapshot base --seed 8', { from_snapshot: 'base', seed: 8 }],
] as const)('variables apply to "sandbox create %s", but not over a snapshot', async ([line, body]) => {
  const { url, asked } = await fakeControl({ base_url_path: '/@w1/v1', persist: true })
  const variables = { WORKSPACE_EMULATOR_SEED: '7', WORKSPACE_EMULATOR_CLOCK: '2030-01-01' }
  const { out } = await command(['sandbox', 'create', ...line.split(' '), '--url', url], variables)
  expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ name: 'w1', ...body })
  expect(out).toMatch(/, on disk$/)
})

test.for([
  ['--sandbox w1', '', {}, '/@w1/__emulator/clock'],
  ['', '', { WORKSPACE_EMULATOR_SANDBOX: 'w1' }, '/@w1/__emulator/clock'],
  ['', '/@w1/v1', {}, '/@w1/__emulator/clock'],
  ['--sandbox w1', '/@other', {}, '/@w1/__emulator/clock'],
  ['', '', {}, '/__emulator/clock'],
] as const)('clock %s at the address ...%s with %o asks for %s', async ([flags, place, env, path]) => {
  const { url, asked } = await fakeControl({ now: START, rate: 0, next: null, frozen: null })
  const words = flags === '' ? [] : flags.split(' ')
  await command(['clock', ...words, '--url', url + place], env)
  expect(asked.map((each) => each.path)).toEqual([path])
})

test('the selected sandbox is named by status and reset, and its removal does not create it again', async () => {
  const { run, emulator, url } = await running()
  const reset = `The sandbox of ${url}, sandbox w1 has its starting state again.`
  expect((await run('reset', '--sandbox', 'w1')).out).toBe(reset)
  expect((await run('status', '--sandbox', 'w1')).out).toContain(`${url}, sandbox w1: version`)
  expect((await command(['sandbox', 'delete', 'w1', '--url', `${url}/@w1`])).code).toBe(0)
  expect(emulator.sandboxes.get('w1')).toBeUndefined()
})

test('mistakes in a file of settings are reported with their lines', async () => {
  const { run } = await running()
  const file = temporaryFile('file.json', '{\n  "status.not_fond": 404\n}\n')
  expect((await run('sandbox', 'create', 'w1', '--settings', file)).err).toContain(
    `The settings cannot be used:\n  ${file}:2: /status.not_fond: There is no setting`,
  )
})

test.for([
  ['sandbox create W1', 1, '/name: must be 1 to 63 lower-case letters'],
  ['sandbox create w --fixtures /nowhere.json', 1, '/nowhere.json: cannot be read'],
  ['sandbox create w --settings /nowhere.json', 1, '/nowhere.json: there is no such file'],
  ['sandbox create w --from-snapshot x --seed 1 --clock 2027-01-01', 1, '\n  /clock: '],
  ['sandbox delete default', 1, 'The default sandbox always exists'],
  ['clock --sandbox W', 2, '--sandbox: "W" is not a name. Give 1 to 63 lower-case letters'],
] as const)('%s fails with code %i', async ([line, code, message]) => {
  const { run } = await running()
  expect(await run(...line.split(' '))).toEqual(withError(code, message))
})
