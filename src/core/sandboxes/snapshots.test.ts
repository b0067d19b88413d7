import fc from 'fast-check'
import { expect, test } from 'vitest'
import { put, START, sandboxOptions, startingState, texts } from '../../../test/support/disk-emulator.ts'
import type { Document } from '../state/state.ts'
import { advanceTo, runDueEvents } from '../time/run-events.ts'
import { change, loadDocument, setSettings } from './change.ts'
import { Sandbox } from './sandbox.ts'
import { MAX_SNAPSHOTS, Snapshots } from './snapshots.ts'

async function emulator(notes: Readonly<Record<string, string>> = {}, host?: () => number, rate = 0) {
  const sandbox = new Sandbox(sandboxOptions(host), await startingState(notes, rate))
  return { sandbox, snapshots: new Snapshots(sandbox) }
}

/** A document without the number of its last commit, which continues to grow after a restore. */
function content({ revision: _, ...rest }: Document): string {
  return JSON.stringify(rest)
}

function shoutAt(sandbox: Sandbox, id: string, due: number): void {
  change(sandbox, (scope) =>
    scope.schedule({ due, kind: 'shout', ref: `notes/${id}`, urgency: 'work', description: 'It shouts.' }),
  )
}

test('a restore brings back the records, clock, schedule, limits and settings of the save', async () => {
  const { sandbox, snapshots } = await emulator({ a: 'one', b: 'two' })
  shoutAt(sandbox, 'a', START + 5000)
  sandbox.limits.windows.fill('ts page', { limit: 5, window: 60_000 }, START, 2)
  await snapshots.save('base')
  const saved = content(sandbox.document())
  advanceTo(sandbox, START + 60_000)
  put(sandbox, 'b', undefined)
  put(sandbox, 'c', 'three')
  setSettings(sandbox, { unknown_fields: 'reject' })
  sandbox.limits.windows.load([])
  expect(texts(sandbox)).toEqual({ a: 'ONE', c: 'three' })
  await snapshots.restore('base')
  expect(content(sandbox.document())).toBe(saved)
  expect(sandbox.clock.now).toBe(START)
  advanceTo(sandbox, START + 5000)
  expect(texts(sandbox)).toEqual({ a: 'ONE', b: 'two' })
})

test('a snapshot does not contain later writes, also after several restores', async () => {
  const { sandbox, snapshots } = await emulator({ a: 'one' })
  await snapshots.save('base')
  const saved = content(sandbox.document())
  for (const text of ['two', 'three', 'four']) {
    put(sandbox, 'a', text)
    put(sandbox, text, 'new')
    shoutAt(sandbox, 'a', START + 1000)
    advanceTo(sandbox, sandbox.clock.now + 1000)
    sandbox.limits.windows.fill('ts page', { limit: 5, window: 60_000 }, START, 0)
    await snapshots.restore('base')
    expect(content(sandbox.document())).toBe(saved)
    expect(content(await snapshots.export('base'))).toBe(saved)
  }
})

test('an export is the document at the time of the save, with its revision', async () => {
  const { sandbox, snapshots } = await emulator({ a: 'one' })
  put(sandbox, 'b', 'two')
  const { entry } = await snapshots.save('base')
  const then = JSON.stringify(sandbox.document())
  put(sandbox, 'c', 'three')
  expect(JSON.stringify(await snapshots.export('base'))).toBe(then)
  expect(entry).toEqual({
    name: 'base',
    saved_at: '2026-03-01T12:00:00.000Z',
    revision: 1,
    records: 2,
    problem: null,
  })
})

test('an import restores the exported state in another sandbox', async () => {
  const { sandbox, snapshots } = await emulator({ a: 'one' })
  shoutAt(sandbox, 'a', START + 5000)
  await snapshots.save('base')
  const exported: unknown = JSON.parse(JSON.stringify(await snapshots.export('base')))
  const other = await emulator({ z: 'other' })
  expect(await other.snapshots.import('taken', exported)).toMatchObject({ replaced: false })
  expect(texts(other.sandbox)).toEqual({ z: 'other' })
  await other.snapshots.restore('taken')
  expect(content(other.sandbox.document())).toBe(content(sandbox.document()))
})

