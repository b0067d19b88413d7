import { expect, test } from 'vitest'
import { event, START } from '../../../test/support/clockwork.ts'
import { Ledger } from '../assumptions.ts'
import { Refusal, refuse } from '../errors.ts'
import { kernelAssumptions } from '../open-items.ts'
import { type EventHandler, type Resource, service } from '../operation.ts'
import { ScriptFault } from '../scenario/script-fault.ts'
import type { Row } from '../state/commit.ts'
import { buildWorld } from '../state/starting-world.ts'
import { Sandbox } from '../worlds/sandbox.ts'
import { worldDefaults } from '../worlds/world.ts'
import { endless, nextEventOf, settle } from './settle.ts'

const door = (status: string, id = '1') => ({ id, status }) as Row

const open: EventHandler = {
  kind: 'open',
  says: 'Opens the door, and touches a record of the same id elsewhere.',
  handle: ({ tx }) => {
    tx.put('alarms', door('loud'))
    tx.put('doors', door('open', '2'))
    tx.put('doors', door('open'))
  },
}
const look: EventHandler = { kind: 'look', says: 'Changes nothing.', handle: () => {} }
const script: EventHandler = {
  kind: 'script',
  says: "Runs a user's script, which is wrong.",
  handle: () => {
    throw new ScriptFault('x is not defined')
  },
}
const refused: EventHandler = {
  kind: 'refused',
  says: 'Is refused.',
  handle: () => refuse('conflict', { detail: 'The door is locked.' }),
}
const odd: EventHandler = {
  kind: 'odd',
  says: 'Throws what is no error.',
  handle: () => {
    throw 'a word'
  },
}

async function house({ mostEvents = 100 } = {}) {
  const surprises: unknown[] = []
  const room: Resource = {
    name: 'house',
    operations: [],
    collections: [],
    events: [open, look, script, refused, odd],
  }
  const [all, ledger] = [service([room]), new Ledger([kernelAssumptions])]
  const host = () => START
  const start = { seed: 1, now: START, rate: 0, skip_on_poll: false, settings: {}, strict: false, host }
  const built = await buildWorld({ collections: {}, generate: {} }, start, all, ledger)
  if (!('world' in built)) throw new Error('the world is empty and cannot be wrong')
  const onSurprise = (error: unknown) => surprises.push(error)
  const options = { ...worldDefaults, service: all, ledger, host, mostEvents, onSurprise }
  const world = new Sandbox(options, built.world)
  world.change(({ tx }) => {
    for (const id of ['1', '2']) tx.put('doors', door('shut', id))
    tx.put('alarms', door('silent'))
  })
  const plan = (...kinds: readonly string[]) =>
    world.change(({ schedule }) => {
      for (const [n, kind] of kinds.entries()) schedule(event(kind, 'doors/1', START + 1_000 * (n + 1)))
    })
  return { world, plan, surprises }
}

test('the receipt says which way the status of its record went, and nothing where it stayed', async () => {
  const { world, plan } = await house()
  plan('open', 'look')
  const [opened, looked] = settle(world, START + 60_000).events
  expect(opened).toEqual({
    at: '2026-03-01T12:00:01.000Z',
    kind: 'open',
    ref: 'doors/1',
    says: 'open of doors/1',
    caused_by: 'control',
    from: 'shut',
    to: 'open',
  })
  expect(Object.keys(looked ?? {})).toEqual(['at', 'kind', 'ref', 'says', 'caused_by'])
})

test('an event of a kind that nothing handles is parked and told, with its kind', async () => {
  const { world, plan, surprises } = await house()
  plan('unknown')
  const [parked] = settle(world, START + 60_000).parked
  expect(parked?.error).toBe('nothing handles events of the kind "unknown"')
  expect(surprises).toHaveLength(1)
})

test("a wrong script and a refusal are parked with their message; only the script is its author's own affair", async () => {
  const { world, plan, surprises } = await house()
  plan('script', 'refused', 'odd')
  const { parked } = settle(world, START + 60_000)
  expect(parked.map(({ kind, error }) => [kind, error])).toEqual([
    ['script', 'x is not defined'],
    ['refused', 'The door is locked.'],
    ['odd', 'a word'],
  ])
  expect(surprises.map(String)).toEqual(['Refusal: The door is locked.', 'a word'])
  expect(world.scheduler.horizon()).toEqual([])
})

