import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type InternalOptions, openEmulator } from '../../src/emulator/emulator.ts'
import { START } from '../support/base-state.ts'
import { controlOf } from '../support/control.ts'
import { folder } from '../support/disk-emulator.ts'
import { made, send } from '../support/send.ts'
import { build } from '../support/starting-states.ts'

const organization = (id: string, name = id) => ({ id, name })

/** A fixtures file with these organizations, and an emulator that starts from it. */
async function startedFrom(organizations: readonly object[], options: InternalOptions = {}) {
  const fixtures = join(folder(onTestFinished), 'fixtures.json')
  const save = (text: string): void => writeFileSync(fixtures, text)
  const write = (records: readonly object[], more: object = {}): void =>
    save(JSON.stringify({ collections: { organizations: records, ...more } }))
  write(organizations)
  const emulator = await openEmulator({ port: 0, ephemeral: true, rate: 0, fixtures, ...options })
  onTestFinished(() => emulator.close())
  const record = (id: string, table = 'organizations') => emulator.sandbox.store.get(table, id)
  return { emulator, control: controlOf(emulator), fixtures, save, write, record }
}

test('a reset reads the fixtures file again only if it has changed', async () => {
  const { control, record, write } = await startedFrom([organization('a')], { clock: START })
  const first = record('a')
  await control('PUT', '/state/organizations/b', { name: 'b' })
  expect((await control('POST', '/reset')).status).toBe(200)
  expect([record('a') === first, record('b')]).toEqual([true, undefined])
  // The same length as before, so that the size of the file does not show the change.
  write([organization('a', 'z')])
  await control('POST', '/reset')
  expect(record('a')).toMatchObject({ name: 'z' })
})

test('a reset resolves relative timestamps against its own instant', async () => {
  let now = Date.parse(START)
  const { control, write, record } = await startedFrom([organization('a')], { hostTime: () => now })
  const name = { first_name: 'U', last_name: 'U', email: 'u@example.com' }
  const user = { id: 'u', organization_id: 'a', ...name, created_at: '-1h' }
  write([organization('a')], { users: [user] })
  for (let n = 0; n < 2; n++) {
    now += 1_000
    expect((await control('POST', '/reset')).status).toBe(200)
    expect(record('u', 'users')).toMatchObject({ created_at: new Date(now - 3_600_000).toISOString() })
  }
})

test('fixtures that become invalid refuse new sandboxes with the reason, until they are fixed', async () => {
  let now = Date.parse(START)
  const started = await startedFrom([organization('a')], { hostTime: () => now })
  started.save('{')
  // A starting state that is a minute old is built again.
  now += 60_000
  const first = () => send(started, 'GET', '/@w1/v1/data-views')
  for (const refused of [await first(), await send(started, 'POST', '/@w1/__emulator/clock/advance')]) {
    const reason = `cannot be created, because its starting state is not valid: ${started.fixtures}: /:`
    expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining(reason) } })
  }
  expect(made(started)).toEqual([])
  expect((await started.control('GET', '/clock')).status).toBe(200)
  started.write([organization('a')])
  await first()
  expect(made(started)).toEqual(['w1'])
})

test('building a large sandbox lets other work run every few thousand records', async () => {
  let isBuilt = false
  let turns = 0
  const count = (): void => {
    turns += 1
    if (!isBuilt) setImmediate(count)
  }
  setImmediate(count)
  const many = Array.from({ length: 20_000 }, (_, n) => organization(`o${n}`))
  await build({ collections: { organizations: many } })
  isBuilt = true
  expect(turns).toBeGreaterThanOrEqual(9)
})
