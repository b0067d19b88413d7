import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import {
  type OpenLibrary,
  openLibrary,
  script,
  snapshotOf,
  writeFiles,
} from '../../../test/support/scenario-folder.ts'
import type { BatchHandle, HookContext } from './define-scenario.ts'

// One library for all tests: a script of one test must not affect another test.

const folder = mkdtempSync(join(tmpdir(), 'scenario-calls-'))
let open: OpenLibrary

const step = (body: string, before = '') => script(`{ timeline: [{ at: '1m', do: ${body} }] }`, before)
const call = (name: string, more = {}) => open.library.call(name, { timeline: 0 }, snapshotOf(more))

beforeAll(async () => {
  writeFiles(folder, {
    'moves.ts': step(`({ batches, faults, sandbox, clock }) => {
      batches.latest()?.fail({ detail: clock.now })
      batches.get('batch_1')?.cleanup()
      batches.get('batch_1')?.change({ hold: true, pace: { finalizing: '1s' } })
      batches.list().at(0)?.complete()
      batches.get('nope')?.expire()
      faults.arm({ preset: 'rate-limited', times: 1 })
      faults.clear()
      faults.clear('rule_1')
      const record = { id: '__proto__', n: sandbox.state('pages').length }
      sandbox.put('pages', record)
      record.n = 99
      sandbox.delete('skills', 'skill_1')
      sandbox.log(\`\${batches.latest()?.metadata?.team} \${JSON.stringify(batches.latest())}\`)
    }`),
    'hooks.ts': script(`{ on: {
      'batch.completed': ({ event, batch, sandbox }) => sandbox.log(event.name + ' ' + batch.id + ' ' + event.extra),
      'batch.failed': ({ batch, sandbox }) => sandbox.log(batch.id),
    } }`),
    'throws.ts': step("({ batches }) => {\n  batches.latest()?.fail()\n  throw new TypeError('too bad')\n}"),
    'odd.ts': step('() => {\n  throw { odd: true }\n}'),
    'helped.ts': step('() => explode()', "import { explode } from './lib/explode.ts'\n"),
    'lib/explode.ts': "\n\nexport function explode(): never {\n  throw new Error('from the helper')\n}\n",
    'typo.ts': step("({ sandbox }) => sandbox.state('page')"),
    'nameless.ts': step("({ sandbox }) => sandbox.put('pages', { title: 'x' })"),
    'circle.ts': step('({ sandbox }) => { const r: any = { id: "a" }; r.r = r; sandbox.put("pages", r) }'),
    'made.ts': step('({ sandbox }) => sandbox.put("pages", { id: "a", toJSON: () => undefined })'),
    'long.ts': step('() => { throw new Error("x".repeat(1_000_000)) }'),
    'chatty.ts': step('({ sandbox }) => sandbox.log("x".repeat(1_000_000))'),
    'idle.ts': step('() => {}'),
    'keeps.ts': step(
      '({ sandbox, batches }) => Object.assign(globalThis, { kept: { sandbox, batches, batch: batches.latest() } })',
    ),
    'loops.ts': step(
      '({ batches }) => {\n  batches.latest()?.fail()\n  for (;;) try { for (;;); } catch {}\n}',
      '\n\n',
    ),
    'hooked.ts': script(`{ on: {\n  'batch.failed': () => { for (;;); } } }`),
    'waits.ts': step('() => Promise.reject(new Error("ignored"))'),
    'exits.ts': step("({ sandbox }) => {\n  sandbox.log('before')\n  process.exit(3)\n}"),
    'writes.ts': step("({ sandbox }) => {\n  (sandbox.state('pages')[0] as any).title = 'other'\n}"),
    'deep.ts': step("({ batches }) => {\n  (batches.latest() as any).metadata.team = 'red'\n}"),
  })
  open = await openLibrary(folder)
})

afterAll(async () => {
  await open.library.close()
  rmSync(folder, { recursive: true, force: true })
})

test('the calls of a step are returned as commands, in order, with the arguments at the time of the call', async () => {
  expect(await call('moves')).toEqual([
    { kind: 'move', id: 'batch_2', move: 'fail', body: { detail: '2026-03-01T12:00:00.000Z' } },
    { kind: 'move', id: 'batch_1', move: 'cleanup', body: {} },
    { kind: 'move', id: 'batch_1', move: 'change', body: { hold: true, pace: { finalizing: '1s' } } },
    { kind: 'move', id: 'batch_1', move: 'complete', body: {} },
    { kind: 'arm', rule: { preset: 'rate-limited', times: 1 } },
    { kind: 'clear' },
    { kind: 'clear', id: 'rule_1' },
    { kind: 'put', collection: 'pages', record: { id: '__proto__', n: 1 } },
    { kind: 'delete', collection: 'skills', id: 'skill_1' },
    { kind: 'log', text: 'blue {"id":"batch_2","status":"in_progress","metadata":{"team":"blue"}}' },
  ])
})

