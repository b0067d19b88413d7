import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clockwork, event, ran, START } from '../../../test/support/clockwork.ts'
import { fullDisk } from '../../../test/support/journal.ts'
import { sandboxOf } from '../../../test/support/notes.ts'
import { Refusal } from '../errors.ts'
import type { EventHandler } from '../operation.ts'
import { change } from '../sandboxes/change.ts'
import { ScriptFault } from '../scenarios/source.ts'
import type { Resource } from '../service.ts'
import type { Row } from '../state/commit.ts'
import { advanceTo, nextEventOf, runDueEvents, runEvents } from './run-events.ts'
import { InstantLimit } from './turn.ts'

test('the same events run at the same instants however an advance is divided', async () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 30_000 }), { maxLength: 12 })
  const dues = fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(dues, cuts, async (offsets, steps) => {
      const [whole, pieces] = [await clockwork(), await clockwork()]
      for (const sandbox of [whole, pieces]) {
        change(sandbox, ({ schedule }) => {
          for (const [n, offset] of offsets.entries()) schedule(event('tick', `r/${n}`, START + offset))
        })
      }
      advanceTo(whole, START + 500_000)
      for (const step of steps) advanceTo(pieces, pieces.clock.now + step)
      advanceTo(pieces, START + 500_000)
      expect(ran(pieces)).toEqual(ran(whole))
    }),
    { numRuns: 50 },
  )
})

test('a host clock that is set is reported once, and the clock record is written again', async () => {
  const warnings: string[] = []
  const state = { wall: START, elapsed: 0 }
  const host = Object.assign(() => state.wall, { elapsed: () => state.elapsed })
  const sandbox = await clockwork({ rate: 1, host, warnings })
  state.wall += 5_000 - 3_600_000
  state.elapsed += 5_000
  runDueEvents(sandbox)
  runDueEvents(sandbox)
  expect(warnings).toEqual([
    'The clock of this machine was set back by 1h. The virtual clock of the sandbox default is not set back: it continues with the real time that passes.',
  ])
  expect(sandbox.clock.now).toBe(START + 5_000)
  expect(sandbox.store.get('$sandbox', 'clock')).toMatchObject({ wall: '2026-03-01T11:00:00.000Z' })
  state.wall += 7_200_000
  runDueEvents(sandbox)
  expect(warnings[1]).toMatch(/^The clock of this machine is 2h ahead .* was moved forward with it\./)
  expect(sandbox.clock.now).toBe(START + 5_000 + 7_200_000)
})

test('a running clock that is advanced runs on from there', async () => {
  let host = START
  const sandbox = await clockwork({ rate: 1, host: () => host })
  advanceTo(sandbox, START + 3_600_000)
  host += 5_000
  runDueEvents(sandbox)
  expect(sandbox.clock.now).toBe(START + 3_605_000)
})

const hatch = (status: string, id = '1') => ({ id, status }) as Row

const failing = (error: unknown) => () => {
  throw error
}

const handlers: Readonly<Record<string, EventHandler['handle']>> = {
  // It also touches a record of the same id elsewhere.
  open: ({ tx }) => {
    tx.put('alarms', hatch('loud'))
    tx.put('hatches', hatch('open', '2'))
    tx.put('hatches', hatch('open'))
  },
  look: () => {},
  script: failing(new ScriptFault('x is not defined')),
  refused: failing(new Refusal('conflict', { detail: 'The hatch is locked.' })),
  odd: ({ tx }) => {
    tx.put('hatches', hatch('odd'))
    throw 'a word'
  },
}
const events = Object.entries(handlers).map(([kind, handle]) => ({
  kind,
  description: `Event ${kind}.`,
  handle,
}))

async function house() {
  const defects: unknown[] = []
  const onDefect = (error: unknown) => defects.push(error)
  const resource: Resource = { name: 'house', operations: [], collections: [], events }
  const sandbox = await sandboxOf(resource, { keys: [], options: { onDefect } })
  change(sandbox, ({ tx }) => {
    for (const id of ['1', '2']) tx.put('hatches', hatch('shut', id))
    tx.put('alarms', hatch('silent'))
  })
  const plan = (...kinds: readonly string[]) =>
    change(sandbox, ({ schedule }) => {
      for (const [n, kind] of kinds.entries()) schedule(event(kind, 'hatches/1', START + 1_000 * (n + 1)))
    })
  const planMany = (count: number, kind: string) =>
    change(sandbox, ({ schedule }) => {
      for (let n = 1; n <= count; n++) schedule(event(kind, `hatches/${n}`, START + n))
    })
  return { sandbox, plan, planMany, defects }
}

test('an event reports the status of its record before and after, unless it stays the same', async () => {
  const { sandbox, plan } = await house()
  plan('open', 'look')
  const [opened, looked] = runEvents(sandbox, START + 60_000).events
  expect(opened).toMatchObject({ kind: 'open', ref: 'hatches/1', from: 'shut', to: 'open' })
  expect(Object.keys(looked ?? {})).toEqual(['at', 'kind', 'ref', 'description', 'caused_by'])
})