test('R123 an event that cannot be written stays where it is, and time with it', async () => {
  const { world, plan } = await house()
  plan('open')
  world.store.journal = {
    append: () => refuse('storage_unavailable', { detail: 'The disk is full.' }),
    durable: () => undefined,
  }
  expect(() => settle(world, START + 60_000)).toThrow('The disk is full.')
  world.store.journal = undefined
  expect([world.clock.now, world.scheduler.horizon().length]).toEqual([START + 1_000, 1])
  expect(world.document().parked).toEqual([])
})

test('a world that is taken away ends the passage of its time with the reason', async () => {
  const { world, plan } = await house()
  plan('open')
  const reason = new Refusal('not_found', { detail: 'The sandbox is gone.' })
  world.retire(reason, true)
  expect(() => settle(world, START + 60_000)).toThrow('The sandbox is gone.')
  expect(world.store.rows('$parked').size).toBe(0)
})

test('an event at the very target runs, one a millisecond behind it does not', async () => {
  const { world, plan } = await house()
  plan('look', 'open')
  expect(settle(world, START + 999).events).toHaveLength(0)
  expect(settle(world, START + 1_000).events).toHaveLength(1)
  expect(settle(world, START + 1_999).events).toHaveLength(0)
})

test('who may pause is told how many events have run, parked ones included, and the clock stays there', async () => {
  const { world, plan } = await house()
  plan('look', 'odd', 'open', 'script')
  const told: number[] = []
  const receipt = settle(world, START + 60_000, (ran) => {
    told.push(ran)
    return ran === 3
  })
  expect(told).toEqual([1, 2, 3])
  expect([receipt.events.length, receipt.parked.length, receipt.to]).toEqual([
    2,
    1,
    '2026-03-01T12:00:03.000Z',
  ])
  expect(world.scheduler.peek()?.kind).toBe('script')
})

test.for([
  [3, 'runs'],
  [2, 'is refused'],
] as const)(
  'where %d events may run, a settlement of three, one of them parked, %s',
  async ([most, what]) => {
    const { world, plan } = await house({ mostEvents: most })
    plan('look', 'odd', 'open')
    const run = () => settle(world, START + 60_000)
    if (what === 'runs') expect(run().events).toHaveLength(2)
    else expect(run).toThrow('after 2 events; the clock stands at 2026-03-01T12:00:02.000Z')
  },
)

test('a settlement without end names the three most frequent events, the most frequent first', async () => {
  const { world } = await house({ mostEvents: 10 })
  const counts = [1, 3, 2, 4]
  const names: string[] = counts.flatMap((count, door) => Array<string>(count).fill(`d/${door}`))
  const events = names.map((ref) => ({ at: '', kind: 'k', ref, says: '', caused_by: '' }))
  try {
    endless(events, world)
  } catch (error) {
    const { message, code, options } = error as Refusal
    expect(code).toBe('conflict')
    expect(message).toBe(
      'Time did not settle after 10 events; the clock stands at 2026-03-01T12:00:00.000Z. Most frequent: k d/3 (4 times), k d/1 (3 times), k d/2 (2 times).',
    )
    expect(options.details).toEqual({
      suspects: [
        { name: 'k d/3', times: 4 },
        { name: 'k d/1', times: 3 },
        { name: 'k d/2', times: 2 },
      ],
    })
    expect(options.mitigation).toMatch(/^Advance by less/)
    return
  }
  throw new Error('it was not refused')
})

test('the next event of a record is the earliest of its own, of whatever kind', async () => {
  const { world } = await house()
  expect(nextEventOf(world, 'doors/1')).toBeUndefined()
  world.change(({ schedule }) => {
    schedule(event('open', 'doors/1', START + 3_000))
    schedule(event('look', 'doors/1', START + 2_000))
    schedule(event('open', 'doors/2', START + 1_000))
  })
  expect(nextEventOf(world, 'doors/1')?.kind).toBe('look')
  expect(nextEventOf(world, 'doors/2')?.kind).toBe('open')
})
