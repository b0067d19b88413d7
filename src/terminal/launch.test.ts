import { expect, test } from 'vitest'
import { launchOptions } from './launch.ts'
import { type Environment, givenOptions, resolveOptions, START_OPTIONS } from './options.ts'

/** The options of the emulator for flags and variables, and the warnings. */
async function launched(flags: Record<string, string[]>, env: Environment = {}) {
  const warnings: string[] = []
  const logger = { info: () => {}, warn: (text: string) => void warnings.push(text), error: () => {} }
  const given = new Map(Object.entries(flags))
  const options = resolveOptions(START_OPTIONS, given, env)
  const launch = await launchOptions(options, givenOptions(START_OPTIONS, given, env), logger)
  return { launch, warnings }
}

test('options for scenarios, faults and webhooks reach the emulator, and a missing folder is a warning', async () => {
  const receivers = ['a.test:80', '[fd00::5]:81']
  const env = { WORKSPACE_EMULATOR_SCENARIOS: '/nowhere', WORKSPACE_EMULATOR_REVEAL_FAULTS: '1' }
  const { launch, warnings } = await launched({ allowWebhooks: receivers }, env)
  expect(launch).toMatchObject({ scenarios: '/nowhere', revealFaults: true, allowWebhooks: receivers })
  expect(warnings).toEqual([
    '/nowhere is not a directory: until it is, there are only the built-in scenarios.',
  ])
  const usual = await launched({})
  expect(usual.launch).toMatchObject({ scenarios: 'scenarios', scenario: undefined, revealFaults: false })
  expect(usual.warnings).toEqual([])
})
