import { expect, test } from 'vitest'
import {
  heldSend,
  type OutboxWorld,
  outboxWorld,
  promptSend,
  ticks,
} from '../../../test/support/outbox-world.ts'
import { Refusal } from '../../kernel/errors.ts'
import type { Delivery } from '../../kernel/outbox/records.ts'

function statuses(world: OutboxWorld): string[] {
  return world.deliveries().map(({ status }) => status)
}

function attemptsOf({ attempts }: Delivery) {
  return attempts.map(({ attempt, outcome, status }) => [attempt, outcome, status])
}

/** Calls that wait for their time, to be made by the test. */
function planner() {
  const planned: (() => void)[] = []
  const later = (_ms: number, call: () => void) => {
    planned.push(call)
    return () => {}
  }
  return { planned, later }
}

test('an attempt of an earlier process is given up and made again, visibly', async () => {
  const world = await outboxWorld()
  const first = heldSend()
  const courier = world.courier(first)
  const [{ id } = { id: '' }] = world.tell({ n: 1 })
  await ticks()
  courier.stop()
  expect(first.held[0]?.signal.aborted).toBe(true)
  expect([world.delivery(id).status, courier.isIdle]).toEqual(['sending', true])
  first.held[0]?.answer(200)
  await ticks()
  expect(world.delivery(id).status).toBe('sending')

  const second = promptSend(200)
  await world.courier(second).settled()
  expect(attemptsOf(world.delivery(id))).toEqual([
    [1, 'interrupted', null],
    [2, 'delivered', 200],
  ])
  expect(second.sent[0]?.headers).toMatchObject({
    'X-Emulator-Delivery': id,
    'X-Emulator-Delivery-Attempt': '2',
  })
  expect(second.sent[0]?.body.toString()).toBe('{"n":1}')
})

test("a world that is replaced takes its deliveries along; what comes back for them afterwards is nobody's", async () => {
  const world = await outboxWorld()
  const { send, held } = heldSend()
  const courier = world.courier({ send })
  world.tell({ n: 1 })
  await ticks()
  const saved = world.sandbox.capture()
  world.tell({ n: 2 })
  await ticks()
  world.reset()
  expect(held.map(({ signal }) => signal.aborted)).toEqual([true, true])
  for (const request of held) request.answer(200)
  await courier.settled()
  expect([world.deliveries(), world.happened]).toEqual([[], []])

  world.sandbox.become(saved)
  await ticks()
  expect(held).toHaveLength(3)
  held[2]?.answer(200)
  await courier.settled()
  expect(world.deliveries().map(attemptsOf)).toEqual([
    [
      [1, 'interrupted', null],
      [2, 'delivered', 200],
    ],
  ])
})

test('an outcome is dropped when its record was changed by hand meanwhile', async () => {
  const world = await outboxWorld()
  const { send, held } = heldSend()
  const courier = world.courier({ send })
  const [kept, deleted] = [world.tell({ n: 1 })[0], world.tell({ n: 2 })[0]]
  await ticks()
  world.sandbox.change(({ tx }) => {
    const attempts = [
      { attempt: 1, at: '2026-03-01T12:00:00.000Z', outcome: 'timeout', status: null, error: 'x' },
    ]
    tx.put('webhook_deliveries', { ...kept, status: 'failed', attempts } as Delivery)
    tx.delete('webhook_deliveries', deleted?.id ?? '')
  })
  for (const request of held) request.answer(200)
  await courier.settled()
  expect(statuses(world)).toEqual(['failed'])
  expect(world.happened).toEqual([])
})

test('while nothing can be written nothing is sent, whoever waits is told, and later it goes on by itself', async () => {
  const world = await outboxWorld()
  const { send, sent } = promptSend(200)
  const { planned, later } = planner()
  const courier = world.courier({ send, later })
  await courier.settled()
  world.tell()
  const full = new Refusal('storage_unavailable', { detail: 'no space' })
  let isFull = true
  world.sandbox.store.journal = {
    append: () => {
      if (isFull) throw full
    },
    durable: () => undefined,
  }
  await expect(courier.settled()).rejects.toBe(full)
  expect([sent, world.surprises, statuses(world), courier.isIdle]).toEqual([[], [full], ['pending'], false])
  planned.shift()?.()
  await ticks()
  expect(sent).toEqual([])
  isFull = false
  planned.shift()?.()
  await courier.settled()
  expect([sent.length, statuses(world)]).toEqual([1, ['delivered']])
})

test('an outcome that cannot be written is written later, and only once', async () => {
  const world = await outboxWorld()
  const { send, held } = heldSend()
  const { planned, later } = planner()
  const courier = world.courier({ send, later })
  world.tell()
  await ticks()
  let isFull = true
  world.sandbox.store.journal = {
    append: () => {
      if (isFull) throw new Error('no space')
    },
    durable: () => undefined,
  }
  held[0]?.answer(200)
  await ticks()
  expect(statuses(world)).toEqual(['sending'])
  isFull = false
  planned.shift()?.()
  await courier.settled()
  expect([statuses(world), held.length, world.happened.length]).toEqual([['delivered'], 1, 1])
})

test('nothing is sent before what it tells of survives what the disk promises', async () => {
  const world = await outboxWorld()
  let survives: () => void = () => {}
  world.sandbox.store.journal = {
    append: () => {},
    durable: () => new Promise((resolve) => (survives = resolve)),
  }
  const { send, sent } = promptSend(200)
  const courier = world.courier({ send })
  world.tell()
  await ticks()
  expect(sent).toEqual([])
  survives()
  await courier.settled()
  expect(sent).toHaveLength(1)
})

test('whoever waits when the courier stops is let go', async () => {
  const world = await outboxWorld()
  const courier = world.courier(heldSend())
  world.tell()
  const settled = courier.settled()
  courier.stop()
  await settled
  world.tell()
  expect(courier.isIdle).toBe(true)
})