test('an event that fails is undone alone and listed, and is a defect unless a script is wrong', async () => {
  const { sandbox, plan, defects } = await house()
  plan('script', 'refused', 'odd', 'unknown')
  const { failed } = runEvents(sandbox, START + 60_000)
  expect(sandbox.store.get('hatches', '1')).toEqual(hatch('shut'))
  expect(sandbox.document().failed).toMatchObject(failed.map(({ kind, error }) => ({ kind, error })))
  expect(failed.map(({ kind, error }) => [kind, error])).toEqual([
    ['script', 'x is not defined'],
    ['refused', 'The hatch is locked.'],
    ['odd', 'a word'],
    ['unknown', 'there is no handler for events of the kind "unknown"'],
  ])
  expect(defects.slice(0, 2).map(String)).toEqual(['Refusal: The hatch is locked.', 'a word'])
  expect(defects).toHaveLength(3)
  expect(sandbox.scheduler.horizon()).toEqual([])
})

test('an event that cannot be written stays scheduled, and time stops', { tags: ['R123'] }, async () => {
  const { sandbox, plan } = await house()
  plan('open')
  sandbox.store.journal = fullDisk
  expect(() => runEvents(sandbox, START + 60_000)).toThrow('The disk is full.')
  sandbox.store.journal = undefined
  expect([sandbox.clock.now, sandbox.scheduler.horizon().length]).toEqual([START + 1_000, 1])
  expect(sandbox.document().failed).toEqual([])
})

test('events of a closed sandbox do not run, and the reason is thrown', async () => {
  const { sandbox, plan } = await house()
  plan('open')
  const reason = new Refusal('not_found', { detail: 'The sandbox is gone.' })
  sandbox.close(reason, true)
  expect(() => runEvents(sandbox, START + 60_000)).toThrow('The sandbox is gone.')
  expect(sandbox.store.rows('$failed').size).toBe(0)
})

test('an event at the target runs, and one a millisecond after it does not', async () => {
  const { sandbox, plan } = await house()
  plan('look', 'open')
  expect(runEvents(sandbox, START + 999).events).toHaveLength(0)
  expect(runEvents(sandbox, START + 1_000).events).toHaveLength(1)
  expect(runEvents(sandbox, START + 1_999).events).toHaveLength(0)
})

test('the function pause is called after each event, including failed ones, and the clock stays there', async () => {
  const { sandbox, plan } = await house()
  plan('look', 'odd', 'open', 'script')
  let asked = 0
  const result = runEvents(sandbox, START + 60_000, () => {
    asked += 1
    return asked === 3
  })
  expect(result).toMatchObject({ ran: 3, reached: false })
  expect([result.events.length, result.failed.length, sandbox.clock.now - START]).toEqual([2, 1, 3_000])
  expect(sandbox.scheduler.peek()?.kind).toBe('script')
})

test.for(['look', 'odd'])('one run has at most 500 events of the kind %s', async (kind) => {
  const { sandbox, planMany } = await house()
  planMany(501, kind)
  expect(runEvents(sandbox, START + 60_000)).toMatchObject({ ran: 500, reached: false })
  expect(sandbox.clock.now - START).toBe(500)
  expect(runEvents(sandbox, START + 60_000)).toMatchObject({ ran: 1, reached: true })
  expect(sandbox.clock.now - START).toBe(60_000)
})

test('a request runs only events up to the current instant while an advance runs', async () => {
  const { sandbox, plan } = await house()
  plan('look', 'odd', 'open')
  sandbox.clock.moveTo(START + 1_000)
  sandbox.advances.begin('advance')
  expect(runDueEvents(sandbox)).toMatchObject({ ran: 1, reached: true })
})

test('the error of an endless loop names the three most frequent of the last events, most frequent first', () => {
  const counts = [1, 3, 2, 4]
  const instant = new InstantLimit(10)
  for (const [index, count] of counts.entries())
    for (let n = 0; n < count; n++) instant.add(START, { kind: 'k', ref: `d/${index}` })
  expect([instant.isFull(START), instant.isFull(START + 1)]).toEqual([true, false])
  expect(instant.refusal().message).toMatch(/ k d\/3 \(4 times\), k d\/1 \(3 times\), k d\/2 \(2 times\)\.$/)
  instant.add(START + 1, { kind: 'k', ref: 'd/0' })
  expect(instant.isFull(START + 1)).toBe(false)
})

test('the next event of a record is its earliest of any kind', async () => {
  const { sandbox } = await house()
  expect(nextEventOf(sandbox, 'hatches/1')).toBeUndefined()
  change(sandbox, ({ schedule }) => {
    schedule(event('open', 'hatches/1', START + 3_000))
    schedule(event('look', 'hatches/1', START + 2_000))
    schedule(event('open', 'adapters/2', START + 1_000))
  })
  expect(nextEventOf(sandbox, 'hatches/1')?.kind).toBe('look')
  expect(nextEventOf(sandbox, 'adapters/2')?.kind).toBe('open')
})
