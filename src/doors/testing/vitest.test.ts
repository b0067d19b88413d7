import { describe, expect, expectTypeOf, test as plain } from 'vitest'
import type { EmulatorClient, World } from '../../index.ts'
import { test as base, expect as sameExpect } from './vitest.ts'

const test = base.extend('emulatorOptions', { scope: 'file' }, { seed: 3 })
const names: string[] = []

describe.concurrent('side by side', () => {
  test.for([1, 2, 3, 4, 5, 6])('each test has a world of its own (%i)', async (n, { world }) => {
    names.push(world.name)
    await world.fetch('/pages', { json: { name: `Plan ${n}` } })
    await expect(world).toHaveReceived({ operation: 'pages.create' }, 1)
    await expect(world).not.toHaveReceived({ operation: 'data-views.list' })
  })
})

test('which is removed behind it', async ({ emulator }) => {
  expect(new Set(names).size).toBe(6)
  expect((await emulator.sandboxes.list()).data.map(({ name }) => name)).toEqual(['default'])
})

test('the emulator starts as the file says', async ({ world, emulator }) => {
  expectTypeOf(world).toEqualTypeOf<World>()
  expectTypeOf(emulator).toEqualTypeOf<EmulatorClient>()
  expect((await emulator.sandboxes.show(world.name)).seed).toBe(3)
})

describe('a suite', () => {
  test.override({ worldOptions: { seed: 4, rate: 2, settings: { 'success.create': 201 } } })
  let before: World | undefined

  test.beforeEach(({ world }) => {
    before = world
  })

  test('has worlds as it says, in its hooks, too', async ({ world, emulator }) => {
    expect(world).toBe(before)
    expect(await emulator.sandboxes.show(world.name)).toMatchObject({ seed: 4, rate: 2 })
    expect((await world.fetch('/pages', { json: { name: 'x' } })).status).toBe(201)
  })
})

test('a world that its test has removed itself is fine', async ({ world }) => {
  await world.delete()
})

plain('matchers are those of worlds alone', () => {
  expect(sameExpect).toBe(expect)
  const world = {} as World
  expectTypeOf(expect(world).toHaveReceived).toBeFunction()
  expectTypeOf(expect(world).not.toHaveDelivered).returns.toEqualTypeOf<Promise<void>>()
  expectTypeOf(expect('text').toHaveReceived).toBeNever()
})

// @ts-expect-error: a world starts from a seed that is a number
;() => test.override({ worldOptions: { seed: 'seven' } })