test('a save under an existing name replaces that snapshot, and returns that it has', async () => {
  const { sandbox, snapshots } = await emulator({ a: 'one' })
  expect((await snapshots.save('base')).replaced).toBe(false)
  put(sandbox, 'a', 'two')
  expect((await snapshots.save('base')).replaced).toBe(true)
  put(sandbox, 'a', 'three')
  await snapshots.restore('base')
  expect(texts(sandbox)).toEqual({ a: 'two' })
  expect((await snapshots.list()).map(({ name }) => name)).toEqual(['base'])
})

test('a save contains the state at the time of the call, without writes before its end', async () => {
  const { sandbox, snapshots } = await emulator({ a: 'one' })
  const saving = snapshots.save('base')
  put(sandbox, 'a', 'two')
  await saving
  await snapshots.restore('base')
  expect(texts(sandbox)).toEqual({ a: 'one' })
})

test('a save contains the effects of the events that are due at the time of the call', async () => {
  let now = START
  const { sandbox, snapshots } = await emulator({ a: 'one' }, () => now, 1)
  shoutAt(sandbox, 'a', START + 1000)
  now += 2000
  await snapshots.save('base')
  expect((await snapshots.export('base')).schedule).toEqual([])
  expect(texts(sandbox)).toEqual({ a: 'ONE' })
})

test('a running clock continues after a restore from the instant of the save', async () => {
  let now = START
  const { sandbox, snapshots } = await emulator({ a: 'one' }, () => now, 2)
  shoutAt(sandbox, 'a', START + 10_000)
  now += 1000
  await snapshots.save('base')
  now += 3_600_000
  runDueEvents(sandbox)
  expect(texts(sandbox)).toEqual({ a: 'ONE' })
  await snapshots.restore('base')
  expect([sandbox.clock.now, sandbox.clock.due(), sandbox.clock.rate]).toEqual([
    START + 2000,
    START + 2000,
    2,
  ])
  now += 3999
  runDueEvents(sandbox)
  expect(texts(sandbox)).toEqual({ a: 'one' })
  now += 1
  runDueEvents(sandbox)
  expect([texts(sandbox), sandbox.clock.now]).toEqual([{ a: 'ONE' }, START + 10_000])
})

test('a save beyond the maximum number of snapshots is refused with a fix, but one that replaces another is not', async () => {
  const { snapshots } = await emulator()
  for (let n = 0; n < MAX_SNAPSHOTS; n++) await snapshots.save(`s${n}`)
  const over = { code: 'conflict', options: { mitigation: expect.stringContaining('snapshot delete NAME') } }
  await expect(snapshots.save('one-more')).rejects.toMatchObject(over)
  expect((await snapshots.save('s7')).replaced).toBe(true)
  await snapshots.delete('s7')
  expect((await snapshots.save('one-more')).replaced).toBe(false)
})

test('one of two saves for the last free place is refused', async () => {
  const { snapshots } = await emulator()
  for (let n = 1; n < MAX_SNAPSHOTS; n++) await snapshots.save(`s${n}`)
  const both = await Promise.allSettled([snapshots.save('last'), snapshots.save('too-much')])
  expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
})

test.for(['', '-a', 'A', 'a b', 'a/b', '..', '(start)', '__proto__', 'x'.repeat(64), 'a\n'])(
  '%j is not a valid name, and no snapshot is saved under it',
  async (name) => {
    const { sandbox, snapshots } = await emulator()
    await expect(snapshots.save(name)).rejects.toMatchObject({ code: 'validation_failed' })
    await expect(snapshots.import(name, sandbox.document())).rejects.toMatchObject({
      code: 'validation_failed',
    })
    for (const use of [snapshots.restore(name), snapshots.export(name), snapshots.delete(name)]) {
      await expect(use).rejects.toMatchObject({ code: 'not_found' })
    }
    expect(await snapshots.list()).toEqual([])
  },
)