test('a hook gets its event and its batch, and an error if there is none', async () => {
  const event = { name: 'batch.completed', at: '2026-03-01T12:00:00.000Z', extra: 7 }
  const completed = snapshotOf({ event, record: 'batch_1' })
  expect(await open.library.call('hooks', { on: 'batch.completed' }, completed)).toEqual([
    { kind: 'log', text: 'batch.completed batch_1 7' },
  ])
  const failed = open.library.call('hooks', { on: 'batch.failed' }, snapshotOf({ event }))
  await expect(failed).rejects.toThrow(
    /hooks\.ts:4:26: batch\.completed is about no batch; do not use "batch" here/,
  )
})

test('only the data that a function reads is copied for it, once', async () => {
  const asked: string[] = []
  const sandbox = {
    state: (collection: string) => {
      asked.push(collection)
      return []
    },
    records: () => {
      asked.push('(records)')
      return []
    },
  }
  await call('moves', sandbox)
  await call('idle', sandbox)
  expect(asked).toEqual(['(records)', 'pages'])
})

test.each([
  ['throws', /throws\.ts:4:9: TypeError: too bad$/],
  ['odd', /odd\.ts: threw { odd: true }, which is not an Error$/],
  ['helped', /explode\.ts:4:9: from the helper$/],
  ['typo', /typo\.ts:2:\d+: There is no collection "page"\. Did you mean "pages"\?$/],
  ['nameless', /nameless\.ts:2:\d+: TypeError: A record must be an object with an id\.$/],
  ['made', /made\.ts:2:\d+: TypeError: A record must be an object with an id\.$/],
  ['long', /long\.ts:2:\d+: x{2000}$/],
  ['circle', /circle\.ts:2:\d+: TypeError: put: \/record\/r is nested too deep, or contains itself$/],
  ['exits', /exits\.ts:4:11: process\.exit would end the emulator, and was not run\. Return from/],
  ['writes', /writes\.ts:3:\d+: TypeError: Cannot assign to read only property 'title' of object/],
  ['deep', /deep\.ts:3:\d+: TypeError: Cannot assign to read only property 'team' of object/],
  ['waits', /waits\.ts:2:56: \/timeline\/0\/do: returned a promise; a function must be synchronous/],
])('a function that fails changes nothing, and its error has the place: %s', async (name, message) => {
  await expect(call(name)).rejects.toThrow(message)
})

test('an endless loop in a function is stopped and reported with its place, and the next call is served', async () => {
  const { exit } = process
  // A limit of its own: the other functions must not reach it on a busy machine.
  const { library } = await openLibrary(folder, { callMs: 200 })
  onTestFinished(() => library.close())
  await expect(library.call('loops', { timeline: 0 }, snapshotOf())).rejects.toThrow(
    /loops\.ts:4:56: \/timeline\/0\/do: did not return within 200 ms, and was stopped\. Look for an endless loop/,
  )
  await expect(library.call('hooked', { on: 'batch.failed' }, snapshotOf())).rejects.toThrow(
    /hooked\.ts:3:3: \/on\/batch\.failed: did not return within 200 ms/,
  )
  expect(await call('idle')).toEqual([])
  expect(process.exit).toBe(exit)
})

test('after the return of a function its argument is refused', async () => {
  expect(await call('keeps')).toEqual([])
  const { kept } = globalThis as unknown as { kept: HookContext & { batch: BatchHandle } }
  Reflect.deleteProperty(globalThis, 'kept')
  const over = /^The function has already returned/
  expect(() => kept.sandbox.log('late')).toThrow(over)
  expect(() => kept.batch.fail()).toThrow(over)
  expect(() => kept.sandbox.state('pages')).toThrow(over)
  expect(kept.batches.list()).toHaveLength(2)
})

test('the error of a failed read names the line that reads', async () => {
  const state = () => {
    throw new Error('is being reset')
  }
  await expect(call('moves', { state })).rejects.toThrow(/moves\.ts:11:\d+: is being reset/)
})

test('a line for the log has at most 10,000 characters', async () => {
  expect(await call('chatty')).toEqual([{ kind: 'log', text: 'x'.repeat(10_000) }])
})

test('a scenario or a function that does not exist is refused by name', async () => {
  await expect(call('move')).rejects.toThrow('has no valid scenario "move". Did you mean "moves"?')
  const missing = open.library.call('moves', { timeline: 1 }, snapshotOf())
  await expect(missing).rejects.toThrow(/moves\.ts: has no function at step 1 of its timeline/)
  const hook = open.library.call('hooks', { on: 'constructor' }, snapshotOf())
  await expect(hook).rejects.toThrow(/hooks\.ts: has no function on "constructor"/)
})
