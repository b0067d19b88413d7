import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  HANGS,
  manualLimit,
  type OpenLibrary,
  openLibrary,
  script,
  snapshotOf,
  writeFiles,
} from '../../../test/support/scenario-folder.ts'

// One library for all tests: a script of one test must not affect another test.

const limit = manualLimit()
const folder = mkdtempSync(join(tmpdir(), 'scenario-calls-'))
let open: OpenLibrary

const step = (body: string, before = '') => script(`{ timeline: [{ at: '1m', do: ${body} }] }`, before)
const call = (name: string, more = {}) => open.library.call(name, { timeline: 0 }, snapshotOf(more))

beforeAll(async () => {
  writeFiles(folder, {
    'moves.ts': step(`async ({ batches, faults, sandbox, clock }) => {
      batches.latest()?.fail({ detail: clock.now })
      await null
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
    'rejects.ts': step('async () => {\n  await null\n  throw { odd: true }\n}'),
    'helped.ts': step('() => explode()', "import { explode } from './lib/explode.ts'\n"),
    'lib/explode.ts': "\n\nexport function explode(): never {\n  throw new Error('from the helper')\n}\n",
    'typo.ts': step("({ sandbox }) => sandbox.state('page')"),
    'nameless.ts': step("({ sandbox }) => sandbox.put('pages', { title: 'x' })"),
    'circle.ts': step('({ sandbox }) => { const r: any = { id: "a" }; r.r = r; sandbox.put("pages", r) }'),
    'made.ts': step('({ sandbox }) => sandbox.put("pages", { id: "a", toJSON: () => undefined })'),
    'long.ts': step('() => { throw new Error("x".repeat(1_000_000)) }'),
    'chatty.ts': step('({ sandbox }) => sandbox.log("x".repeat(1_000_000))'),
    'posts.ts': step(
      `() => { for (const said of [null, 7, {}, 'text', ...ids.map((id) => ({ id }))]) process.send?.(said) }`,
      'const ids = Array.from({ length: 200 }, (_, id) => id)\n',
    ),
    'idle.ts': step('() => {}'),
    'late.ts': step("({ sandbox }) => { setTimeout(() => sandbox.log('late'), 20) }"),
    'later.ts': step("({ sandbox }) => { setTimeout(() => sandbox.state('pages'), 20) }"),
    'loops.ts': step(`() => { ${HANGS} }`),
    'waits.ts': step("() => { console.log('hangs'); return new Promise(() => {}) }"),
    'exits.ts': step('() => process.exit(3)'),
    'hungry.ts': step('() => { const all = []; for (;;) all.push(new Array(1000).fill({})) }'),
    'prints.ts': step("() => { console.log('out\\nline'); console.error('err') }"),
  })
  open = await openLibrary(folder, { limits: { heapMb: 96 }, later: limit.later })
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
    /hooks\.ts:\d+: batch\.completed is about no batch; do not use "batch" here/,
  )
})

test('only the data that a function reads is sent to it, once', async () => {
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
  ['throws', /throws\.ts:4: TypeError: too bad$/],
  ['rejects', /rejects\.ts: threw { odd: true }, which is not an Error$/],
  ['helped', /explode\.ts:4: from the helper$/],
  ['typo', /typo\.ts:2: There is no collection "page"\. Did you mean "pages"\?$/],
  ['nameless', /nameless\.ts:2: TypeError: A record must be an object with an id\.$/],
  ['made', /made\.ts:2: TypeError: A record must be an object with an id\.$/],
  ['long', /long\.ts:2: x{2000}$/],
  ['circle', /circle\.ts:2: TypeError: put: \/record\/r is nested too deep, or contains itself$/],
])('a function that fails changes nothing, and its error has the place: %s', async (name, message) => {
  await expect(call(name)).rejects.toThrow(message)
})

test('commands after the return of a function are not applied, and reported', async () => {
  expect(await call('late')).toEqual([])
  const told = () => open.notices.find(({ event }) => event === 'scenario_failed')
  await open.until(() => told() !== undefined)
  expect(told()?.message).toMatch(
    /late\.ts:2: The function has already returned; .* \(outside of any call; the scripts are started again/,
  )
  expect(await call('idle')).toEqual([])
})

test('reads after the return of a function are refused, and reported', async () => {
  expect(await call('later')).toEqual([])
  const told = () => open.notices.find(({ message }) => message.includes('later.ts'))
  await open.until(() => told() !== undefined)
  expect(told()?.message).toMatch(
    /later\.ts:2: The sandbox can be read only while a function runs\. \(outside/,
  )
})

test('the error of a failed read names the line that reads', async () => {
  const state = () => {
    throw new Error('is being reset')
  }
  await expect(call('moves', { state })).rejects.toThrow(
    /moves\.ts:12: cannot be shown: Error: is being reset/,
  )
})

test('a message that a script sends from its process is not taken for an outcome', async () => {
  expect(await call('posts')).toEqual([])
  expect(await call('idle')).toEqual([])
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

test('output of scripts is reported as notices, line by line', async () => {
  await call('prints')
  const printed = () => open.notices.filter(({ event }) => event === 'scenario_output')
  await open.until(() => printed().length === 3)
  expect(
    printed()
      .map(({ message }) => message)
      .sort(),
  ).toEqual(['err', 'line', 'out'])
})

test('a script that hangs or exits is stopped, and the next call is served', async () => {
  const hanging = () => open.notices.filter(({ message }) => message === 'hangs').length
  const calls = [call('loops'), call('moves'), call('waits'), call('exits'), call('moves')]
  const outcomes = Promise.allSettled(calls)
  for (const count of [1, 2]) {
    await open.until(() => hanging() === count)
    limit.runOut()
  }
  const description = (await outcomes).map((each) =>
    each.status === 'rejected' ? String(each.reason.message) : each.value.length,
  )
  expect(description).toEqual([
    expect.stringMatching(/loops\.ts: did not finish within 5000 ms, and was stopped/),
    10,
    expect.stringMatching(/waits\.ts: did not finish within 5000 ms, and was stopped/),
    expect.stringMatching(/exits\.ts: has ended its process, as process\.exit\(3\) does/),
    10,
  ])
})

test('a script that needs too much memory is stopped, its error names the limit, and the next call is served', async () => {
  const before = open.notices.length
  await expect(call('hungry')).rejects.toThrow(
    /hungry\.ts: needs more than the 96 MB of memory that all scripts share, and was stopped\. Look for a list/,
  )
  expect(await call('idle')).toEqual([])
  // The output of V8 about its own state does not help users.
  expect(open.notices.slice(before)).toEqual([])
})