test('`constructor` is a name like any other', async () => {
  const { snapshots } = await emulator({ a: 'one' })
  await expect(snapshots.restore('constructor')).rejects.toMatchObject({ code: 'not_found' })
  await snapshots.save('constructor')
  await snapshots.restore('constructor')
  expect((await snapshots.list()).map(({ name }) => name)).toEqual(['constructor'])
})

test('a restore of an unknown snapshot suggests the most similar name', async () => {
  const { snapshots } = await emulator()
  await snapshots.save('after-setup')
  await expect(snapshots.restore('after-setpu')).rejects.toThrow('Did you mean "after-setup"?')
})

test('a save after the close of the snapshots is refused', async () => {
  const { snapshots } = await emulator()
  await snapshots.close()
  await expect(snapshots.save('late')).rejects.toMatchObject({ code: 'not_found' })
})

type Step =
  | { readonly do: 'put'; readonly id: string; readonly text: string }
  | { readonly do: 'remove'; readonly id: string }
  | { readonly do: 'shout'; readonly id: string; readonly after: number }
  | { readonly do: 'advance'; readonly by: number }
  | { readonly do: 'hit'; readonly remaining: number }
  | { readonly do: 'save' | 'restore' | 'forget'; readonly name: string }

const ids = fc.constantFrom('a', 'b', 'c', '__proto__')
const names = fc.constantFrom('x', 'y', 'z')
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('put' as const), id: ids, text: fc.string() }),
    fc.record({ do: fc.constant('remove' as const), id: ids }),
    fc.record({ do: fc.constant('shout' as const), id: ids, after: fc.integer({ min: 0, max: 5000 }) }),
    fc.record({ do: fc.constant('advance' as const), by: fc.integer({ min: 0, max: 5000 }) }),
    fc.record({ do: fc.constant('hit' as const), remaining: fc.integer({ min: 0, max: 5 }) }),
    fc.record({ do: fc.constantFrom('save', 'save', 'restore', 'restore', 'forget' as const), name: names }),
  ),
  { maxLength: 40 },
)

/** Runs a step on a sandbox, except for the steps about snapshots. */
function live(sandbox: Sandbox, step: Step): void {
  if (step.do === 'put') put(sandbox, step.id, step.text)
  if (step.do === 'remove') put(sandbox, step.id, undefined)
  if (step.do === 'shout') shoutAt(sandbox, step.id, sandbox.clock.now + step.after)
  if (step.do === 'advance') advanceTo(sandbox, sandbox.clock.now + step.by)
  if (step.do === 'hit') {
    sandbox.limits.windows.fill('ts page', { limit: 5, window: 60_000 }, sandbox.clock.now, step.remaining)
  }
}

test('any sequence of writes, saves and restores results in the same state as with copies of the document', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const { sandbox, snapshots } = await emulator({ a: 'one', b: 'two' })
      const model = (await emulator({ a: 'one', b: 'two' })).sandbox
      const copies = new Map<string, string>()
      for (const step of sequence) {
        live(sandbox, step)
        live(model, step)
        if (step.do === 'save') {
          await snapshots.save(step.name)
          // A save runs the due events first.
          runDueEvents(model)
          copies.set(step.name, JSON.stringify(model.document()))
        } else if (step.do === 'forget' && copies.delete(step.name)) await snapshots.delete(step.name)
        else if (step.do === 'restore' && copies.has(step.name)) {
          await snapshots.restore(step.name)
          loadDocument(model, JSON.parse(copies.get(step.name) ?? ''))
        }
        expect(content(sandbox.document())).toBe(content(model.document()))
      }
      expect((await snapshots.list()).map(({ name }) => name)).toEqual([...copies.keys()].sort())
      for (const [name, copy] of copies) {
        expect(content(await snapshots.export(name))).toBe(content(JSON.parse(copy)))
      }
    }),
    {
      numRuns: 200,
      // A failed event keeps the order of its fields after it was written and read.
      examples: [
        [
          [
            { do: 'shout', id: 'c', after: 0 },
            { do: 'save', name: 'x' },
            { do: 'restore', name: 'x' },
          ],
        ],
      ],
    },
  )
})
