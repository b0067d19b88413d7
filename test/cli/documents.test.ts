import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { expect, test } from 'vitest'
import { documentFiles, fileSchemas } from '../../src/emulator/documents.ts'
import { command, temporaryDirectory, temporaryFile } from './in-process.ts'
import { running } from './running.ts'

type Kind = keyof typeof fileSchemas

// To compile the schema of a state takes half a second.
const validators = new Map<Kind, ValidateFunction>()

/** The pointers of what a schema refuses in a value; empty for a valid one. */
function refused(kind: Kind, value: unknown): string[] {
  const validate = validators.get(kind) ?? compiled(kind)
  validators.set(kind, validate)
  return validate(value) ? [] : (validate.errors ?? []).map(({ instancePath }) => instancePath)
}

function compiled(kind: Kind): ValidateFunction {
  const ajv = new Ajv2020({ strictTypes: false, allErrors: true })
  formats.default(ajv)
  return ajv.compile(fileSchemas[kind]())
}

test('openapi prints, without an emulator, the document of a new emulator at the default address', async () => {
  const { code, out, err } = await command(['openapi'])
  expect([code, err]).toEqual([0, ''])
  const printed = JSON.parse(out)
  expect(printed.servers).toEqual([{ url: 'http://127.0.0.1:4010/v1' }])
  const { emulator, url } = await running()
  const given = await (await fetch(`${url}/__emulator/openapi.json?api=workspace`)).json()
  expect({ ...printed, servers: [{ url: emulator.baseUrl }] }).toEqual(given)
})

test('schema lists the kinds of files, and prints the schema of one', async () => {
  const kinds = Object.keys(fileSchemas)
  expect(await command(['schema'])).toEqual({ code: 0, out: kinds.join('\n'), err: '' })
  expect((await command(['schema', '--json'])).out).toBe(JSON.stringify({ schemas: kinds }))
  const { code, out } = await command(['schema', 'settings'])
  expect([code, JSON.parse(out)]).toEqual([0, documentFiles['settings.schema.json']?.()])
})

test.for(['demo', 'empty', 'large'])('the schema of fixtures accepts %s, which is shipped', (name) => {
  expect(refused('fixtures', JSON.parse(readFileSync(`fixtures/${name}.json`, 'utf8')))).toEqual([])
})

test('the schema of a state accepts the state of an emulator that has been used, and refuses a wrong record', async () => {
  const { emulator, run } = await running({ fixtures: 'demo', settings: { 'status.conflict': 422 } })
  await run('faults', 'add', 'rate-limited')
  await run('webhook', 'add')
  await run('call', 'POST', 'stubs', '{"method": "POST", "path": "/search", "body": {}}')
  await fetch(`${emulator.baseUrl}/data-views`)
  const state = JSON.parse(JSON.stringify(emulator.sandbox.document()))
  expect(refused('state', { ...state, wakes_at: null })).toEqual([])
  state.collections.users[0].created_at = '-30d'
  expect(refused('state', state)).toEqual(['/collections/users/0/created_at'])
})

const userOf = (created_at: string) => {
  const name = { email: 'a@example.com', first_name: 'A', last_name: 'B' }
  return { users: [{ id: 'u', organization_id: 'org-larkmoor', ...name, created_at }] }
}

const FILES: Readonly<
  Record<Exclude<Kind, 'state'>, { readonly good: object; readonly bad: object; readonly at: string }>
> = {
  fixtures: {
    good: { extends: 'demo', generate: { pages: 2 }, collections: userOf('-30d') },
    bad: { extends: 'demo', collections: userOf('soon') },
    at: '/collections/users/0/created_at',
  },
  settings: { good: { 'status.conflict': 422 }, bad: { 'status.conflict': 999 }, at: '/status.conflict' },
  'fault-rule': {
    good: { preset: 'rate-limited', match: { operation: 'pages.create' }, times: 2 },
    bad: { preset: 'rate-limited', match: { operation: 'pages.make' } },
    at: '/match/operation',
  },
  scenario: {
    good: { pace: { validating: '2s' }, timeline: [{ at: '10m', do: [{ state: { batch: 'fail' } }] }] },
    bad: { timeline: [{ at: '10m', do: [{ state: { batch: 'fail' }, wait: '2s' }] }] },
    at: '/timeline/0/do/0',
  },
}

test.for(Object.entries(FILES))('the schema %s decides as validate', async ([kind, { good, bad, at }]) => {
  const $schema = `./node_modules/agent-workspace-emulator/dist/${kind}.schema.json`
  const folder = temporaryDirectory()
  const validated = async (value: object) => {
    const file = temporaryFile('file.json', JSON.stringify({ $schema, ...value }))
    return (await command(['validate', file, '--scenarios', folder])).code
  }
  expect([refused(kind as Kind, { $schema, ...good }), await validated(good)]).toEqual([[], 0])
  expect([refused(kind as Kind, bad), await validated(bad)]).toEqual([expect.arrayContaining([at]), 1])
})

test('every reader of JSON files accepts the key $schema, which has no effect', async () => {
  const fileOf = (name: string, value: object) =>
    temporaryFile(name, JSON.stringify({ $schema: 'https://example.com/schema.json', ...value }))
  const scenarios = dirname(fileOf('calm.json', { description: 'calm' }))
  const fixtures = fileOf('fixtures.json', { extends: 'demo' })
  const { emulator, run } = await running({ fixtures, scenarios })
  const calls = [
    ['sandbox', 'create', 'w1', '--settings', fileOf('settings.json', { 'status.conflict': 422 })],
    ['faults', 'add', fileOf('rule.json', { preset: 'rate-limited' })],
    ['call', 'POST', 'fixtures', fileOf('more.json', { collections: {} })],
    ['scenario', 'start', 'calm'],
    ['state', 'import', fileOf('state.json', emulator.sandbox.document())],
  ]
  for (const call of calls) expect(await run(...call), call.join(' ')).toMatchObject({ code: 0, err: '' })
  expect(emulator.sandboxes.get('w1')?.settings.overrides).toEqual({ 'status.conflict': 422 })
  expect(JSON.stringify(emulator.sandbox.document())).not.toContain('$schema')
})
