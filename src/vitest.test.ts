import { describe, expect, expectTypeOf, test as plain } from 'vitest'
import type { EmulatorClient, SandboxClient } from './index.ts'
import { test as base, expect as sameExpect } from './vitest.ts'

const test = base.extend('emulatorOptions', { scope: 'file' }, { seed: 3 })
const names: string[] = []

describe.concurrent('side by side', () => {
  test.for([1, 2, 3, 4, 5, 6])('each test has its own sandbox (%i)', async (n, { sandbox }) => {
    names.push(sandbox.name)
    await sandbox.fetch('/pages', { json: { name: `Plan ${n}` } })
    await expect(sandbox).toHaveReceived({ operation: 'pages.create' }, 1)
    await expect(sandbox).not.toHaveReceived({ operation: 'data-views.list' })
  })
})

test('sandboxes are removed after their tests', async ({ emulator }) => {
  expect(new Set(names).size).toBe(6)
  expect((await emulator.sandboxes.list()).map(({ name }) => name)).toEqual(['default'])
})

test('the emulator starts with the options of the file', async ({ sandbox, emulator }) => {
  expectTypeOf(sandbox).toEqualTypeOf<SandboxClient>()
  expectTypeOf(emulator).toEqualTypeOf<EmulatorClient>()
  expect((await emulator.sandboxes.show(sandbox.name)).seed).toBe(3)
})

describe('sandboxOptions of a suite', () => {
  test.override({ sandboxOptions: { seed: 4, rate: 2, settings: { 'success.create': 201 } } })
  let before: SandboxClient | undefined

  test.beforeEach(({ sandbox }) => {
    before = sandbox
  })

  test('apply to the sandboxes of its tests and hooks', async ({ sandbox, emulator }) => {
    expect(sandbox).toBe(before)
    expect(await emulator.sandboxes.show(sandbox.name)).toMatchObject({ seed: 4, rate: 2 })
    expect((await sandbox.fetch('/pages', { json: { name: 'x' } })).status).toBe(201)
  })
})

test('a test may delete its sandbox', async ({ sandbox }) => {
  await sandbox.delete()
})

plain('matchers are those of sandboxes alone', () => {
  expect(sameExpect).toBe(expect)
  const sandbox = {} as SandboxClient
  expectTypeOf(expect(sandbox).toHaveReceived).toBeFunction()
  expectTypeOf(expect(sandbox).not.toHaveDelivered).returns.toEqualTypeOf<Promise<void>>()
  expectTypeOf(expect('text').toHaveReceived).toBeNever()
})

// @ts-expect-error: a sandbox starts from a seed that is a number
;() => test.override({ sandboxOptions: { seed: 'seven' } })
