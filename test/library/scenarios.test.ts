import { expect, test } from 'vitest'
import { bothWays } from './both-ways.ts'

const { ways } = bothWays({ scenarios: 'scenarios' })

test.for(ways)('%s: scenarios can be listed, started, stopped and reloaded', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const { scenarios } = sandbox
  expect((await scenarios.list()).map(({ name }) => name)).toContain('happy-path')
  expect(await scenarios.active()).toBeNull()
  expect(await scenarios.start('happy-path', { reset: true })).toMatchObject({ name: 'happy-path' })
  expect((await scenarios.start('flaky-network')).name).toBe('flaky-network')
  expect(await scenarios.refresh()).toContainEqual(
    expect.objectContaining({ name: 'flaky-network', active: true }),
  )
  expect(await scenarios.active()).toMatchObject({ name: 'flaky-network', problem: null })
  expect(await scenarios.stop()).toEqual({ stopped: 'flaky-network' })
})

test.for(ways)('%s: an unknown scenario is refused with the nearest name', async ([, client]) => {
  await using sandbox = await client().sandbox()
  await expect(sandbox.scenarios.start('happy-pat')).rejects.toMatchObject({
    status: 404,
    code: 'not_found',
    message: expect.stringContaining('"happy-path"'),
  })
  await expect(client().sandbox(undefined, { scenario: 'none-such' })).rejects.toMatchObject({ status: 404 })
})

test.for(ways)('%s: a sandbox can be created with an active scenario', async ([, client]) => {
  await using sandbox = await client().sandbox(undefined, { scenario: 'happy-path' })
  expect(await sandbox.scenarios.active()).toMatchObject({ name: 'happy-path' })
})
